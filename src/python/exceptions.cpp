#include "python/exceptions.h"

#include <new>
#include <stdexcept>
#include <string>

#include "base/memory/out_of_memory.h"
#include "base/threads/thread_end.h"
#include "kernels/linalg/error.h"
#include "ops/batching/error.h"

namespace wengert::python {

struct PyException::State {
    PyObject* exception = nullptr;
    std::string text = "Python exception";

    ~State() {
        if (!exception || !has_interpreter()) return;
        GilGuard gil;
        // The destructor may run while another exception is set.
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        Py_DECREF(exception);
        PyErr_Restore(type, value, traceback);
    }
};

namespace {

// The exception that is set, and is not any more.
PyObject* take_raised() noexcept {
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
#endif
}

}  // namespace

PyException::PyException() : state_(std::make_shared<State>()) {
    state_->exception = take_raised();
    if (!state_->exception) return;
    PyRef text(PyObject_Str(state_->exception));
    const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    if (utf8) {
        state_->text = std::string(Py_TYPE(state_->exception)->tp_name) + ": " + utf8;
    } else if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        // `str` let a signal's handler run: whoever waits for the first exception must not lose the interrupt with it.
        PyRef first(std::exchange(state_->exception, take_raised()));
    }
    PyErr_Clear();
}

void PyException::restore() const {
    PyObject* e = state_->exception;
    if (!e) {
        PyErr_SetString(PyExc_SystemError, "PyException was made without an exception set");
        return;
    }
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(Py_NewRef(e));
#else
    PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(e))), Py_NewRef(e), PyException_GetTraceback(e));
#endif
}

const char* PyException::what() const noexcept { return state_->text.c_str(); }

namespace {

PyObject* exception_type(ErrorKind kind) noexcept {
    switch (kind) {
        case ErrorKind::Runtime:
            return PyExc_RuntimeError;
        case ErrorKind::Type:
            return PyExc_TypeError;
        case ErrorKind::Value:
            return PyExc_ValueError;
        case ErrorKind::Index:
            return PyExc_IndexError;
        case ErrorKind::NotImplemented:
            return PyExc_NotImplementedError;
        case ErrorKind::Attribute:
            return PyExc_AttributeError;
        case ErrorKind::Overflow:
            return PyExc_OverflowError;
        case ErrorKind::Memory:
            return PyExc_MemoryError;
        case ErrorKind::Buffer:
            return PyExc_BufferError;
        case ErrorKind::ZeroDivision:
            return PyExc_ZeroDivisionError;
    }
    return PyExc_RuntimeError;
}

PyObject* linalg_error = nullptr;
PyObject* batch_error = nullptr;
PyObject* device_memory_error = nullptr;
PyObject* absent_attribute_error = nullptr;

}  // namespace

int add_linalg_error(PyObject* module) noexcept {
    const char* doc =
        "Raised where linear algebra has no result: a singular matrix, one that is not positive definite, an algorithm "
        "that does not converge. A RuntimeError.";
    if (!linalg_error)
        linalg_error = PyErr_NewExceptionWithDoc("wengert.linalg.LinAlgError", doc, PyExc_RuntimeError, nullptr);
    return linalg_error ? PyModule_AddObjectRef(module, "_LinAlgError", linalg_error) : -1;
}

int add_batch_error(PyObject* module) noexcept {
    const char* doc = "Something that works for one sample and has no meaning for a batch. A RuntimeError.";
    if (!batch_error)
        batch_error = PyErr_NewExceptionWithDoc("wengert.func.NotBatchableError", doc, PyExc_RuntimeError, nullptr);
    return batch_error ? PyModule_AddObjectRef(module, "_NotBatchableError", batch_error) : -1;
}

int add_device_memory_error(PyObject* module) noexcept {
    const char* doc = "The memory of a device is full. A RuntimeError.";
    if (!device_memory_error)
        device_memory_error = PyErr_NewExceptionWithDoc("wengert.OutOfMemoryError", doc, PyExc_RuntimeError, nullptr);
    return device_memory_error ? PyModule_AddObjectRef(module, "OutOfMemoryError", device_memory_error) : -1;
}

int add_absent_attribute_error(PyObject* module) noexcept {
    const char* doc = "An attribute that tensors of this kind do not have. A RuntimeError, and an AttributeError.";
    const PyRef bases(PyTuple_Pack(2, PyExc_RuntimeError, PyExc_AttributeError));
    if (!bases) return -1;
    if (!absent_attribute_error)
        absent_attribute_error =
            PyErr_NewExceptionWithDoc("wengert._C._AbsentAttributeError", doc, bases.get(), nullptr);
    return absent_attribute_error ? PyModule_AddObjectRef(module, "_AbsentAttributeError", absent_attribute_error) : -1;
}

void set_python_error() noexcept {
    sleep_if_thread_ends();
    try {
        throw;
    } catch (const PyException& e) {
        e.restore();
    } catch (const LinAlgError& e) {
        PyErr_SetString(linalg_error ? linalg_error : PyExc_RuntimeError, e.what());
    } catch (const NotBatchableError& e) {
        PyErr_SetString(batch_error ? batch_error : PyExc_RuntimeError, e.what());
    } catch (const AbsentAttribute& e) {
        PyErr_SetString(absent_attribute_error ? absent_attribute_error : PyExc_RuntimeError, e.what());
    } catch (const OutOfDeviceMemory& e) {
        PyErr_SetString(device_memory_error ? device_memory_error : PyExc_RuntimeError, e.what());
    } catch (const Error& e) {
        PyErr_SetString(exception_type(e.kind()), e.what());
    } catch (const OutOfMemory& e) {
        PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, "out of memory");
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
    }
}

}  // namespace wengert::python
