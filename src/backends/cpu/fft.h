// Discrete Fourier transforms on the CPU: a seam, since the core has none of its own. Somebody who has an FFT registers it: the
// Python layer gives SciPy's (src/python/interop/fft_provider.cpp), a C++ program may give another one.
#pragma once

#include "base/api.h"
#include "kernels/fft.h"

namespace wengert::kernels {

// out = the transform of self. It is called on any thread, without the interpreter's lock.
using FftProvider = void (*)(const Tensor& out, const Tensor& self, const FftCall& call);
WENGERT_API void set_fft_provider(FftProvider provider) noexcept;

}  // namespace wengert::kernels
