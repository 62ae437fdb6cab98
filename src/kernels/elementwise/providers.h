// Inner loops from outside: ufunc loops of NumPy and SciPy that the Python layer finds, or those of a C++ program.
//
// The core has its own loop for every kernel of the table. A provider replaces one where the foreign loop is faster or
// better (`replace_loop`, before the kernel is first used), or adds one for a dtype that the core lacks: then `run`, in
// front of its "not implemented" error, asks `find_loop`, which the Python layer sets. Foreign loops must be callable
// without the interpreter's lock.
#pragma once

#include <string_view>

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

struct ProvidedLoop {
    Loop loop = nullptr;
    void* data = nullptr;
};

// Asked at most once per kernel and dtype; an empty answer is final.
inline ProvidedLoop (*find_loop)(std::string_view kernel, DType compute) = nullptr;

ProvidedLoop provided_loop(std::string_view kernel, DType compute);

// Puts the loop into the kernel table; false if there is no such kernel.
bool replace_loop(std::string_view kernel, DType compute, ProvidedLoop loop);

}  // namespace wengert::kernels
