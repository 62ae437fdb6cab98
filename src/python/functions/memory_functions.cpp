#include "python/functions/memory_functions.h"

#include "base/memory/slab_release.h"
#include "base/system.h"
#include "tensor/memory/block_cache.h"

namespace wengert::python {
namespace {

PyObject* empty_cache(PyObject*, PyObject*) {
    empty_block_cache();
    slab_release();
    return_freed_memory();
    Py_RETURN_NONE;
}

PyObject* memory_held(PyObject*, PyObject*) {
    const BlockStatistics blocks = block_statistics();
    return Py_BuildValue("(nnn)", static_cast<Py_ssize_t>(blocks.held), static_cast<Py_ssize_t>(blocks.kept),
                         static_cast<Py_ssize_t>(slab_bytes()));
}

}  // namespace

PyMethodDef memory_functions[] = {
    {"_empty_cache", empty_cache, METH_NOARGS, nullptr},
    {"_memory_held", memory_held, METH_NOARGS, nullptr},  // bytes of blocks, of those that wait for use, of slabs
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
