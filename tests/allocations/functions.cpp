// Built into the extension where tests are: Python says when `new` fails (failing_new.cpp).
#include "base/memory/failing_allocation.h"
#include "python/exceptions.h"
#include "python/test_hooks.h"
#include "tensor/storage.h"

namespace wengert::python {
namespace {

// _fail_allocation(n, all_from_then_on): storages are blocks of their own meanwhile, so that each is counted.
PyObject* fail(PyObject*, PyObject* args) {
    long long n;
    int all;
    if (!PyArg_ParseTuple(args, "Lp", &n, &all)) return nullptr;
    inline_limit = 0;
    fail_allocation(n, all);
    Py_RETURN_NONE;
}
PyObject* end(PyObject*, PyObject*) {
    const bool failed = end_failing_allocations();
    inline_limit = kSlabLimit;
    return PyBool_FromLong(failed);
}

PyMethodDef functions[] = {
    {"_fail_allocation", fail, METH_VARARGS, nullptr},
    {"_end_failing_allocations", end, METH_NOARGS, "Whether one has failed."},
    {nullptr, nullptr, 0, nullptr},
};

[[maybe_unused]] const bool registered = (test_functions = functions, true);

}  // namespace
}  // namespace wengert::python
