#include "python/autograd/module.h"

#include "python/autograd/collection/shared_objects.h"
#include "python/autograd/custom_function/function_object.h"
#include "python/autograd/engine_bindings.h"
#include "python/autograd/modes/grad_modes.h"
#include "python/autograd/nodes/anomaly.h"
#include "python/autograd/nodes/node_facts.h"
#include "python/autograd/nodes/saved_fields.h"
#include "python/autograd/saved_hooks.h"
#include "python/autograd/stash.h"

namespace wengert::python {

int add_autograd(PyObject* module) {
    install_anomaly_factory();
    PyObject* autograd = PyModule_New("wengert._C._autograd");
    if (!autograd) return -1;
    bool ok = PyModule_AddObjectRef(module, "_autograd", autograd) == 0 && add_node_type(module) == 0 &&
              add_function_type(module) == 0 && add_saved_tensor_type(autograd) == 0 &&
              add_saved_hook_functions(autograd) == 0 && add_node_facts(autograd) == 0 &&
              add_write_observer(autograd) == 0 && add_engine_functions(module) == 0 &&
              add_stash_functions(module) == 0 && add_version_functions(module) == 0 && add_grad_modes(module) == 0 &&
              add_forward_functions(module) == 0 && add_weak_tensor_type(module) == 0 && install_collector(module) == 0;
    Py_DECREF(autograd);
    return ok ? 0 : -1;
}

}  // namespace wengert::python
