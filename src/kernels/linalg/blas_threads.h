// The thread counts of foreign libraries (BLAS), which know nothing of ours.
//
// While several of our threads compute, each library is held to one thread of its own; afterwards it gets back what it
// had. The Python layer registers the libraries that NumPy, SciPy and MKL bring along.
#pragma once

#include "base/api.h"

namespace wengert::kernels {

// A library's two functions; registered while the library is being loaded, before any parallel work.
WENGERT_API void control_blas_threads(int (*get)(), void (*set)(int));

// Loads the BLAS if nobody has yet: it must not change in the middle of parallel work.
class OneBlasThread {
public:
    OneBlasThread();
    ~OneBlasThread();
    OneBlasThread(const OneBlasThread&) = delete;
};

}  // namespace wengert::kernels
