#include "python/interop/blas_loader.h"

#include <Python.h>

#include "backends/cpu/linalg/blas.h"
#include "kernels/linalg/blas_threads.h"
#include "python/exceptions.h"

namespace wengert::python {
namespace {

// {name: signature} of all routines, as a new reference.
PyObject* wanted_routines() {
    PyObject* wanted = PyDict_New();
    for (const kernels::BlasRoutine& routine : kernels::blas_routines()) {
        if (!wanted) return nullptr;
        PyObject* signature = PyUnicode_FromString(routine.signature.c_str());
        if (!signature || PyDict_SetItemString(wanted, routine.name.c_str(), signature) < 0) Py_CLEAR(wanted);
        Py_XDECREF(signature);
    }
    return wanted;
}

// addresses = {name: address}
bool register_routines(PyObject* addresses) {
    PyObject *name, *address;
    if (!PyDict_Check(addresses)) return false;
    for (Py_ssize_t at = 0; PyDict_Next(addresses, &at, &name, &address);) {
        const char* routine = PyUnicode_AsUTF8(name);
        void* pointer = routine ? PyLong_AsVoidPtr(address) : nullptr;
        if (!pointer) return false;
        kernels::blas_register(routine, pointer);
    }
    return true;
}

// controls = [(address of get, address of set), ...]
bool register_controls(PyObject* controls) {
    if (!PyList_Check(controls)) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(controls); ++i) {
        PyObject *get, *set;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(controls, i), "OO", &get, &set)) return false;
        void *get_address = PyLong_AsVoidPtr(get), *set_address = PyLong_AsVoidPtr(set);
        if (!get_address || !set_address) return false;
        kernels::control_blas_threads(reinterpret_cast<int (*)()>(get_address),
                                      reinterpret_cast<void (*)(int)>(set_address));
    }
    return true;
}

// Whatever goes wrong leaves the core with its own routines; the error is shown, not raised.
void load() {
    GilGuard gil;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject* module = PyImport_ImportModule("wengert._blas");
    PyObject* wanted = module ? wanted_routines() : nullptr;
    PyObject* found = wanted ? PyObject_CallMethod(module, "find", "O", wanted) : nullptr;
    if (!found || !register_routines(found)) PyErr_WriteUnraisable(module);
    PyObject* controls = module ? PyObject_CallMethod(module, "thread_controls", nullptr) : nullptr;
    if (!controls || !register_controls(controls)) PyErr_WriteUnraisable(module);
    Py_XDECREF(controls);
    Py_XDECREF(found);
    Py_XDECREF(wanted);
    Py_XDECREF(module);
    PyErr_Restore(type, value, traceback);
}

}  // namespace

void install_blas_loader() noexcept { kernels::set_blas_loader(load); }

}  // namespace wengert::python
