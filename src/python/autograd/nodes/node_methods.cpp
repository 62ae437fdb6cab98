#include "python/autograd/nodes/node_methods.h"

#include "engine/graph_task.h"
#include "graph/grad_mode.h"
#include "ops/accumulate_grad.h"
#include "python/arguments/convert.h"
#include "python/autograd/hooks.h"
#include "python/autograd/nodes/anomaly.h"
#include "python/autograd/nodes/node_object.h"
#include "python/autograd/nodes/saved_fields.h"
#include "python/autograd/pass_gil.h"
#include "python/objects/device_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

Node& self_node(PyObject* self) { return *node_of(self); }

PyObject* name(PyObject* self, PyObject*) {
    return guarded([&] { return PyUnicode_FromString(self_node(self).name().c_str()); });
}

PyObject* operation(PyObject* self, void*) {
    const char* row = self_node(self).operation();
    return row ? PyUnicode_InternFromString(row) : Py_NewRef(Py_None);
}

PyObject* sequence_nr(PyObject* self, PyObject*) {
    return guarded([&] { return PyLong_FromUnsignedLongLong(self_node(self).sequence_nr()); });
}

PyObject* set_sequence_nr(PyObject* self, PyObject* value) {
    return guarded([&]() -> PyObject* {
        check(PyLong_Check(value), ErrorKind::Type, "_set_sequence_nr expects an int, got ", Py_TYPE(value)->tp_name);
        unsigned long long n = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) throw PyException();
        self_node(self).set_sequence_nr(n);
        Py_RETURN_NONE;
    });
}

PyObject* register_hook(PyObject* self, PyObject* hook) {
    return guarded([&] { return add_post_hook(self_node(self), hook); });
}

PyObject* register_prehook(PyObject* self, PyObject* hook) {
    return guarded([&] { return add_pre_hook(self_node(self), hook); });
}

PyObject* register_gradient_hook(PyObject* self, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject* hook;
        unsigned index;
        if (!PyArg_ParseTuple(args, "IO", &index, &hook)) return nullptr;
        return add_gradient_hook(self_node(self), index, hook);
    });
}

PyObject* register_hook_dict(PyObject* self, PyObject* tensor) {
    return guarded([&]() -> PyObject* {
        check(is_tensor(tensor), ErrorKind::Type, "_register_hook_dict expects a Tensor, got ",
              Py_TYPE(tensor)->tp_name);
        attach_tensor_hooks(self_node(self), tensor_of(tensor));
        Py_RETURN_NONE;
    });
}

// The attributes that node_getattro makes up are part of it.
PyObject* directory(PyObject* self, PyObject*) {
    return guarded([&] {
        PyRef names(saved_field_names(self_node(self)));
        PyRef inherited(
            checked(PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__", "O", self)));
        return checked(PySequence_InPlaceConcat(names.get(), inherited.get()));
    });
}

PyObject* next_functions(PyObject* self, void*) {
    return guarded([&] {
        const EdgeList edges = self_node(self).next_edges();
        PyRef out(checked(PyTuple_New(static_cast<Py_ssize_t>(edges.size()))));
        for (size_t i = 0; i < edges.size(); ++i) {
            PyRef function(wrap_node(edges[i].function));
            PyRef number(checked(PyLong_FromUnsignedLong(edges[i].input_nr)));
            PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i),
                             checked(PyTuple_Pack(2, function.get(), number.get())));
        }
        return out.release();
    });
}

PyObject* metadata(PyObject* self, void*) {
    return guarded([&] { return Py_NewRef(metadata_dict(self_node(self))); });
}

PyObject* input_metadata(PyObject* self, void*) {
    return guarded([&] {
        const auto& inputs = self_node(self).input_metadata();
        PyRef types(checked(PyImport_ImportModule("types")));
        PyRef out(checked(PyTuple_New(static_cast<Py_ssize_t>(inputs.size()))));
        for (size_t i = 0; i < inputs.size(); ++i) {
            PyRef item(checked(PyObject_CallMethod(types.get(), "SimpleNamespace", nullptr)));
            PyRef shape(wrap(inputs[i].sizes)), dtype(wrap(inputs[i].dtype));
            checked(PyObject_SetAttrString(item.get(), "shape", checked(shape.get())));
            checked(PyObject_SetAttrString(item.get(), "dtype", checked(dtype.get())));
            PyRef device(wrap(inputs[i].device));
            checked(PyObject_SetAttrString(item.get(), "device", checked(device.get())));
            for (const char* flag : {"is_nested_tensor", "is_cpp_nested_tensor"})
                checked(PyObject_SetAttrString(item.get(), flag, Py_False));
            PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), item.release());
        }
        return out.release();
    });
}

