// The three products of a convolution on contiguous memory; nothing may be empty. T is float or double.
#pragma once

#include "kernels/nn/convolution_geometry.h"

namespace wengert::kernels {

template <class T>
void conv_forward(const ConvGeometry& g, const T* input, const T* weight, const T* bias, T* output);
template <class T>
void conv_input_cotangent(const ConvGeometry& g, const T* cotangent, const T* weight, T* result);
template <class T>
void conv_weight_cotangent(const ConvGeometry& g, const T* cotangent, const T* input, T* result);

}  // namespace wengert::kernels
