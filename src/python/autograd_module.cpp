#include "python/autograd_module.h"

#include "python/grad_modes.h"
#include "python/node_object.h"

namespace wengert::python {

int add_autograd(PyObject* module) { return add_grad_modes(module); }

}  // namespace wengert::python
