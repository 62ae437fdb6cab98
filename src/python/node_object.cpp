#include "python/node_object.h"

#include "python/exceptions.h"

namespace wengert::python {

PyObject* wrap(const Ref<Node>& node) {
    if (!node) Py_RETURN_NONE;
    return PyUnicode_FromString(node->name().c_str());
}

}  // namespace wengert::python
