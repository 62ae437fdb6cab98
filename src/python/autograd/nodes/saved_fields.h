// `_saved_<name>` and `_raw_saved_<name>` of nodes, from the fields that the table generated.
#pragma once

#include <Python.h>

#include <string_view>

#include "graph/saved_variable.h"
#include "python/autograd/custom_function/function_object.h"

namespace wengert::python {

// f(SavedVariable&) once for each that `node` keeps, the table's or a custom Function's.
template <class F>
void for_each_saved(Node* node, F&& f) {
    for (const SavedField& field : node->saved_fields()) {
        if (field.variable) f(*field.variable(node));
        if (field.operand) f(field.operand(node)->variable());
        if (field.list)
            for (SavedVariable& v : field.list(node)) f(v);
    }
    if (node->is_python())
        if (auto* custom = dynamic_cast<PyNode*>(node))
            for (SavedVariable& v : custom->saved) f(v);
}

// The value of the attribute, or null without an exception if the node has no such field.
PyObject* saved_field(const Ref<Node>& node, std::string_view attribute);

// Every name that `saved_field` knows for the node: a new list.
PyObject* saved_field_names(const Node& node);

// A handle of one saved tensor (`SavedTensor`); keeps the node alive.
PyObject* wrap_saved(const Ref<Node>& node, SavedVariable* variable);
int add_saved_tensor_type(PyObject* module);

}  // namespace wengert::python
