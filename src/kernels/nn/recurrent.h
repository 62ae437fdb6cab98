// All steps of a long short-term memory (Hochreiter and Schmidhuber 1997) over sequences of equal length.
//
// With gates = x W_ih^T + b, [T, B, 4H], computed for all steps before, a step is
//
//     i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of (gates[t] + h W_hh^T)
//     c = f c + i g,  h = o tanh(c)
//
// One kernel takes all steps, as what happens between two of them is one small matrix product: the first to read is
// `lstm_steps` of backends/cpu/nn/recurrent.cpp. It keeps what the backward kernel reads, `seen` [T, B, 5H]: i, f, g, o and c of every
// step. The gradient of W_hh is one product over all steps.
#pragma once

#include <array>
#include <tuple>

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// gates [T, B, 4H], h and c [B, H], w_hh [4H, H] -> outputs [T, B, H], the last c [B, H], seen. `reverse`: from the last step on.
std::tuple<Tensor, Tensor, Tensor> lstm_steps(const Tensor& gates, const Tensor& h, const Tensor& c, const Tensor& w_hh,
                                              bool reverse);
// The gradients of gates, h, c and w_hh that are asked for; nothing where one is not finite. One of the cotangents may be
// undefined.
std::tuple<Tensor, Tensor, Tensor, Tensor> lstm_steps_backward(const Tensor& grad_outputs, const Tensor& grad_state,
                                                               const Tensor& h, const Tensor& c, const Tensor& w_hh,
                                                               bool reverse, const Tensor& outputs, const Tensor& seen,
                                                               const std::array<bool, 4>& output_mask);

// What a device implements. Everything is contiguous and of one floating dtype, and has elements.
// (outputs, state, seen, gates, h, c, w_hh, reverse)
extern DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool)>
    lstm_steps_kernel;
// (gates, h, c, w_hh, grad_outputs, grad_state, h, c, w_hh, reverse, outputs, seen): whether all gradients are finite. Those of
// h, c and w_hh may be undefined.
extern DeviceKernel<bool(Result, Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, bool, const Tensor&, const Tensor&)>
    lstm_steps_backward_kernel;

}  // namespace wengert::kernels
