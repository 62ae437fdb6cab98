#include "python/objects/device_object.h"

#include <sstream>
#include <string>

#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct DeviceObject {
    PyObject_HEAD Device device;
    bool has_index;  // as the user wrote it: "cpu" and "cpu:0" print differently and are the same place
};

// Layouts and memory formats are names compared by identity.
struct ConstantObject {
    PyObject_HEAD const char* name;
    int8_t value;
};

PyTypeObject* DeviceType_ = nullptr;
PyTypeObject* LayoutType = nullptr;
PyTypeObject* MemoryFormatType = nullptr;
PyObject* strided = nullptr;
PyObject* memory_formats[4];  // by MemoryFormat

DeviceObject* as_device(PyObject* o) noexcept { return reinterpret_cast<DeviceObject*>(o); }

struct Parsed {
    Device device;
    bool has_index = false;
};

Parsed parse_device(std::string_view text) {
    Parsed out;
    size_t colon = text.find(':');
    check(text.substr(0, colon) == "cpu", ErrorKind::Runtime,
          "Expected cpu device type at start of device string: ", text, "; it is the only device there is");
    if (colon == std::string_view::npos) return out;
    const std::string_view digits = text.substr(colon + 1);
    check(!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos, ErrorKind::Runtime,
          "Invalid device string: '", text, "'");
    check(digits == "0", ErrorKind::Runtime, "device: there is one cpu, with the index 0; got ", text);
    out.has_index = true;
    return out;
}

// The one CPU; what a name alone means is -1 to PyTorch's programs.
void set_index(Parsed& parsed, int64_t index) {
    check(!parsed.has_index, ErrorKind::Runtime, "device: the index is given twice");
    check(index == 0 || index == -1, ErrorKind::Runtime, "device: there is one cpu, with the index 0; got ", index);
    parsed.has_index = index == 0;
}

PyObject* new_device(Device d, bool has_index) noexcept {
    auto* o = PyObject_New(DeviceObject, DeviceType_);
    if (!o) return nullptr;
    o->device = d;
    o->has_index = has_index;
    return reinterpret_cast<PyObject*>(o);
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
    static const char* names[] = {"device", "index", nullptr};
    PyObject *type, *index = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &type, &index))
        return nullptr;
    return guarded([&]() -> PyObject* {
        if (Py_IS_TYPE(type, DeviceType_)) return Py_NewRef(type);
        check(PyUnicode_Check(type), ErrorKind::Type, "device(): argument 'device' must be str, not ",
              Py_TYPE(type)->tp_name);
        Parsed parsed = parse_device(to_string_view(type));
        if (index && index != Py_None) {
            check(is_int(index), ErrorKind::Type, "device(): argument 'index' must be int, not ",
                  Py_TYPE(index)->tp_name);
            set_index(parsed, to_int64(index));
        }
        return new_device(parsed.device, parsed.has_index);
    });
}

