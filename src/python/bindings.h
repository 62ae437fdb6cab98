// The contract with the generated bindings: which tables they hand to module.cpp.
#pragma once

#include <Python.h>

#include <span>

namespace wengert::python {

struct BindingTable {
    const char* where;           // "Tensor" for methods, "" for wengert itself, else "nn.functional", "linalg", ...
    const PyMethodDef* methods;  // static; ends with a null entry
};

// Defined by generated/python/; weak so that the module can be loaded before the generator knows bindings.
[[gnu::weak]] std::span<const BindingTable> generated_bindings();

}  // namespace wengert::python
