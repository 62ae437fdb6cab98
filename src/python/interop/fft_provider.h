// Gives the core SciPy's Fourier transforms (kernels/fft.h).
#pragma once

namespace wengert::python {

void install_fft_provider() noexcept;

}  // namespace wengert::python
