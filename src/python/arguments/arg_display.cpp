#include "python/arguments/arg_display.h"

#include <cstring>

namespace wengert::python {

const char* display_name(const ArgSpec& a) noexcept { return std::strcmp(a.name, "self") == 0 ? "input" : a.name; }

std::string display_kind(const ArgSpec& a) {
    switch (a.kind) {
        case ArgKind::Tensor:
            return "Tensor";
        case ArgKind::Operand:
            return "Tensor or Number";
        case ArgKind::TensorList:
            return "tuple of Tensors";
        case ArgKind::IndexList:
            return "tuple of Tensors and Nones";
        case ArgKind::Int:
            return "int";
        case ArgKind::IntList:
            return "tuple of ints";
        case ArgKind::Float:
            return "float";
        case ArgKind::FloatList:
            return "tuple of floats";
        case ArgKind::Bool:
            return "bool";
        case ArgKind::Scalar:
            return "Number";
        case ArgKind::String:
            return "str";
        case ArgKind::DType:
            return "wengert.dtype";
        case ArgKind::Device:
            return "wengert.device";
        case ArgKind::Generator:
            return "wengert.Generator";
        case ArgKind::Layout:
            return "wengert.strided";
        case ArgKind::MemoryFormat:
            return "wengert.memory_format";
        case ArgKind::Object:
            return "object";
    }
    return "object";
}

std::string display_signature(const Signature& s, bool bound) {
    std::string out = "(";
    bool star = false;
    for (int i = 0; i < s.count; ++i) {
        if (bound && i == s.self_index) continue;
        const ArgSpec& a = s.args[i];
        if (out.size() > 1) out += ", ";
        if (a.keyword_only() && !star) {
            out += "*, ";
            star = true;
        }
        out += display_kind(a) + " " + display_name(a);
        if (a.optional()) out += " = ...";
    }
    return out + ")";
}

std::string type_name(PyObject* o, int levels) {
    const char* name = Py_TYPE(o)->tp_name;
    const char* dot = std::strrchr(name, '.');
    if (levels == 0 || !(PyTuple_Check(o) || PyList_Check(o))) return dot ? dot + 1 : name;
    std::string out = std::string(name) + " of (";
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n && i < 8; ++i)
        out += (i ? ", " : "") + type_name(PySequence_Fast_GET_ITEM(o, i), levels - 1);
    return out + (n > 8 ? ", ...)" : ")");
}

}  // namespace wengert::python
