// Discrete Fourier transforms over several dimensions. Between real and complex numbers the last of them is the one of which
// a real signal has only the half that is not redundant.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// What a transform is multiplied with; n is the number of its points. The numbers are PyTorch's.
enum class FftScale : int64_t { One = 0, ByRootN = 1, ByN = 2 };

enum class FftKind : uint8_t { ComplexToComplex, RealToComplex, ComplexToReal };

struct FftCall {
    FftKind kind;
    Dims dims;
    FftScale scale;
    bool forward;   // the sign of the exponent is negative; of ComplexToReal it is positive
    bool onesided;  // of RealToComplex: without the redundant half of the last dimension
};

// out = the transform of self; out is contiguous, and self has elements.
extern DeviceKernel<void(Result, const Tensor&, const FftCall&)> fft_kernel;

Tensor fft_c2c(const Tensor& self, IntSpan dim, int64_t normalization, bool forward);
Tensor fft_r2c(const Tensor& self, IntSpan dim, int64_t normalization, bool onesided);
Tensor fft_c2r(const Tensor& self, IntSpan dim, int64_t normalization, int64_t last_dim_size);

}  // namespace wengert::kernels