PyObject* requires_grad_property(PyObject*, void*) { Py_RETURN_TRUE; }

}  // namespace

PyObject* node_call(PyObject* self, PyObject* args, PyObject* kwargs) {
    return guarded([&]() -> PyObject* {
        Ref<Node> node = node_of(self);
        check(!kwargs || PyDict_GET_SIZE(kwargs) == 0, ErrorKind::Type, node->name(),
              ": keyword arguments are not supported");
        auto n = static_cast<size_t>(PyTuple_GET_SIZE(args));
        check(n == node->num_inputs(), ErrorKind::Type, node->name(), ": expected ", node->num_inputs(),
              " arguments, got ", n, " instead");
        TensorList grads;
        for (size_t i = 0; i < n; ++i) {
            PyObject* o = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
            check(o == Py_None || is_tensor(o), ErrorKind::Type, node->name(), ": expected Tensor or None as argument ",
                  i, ", got ", Py_TYPE(o)->tp_name);
            grads.push_back(o == Py_None ? Tensor() : tensor_of(o));
        }
        TensorList out;
        {
            WithoutGil released(other_threads_exist());
            const CalledByHand all_wanted;
            out = (*node)(std::move(grads));
        }
        return out.size() == 1 ? wrap(out[0]) : wrap(out);
    });
}

PyObject* node_getattro(PyObject* self, PyObject* attribute) {
    const char* text = PyUnicode_AsUTF8(attribute);
    if (!text) return nullptr;
    if (text[0] == '_' &&
        (std::string_view(text).starts_with("_saved_") || std::string_view(text).starts_with("_raw_saved_")))
        return guarded([&]() -> PyObject* {
            if (PyObject* found = saved_field(node_of(self), text)) return found;
            return PyObject_GenericGetAttr(self, attribute);
        });
    if (std::string_view(text) == "variable")
        return guarded([&]() -> PyObject* {
            if (auto* leaf = dynamic_cast<AccumulateGrad*>(node_of(self).get())) return wrap(leaf->variable());
            return PyObject_GenericGetAttr(self, attribute);
        });
    return PyObject_GenericGetAttr(self, attribute);
}

PyMethodDef node_methods[] = {
    {"name", name, METH_NOARGS, "The name of the derivative, such as MulBackward0."},
    {"_sequence_nr", sequence_nr, METH_NOARGS, "The creation number; among ready nodes the highest runs first."},
    {"_set_sequence_nr", set_sequence_nr, METH_O, "Changes when the node runs among those that are ready."},
    {"register_hook", register_hook, METH_O, "Calls hook(grad_inputs, grad_outputs) after this node."},
    {"register_prehook", register_prehook, METH_O, "Calls hook(grad_outputs) before this node."},
    {"_register_gradient_hook", register_gradient_hook, METH_VARARGS,
     "Calls hook(grad) for one of the gradients received, also where the node is not executed but only captured."},
    {"__dir__", directory, METH_NOARGS, nullptr},
    {"_register_hook_dict", register_hook_dict, METH_O,
     "Lets the hooks of one of the outputs run on this node's input."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef node_properties[] = {
    {"next_functions", next_functions, nullptr, "Where this node sends its results.", nullptr},
    {"metadata", metadata, nullptr, "A dictionary that lives as long as the node.", nullptr},
    {"_input_metadata", input_metadata, nullptr, "Shape, dtype and device of each gradient received.", nullptr},
    {"_operation", operation, nullptr, "The row of the table that made this node, by its name in C++, or None.",
     nullptr},
    {"requires_grad", requires_grad_property, nullptr, "True.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace wengert::python
