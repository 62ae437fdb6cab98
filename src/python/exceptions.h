// Errors across the border: C++ exceptions become Python's and Python's travel through the core.
#pragma once

#include <Python.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/threads/thread_end.h"

namespace wengert::python {

// A Python exception on its way through C++ code. Made with the exception set; `restore` sets it again. Copies share
// it, so that the engine can store it in an std::exception_ptr. Needs no GIL to be copied or destroyed.
class PyException final : public std::exception {
public:
    PyException();  // takes the exception that is set; the GIL is held
    void restore() const;
    const char* what() const noexcept override;

private:
    struct State;
    std::shared_ptr<State> state_;
};

// An attribute that tensors of this kind do not have. PyTorch raises a RuntimeError; Python's exception is an AttributeError
// as well, so that `hasattr` says no.
class AbsentAttribute final : public Error {
public:
    explicit AbsentAttribute(std::string message) : Error(ErrorKind::Runtime, std::move(message)) {}
};

// Sets the Python error for the C++ exception being handled; call it in a catch block.
void set_python_error() noexcept;

// Makes wengert.linalg.LinAlgError, which the core's LinAlgError becomes, and adds it to the module. -1: an error is set.
int add_linalg_error(PyObject* module) noexcept;
int add_batch_error(PyObject* module) noexcept;          // wengert.func.NotBatchableError
int add_device_memory_error(PyObject* module) noexcept;  // wengert.OutOfMemoryError
int add_absent_attribute_error(PyObject* module) noexcept;

// Throws PyException if `o` is null.
inline PyObject* checked(PyObject* o) {
    if (!o) [[unlikely]]
        throw PyException();
    return o;
}
inline void checked(int status) {
    if (status < 0) [[unlikely]]
        throw PyException();
}

// Runs the body of a binding.
template <class F>
PyObject* guarded(F&& body) noexcept {
    try {
        return body();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}
template <class F>
int guarded_status(F&& body) noexcept {
    try {
        body();
        return 0;
    } catch (...) {
        set_python_error();
        return -1;
    }
}

inline bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

// Whether objects can be used, and have to be: while the interpreter ends, Py_IsInitialized() says no long before the last
// cycles are collected. Other threads are done with it by then.
inline bool has_interpreter() noexcept {
    if (Py_IsInitialized()) return true;
#if PY_VERSION_HEX >= 0x030D0000
    PyThreadState* const current = PyThreadState_GetUnchecked();
#else
    PyThreadState* const current = _PyThreadState_UncheckedGet();
#endif
    return current && is_finalizing() && PyGILState_Check();
}

// In every thread but the one in which the interpreter ends: the others have lost the GIL for good (base/threads/thread_end.h).
inline void sleep_if_interpreter_ends() noexcept {
    if (is_finalizing() && !PyGILState_Check()) [[unlikely]]
        sleep_forever();
}

// An owned reference.
class PyRef {
public:
    PyRef() noexcept = default;
    explicit PyRef(PyObject* owned) noexcept : p_(owned) {}
    static PyRef share(PyObject* o) noexcept { return PyRef(Py_XNewRef(o)); }
    PyRef(PyRef&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
    PyRef& operator=(PyRef&& o) noexcept {
        std::swap(p_, o.p_);
        return *this;
    }
    ~PyRef() {
        sleep_if_interpreter_ends();
        Py_XDECREF(p_);
    }
    PyObject* get() const noexcept { return p_; }
    [[nodiscard]] PyObject* release() noexcept { return std::exchange(p_, nullptr); }
    explicit operator bool() const noexcept { return p_ != nullptr; }

private:
    PyObject* p_ = nullptr;
};

class GilGuard {
public:
    GilGuard() noexcept : state_((sleep_if_interpreter_ends(), PyGILState_Ensure())) {}
    ~GilGuard() {
        sleep_if_interpreter_ends();
        PyGILState_Release(state_);
    }
    GilGuard(const GilGuard&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace wengert::python
