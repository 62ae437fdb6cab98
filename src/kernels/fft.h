// Discrete Fourier transforms: a seam, since the core has none of its own.
//
// Somebody who has an FFT registers it (the Python layer gives SciPy's, src/python/interop/fft_provider.cpp; a C++ program
// may give another one); the functions here check arguments and ask it. A transform runs over several dimensions. Between
// real and complex numbers the last of them is the one of which a real signal has only the half that is not redundant.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace wengert::kernels {

// What a transform is multiplied with; n is the number of its points. The numbers are PyTorch's.
enum class FftScale : int64_t { One = 0, ByRootN = 1, ByN = 2 };

enum class FftKind : uint8_t { ComplexToComplex, RealToComplex, ComplexToReal };

struct FftCall {
    FftKind kind;
    IntSpan dims;
    FftScale scale;
    bool forward;   // the sign of the exponent is negative; of ComplexToReal it is positive
    bool onesided;  // of RealToComplex: without the redundant half of the last dimension
    int64_t last;   // of ComplexToReal: the size of the last dimension of the result
};

// Returns a new tensor. It is called on any thread, without the interpreter's lock.
using FftProvider = Tensor (*)(const Tensor& self, const FftCall& call);
void set_fft_provider(FftProvider provider) noexcept;

Tensor fft_c2c(const Tensor& self, IntSpan dim, int64_t normalization, bool forward);
Tensor fft_r2c(const Tensor& self, IntSpan dim, int64_t normalization, bool onesided);
Tensor fft_c2r(const Tensor& self, IntSpan dim, int64_t normalization, int64_t last_dim_size);

}  // namespace wengert::kernels
