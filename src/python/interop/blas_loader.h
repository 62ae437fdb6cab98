// Gives the core BLAS and LAPACK routines that Python packages bring along (wengert._blas finds them).
#pragma once

namespace wengert::python {

// From now on the core asks for them when it first needs one.
void install_blas_loader() noexcept;

}  // namespace wengert::python