std::string device_text(PyObject* o) {
    std::ostringstream out;
    out << as_device(o)->device;
    std::string text = out.str();
    if (as_device(o)->has_index && text.find(':') == std::string::npos)
        text += ":" + std::to_string(as_device(o)->device.index);
    return text;
}
PyObject* device_str(PyObject* o) {
    return guarded([&] { return PyUnicode_FromString(device_text(o).c_str()); });
}
PyObject* device_type_text(PyObject* o, void*) {
    return guarded([&] {
        const std::string text = device_text(o);
        return PyUnicode_FromString(text.substr(0, text.find(':')).c_str());
    });
}
PyObject* device_repr(PyObject* o) {
    return guarded([&] {
        const std::string text = device_text(o);
        const size_t colon = text.find(':');
        if (colon == std::string::npos) return PyUnicode_FromFormat("device(type='%s')", text.c_str());
        return PyUnicode_FromFormat("device(type='%s', index=%s)", text.substr(0, colon).c_str(),
                                    text.substr(colon + 1).c_str());
    });
}
PyObject* device_index(PyObject* o, void*) {
    const DeviceObject* d = as_device(o);
    if (!d->has_index) Py_RETURN_NONE;
    return PyLong_FromLong(d->device.index);
}
Py_hash_t device_hash(PyObject* o) {
    return as_device(o)->device.index;  // never negative: -1 would mean an error
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
    if (!Py_IS_TYPE(b, DeviceType_) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool same = as_device(a)->device == as_device(b)->device && as_device(a)->has_index == as_device(b)->has_index;
    return PyBool_FromLong(same == (op == Py_EQ));
}
PyObject* device_reduce(PyObject* o, PyObject*) {
    return guarded([&] { return Py_BuildValue("O(s)", Py_TYPE(o), device_text(o).c_str()); });
}

PyGetSetDef device_getset[] = {
    {"type", device_type_text, nullptr, "The kind of device: 'cpu'.", nullptr},
    {"index", device_index, nullptr, "The number of the device among its kind, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot device_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {Py_tp_str, reinterpret_cast<void*>(device_str)},
    {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {Py_tp_doc, const_cast<char*>("Where a tensor's memory lies.")},
    {0, nullptr},
};
PyType_Spec device_spec = {"wengert.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, device_slots};

PyObject* constant_repr(PyObject* o) {
    return PyUnicode_FromFormat("wengert.%s", reinterpret_cast<ConstantObject*>(o)->name);
}
PyObject* constant_reduce(PyObject* o, PyObject*) {
    return PyUnicode_FromString(reinterpret_cast<ConstantObject*>(o)->name);
}
PyMethodDef constant_methods[] = {
    {"__reduce__", constant_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot constant_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(constant_repr)},
    {Py_tp_methods, constant_methods},
    {0, nullptr},
};
PyType_Spec layout_spec = {"wengert.layout", sizeof(ConstantObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, constant_slots};
PyType_Spec format_spec = {"wengert.memory_format", sizeof(ConstantObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, constant_slots};

PyObject* add_constant(PyObject* module, PyTypeObject* type, const char* name, int value) {
    auto* o = PyObject_New(ConstantObject, type);
    if (!o) return nullptr;
    o->name = name;
    o->value = static_cast<int8_t>(value);
    auto* object = reinterpret_cast<PyObject*>(o);
    return PyModule_AddObjectRef(module, name, object) < 0 ? nullptr : object;
}

}  // namespace

PyObject* wrap(Device d) noexcept { return new_device(d, false); }
bool is_device_like(PyObject* o) noexcept { return Py_IS_TYPE(o, DeviceType_) || PyUnicode_Check(o); }
Device to_device(PyObject* o) {
    if (Py_IS_TYPE(o, DeviceType_)) return as_device(o)->device;
    return parse_device(to_string_view(o)).device;
}

PyObject* wrap(MemoryFormat format) noexcept { return Py_NewRef(memory_formats[static_cast<int>(format)]); }
bool is_memory_format(PyObject* o) noexcept { return Py_IS_TYPE(o, MemoryFormatType); }
MemoryFormat to_memory_format(PyObject* o) {
    check(is_memory_format(o), ErrorKind::Type, "memory_format must be a wengert.memory_format, not ",
          Py_TYPE(o)->tp_name);
    return static_cast<MemoryFormat>(reinterpret_cast<ConstantObject*>(o)->value);
}
PyObject* strided_layout() noexcept { return strided; }

int add_devices(PyObject* module) {
    if (add_type(module, &device_spec, &DeviceType_) < 0 || add_type(module, &layout_spec, &LayoutType) < 0 ||
        add_type(module, &format_spec, &MemoryFormatType) < 0)
        return -1;
    strided = add_constant(module, LayoutType, "strided", 0);
    if (!strided) return -1;
    const char* formats[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
    for (int i = 0; i < 4; ++i) {
        memory_formats[i] = add_constant(module, MemoryFormatType, formats[i], i);
        if (!memory_formats[i]) return -1;
    }
    return 0;
}

}  // namespace wengert::python
