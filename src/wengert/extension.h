// An extension module of Python in C++: the library, and functions that take and return Python's tensors.
//
//     #include <wengert/extension.h>
//     using namespace wengert;
//
//     Tensor twice(const Tensor& x) { return x + x; }
//
//     WENGERT_MODULE(example, m) {
//         m.def("twice", twice, "Adds a tensor to itself.");
//     }
//
// `wengert.utils.cpp_extension` builds it. What may be an argument or a result stands in convert.h; what a module offers in
// module.h; errors and identity of objects in bridge.h; pybind11.h and nanobind.h are for those who bind with these.
//
// The GIL: a function is called with it, as any function of Python. It may be given up for long work by `without_gil`, inside of
// which no Python object is touched. What Wengert calls on its own, `backward` of a custom function and hooks, runs with or
// without it and on any thread: there `GilGuard` takes it first. No lock of the library is held meanwhile. References are counted
// without atomic instructions while one thread at a time runs the library, so a thread of an extension's own calls
// the library with the GIL, or from within a `without_gil` that ends after the thread does.
#pragma once

#include "wengert/wengert.h"
//
#include "base/threads/thread_end.h"
#include "wengert/convert.h"
#include "wengert/module.h"

namespace wengert::python {

// Runs f() while other threads may run Python; returns what it returns, and throws what it throws.
template <class F>
auto without_gil(F&& f) {
    using Result = std::invoke_result_t<F>;
    if constexpr (std::is_void_v<Result>) {
        bridge().without_gil([](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); }, &f);
    } else {
        std::optional<Result> result;
        auto run = [&] { result.emplace(f()); };
        without_gil(run);
        return std::move(*result);
    }
}

// This thread has the GIL as long as it lives.
class GilGuard {
public:
    GilGuard() noexcept : state_((sleep_if_interpreter_ends(), PyGILState_Ensure())) {}
    ~GilGuard() { PyGILState_Release(state_); }
    GilGuard(const GilGuard&) = delete;

private:
    // The interpreter would end a thread that wants the GIL after it is gone, in the middle of C++ (base/threads/thread_end.h).
    static void sleep_if_interpreter_ends() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
        const bool ends = Py_IsFinalizing();
#else
        const bool ends = _Py_IsFinalizing();
#endif
        if (ends && !PyGILState_Check()) sleep_forever();
    }

    PyGILState_STATE state_;
};

}  // namespace wengert::python
