#include "python/objects/device_object.h"

#include <charconv>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/threads/thread_locals.h"
#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/registry.h"
#include "tensor/backend.h"
#include "tensor/options.h"

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
PyObject* layouts[6];         // by Layout
PyObject* memory_formats[4];  // by MemoryFormat

DeviceObject* as_device(PyObject* o) noexcept { return reinterpret_cast<DeviceObject*>(o); }

struct Parsed {
    Device device;
    bool has_index = false;
};

// How many there are of a type.
int device_count(DeviceType type) { return type == DeviceType::Cpu ? 1 : backend_of({type}).device_count(); }

void set_index(Parsed& parsed, int64_t index) {
    check(!parsed.has_index, ErrorKind::Runtime, "device: the index is given twice");
    if (index == -1) return;  // what a name alone means to PyTorch's programs
    const int count = device_count(parsed.device.type);
    check(index >= 0 && index < count, ErrorKind::Runtime, "device: invalid index ", index, ": of ",
          type_name(parsed.device.type), " there ", count == 1 ? "is " : "are ", count, ", counted from 0");
    parsed.device.index = static_cast<int8_t>(index);
    parsed.has_index = true;
}

Parsed parse_device(std::string_view text) {
    Parsed out;
    const size_t colon = text.find(':');
    check(find_device_type(text.substr(0, colon), &out.device.type), ErrorKind::Runtime, "Expected one of ",
          device_type_names(), " device type at start of device string: ", text);
    if (colon == std::string_view::npos) {
        if (out.device.type != DeviceType::Cpu) out.device.index = backend_of(out.device).current_device();
        return out;
    }
    const std::string_view digits = text.substr(colon + 1);
    int64_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    check(!digits.empty() && digits[0] != '-' && error == std::errc() && end == digits.data() + digits.size(),
          ErrorKind::Runtime, "Invalid device string: '", text, "'");
    set_index(out, index);
    return out;
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
    std::string text(type_name(as_device(o)->device.type));
    if (as_device(o)->has_index) text += ":" + std::to_string(as_device(o)->device.index);
    return text;
}
PyObject* device_str(PyObject* o) {
    return guarded([&] { return PyUnicode_FromString(device_text(o).c_str()); });
}
PyObject* device_type_text(PyObject* o, void*) {
    const std::string_view name = type_name(as_device(o)->device.type);
    return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}
PyObject* device_repr(PyObject* o) {
    return guarded([&] {
        const std::string type(type_name(as_device(o)->device.type));
        if (!as_device(o)->has_index) return PyUnicode_FromFormat("device(type='%s')", type.c_str());
        return PyUnicode_FromFormat("device(type='%s', index=%d)", type.c_str(), int{as_device(o)->device.index});
    });
}
PyObject* device_index(PyObject* o, void*) {
    const DeviceObject* d = as_device(o);
    if (!d->has_index) Py_RETURN_NONE;
    return PyLong_FromLong(d->device.index);
}
Py_hash_t device_hash(PyObject* o) {
    const Device d = as_device(o)->device;
    return static_cast<Py_hash_t>(d.type) * 256 + d.index;  // never negative: -1 would mean an error
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
    if (!Py_IS_TYPE(b, DeviceType_) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool same = as_device(a)->device == as_device(b)->device && as_device(a)->has_index == as_device(b)->has_index;
    return PyBool_FromLong(same == (op == Py_EQ));
}
PyObject* device_reduce(PyObject* o, PyObject*) {
    return guarded([&] { return Py_BuildValue("O(s)", Py_TYPE(o), device_text(o).c_str()); });
}

// --- The default device, for a while or until another is set
thread_local std::vector<Device> outer_defaults;

struct Defaults {
    Device now;
    std::vector<Device> outer;
};
ThreadLocals::Value captured_defaults() {  // null: as they are at first
    if (default_device == Device{} && outer_defaults.empty()) return nullptr;
    return std::make_shared<const Defaults>(default_device, outer_defaults);
}
void install_defaults(ThreadLocals::Value value) {
    const auto* given = static_cast<const Defaults*>(value.get());
    default_device = given ? given->now : Device{};
    outer_defaults = given ? given->outer : std::vector<Device>();
}

PyObject* device_enter(PyObject* o, PyObject*) {
    return guarded([&] {
        ThreadLocals::changing();
        outer_defaults.push_back(default_device);
        default_device = as_device(o)->device;
        return Py_NewRef(o);
    });
}
PyObject* device_exit(PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        ThreadLocals::changing();
        if (!outer_defaults.empty()) {
            default_device = outer_defaults.back();
            outer_defaults.pop_back();
        }
        Py_RETURN_NONE;
    });
}
PyObject* set_default_device(PyObject*, PyObject* device) {
    return guarded([&] {
        const Device wanted = device == Py_None ? Device{} : to_device(device);
        ThreadLocals::changing();
        default_device = wanted;
        return Py_NewRef(Py_None);
    });
}
PyObject* get_default_device(PyObject*, PyObject*) { return wrap(default_device); }

PyMethodDef device_functions[] = {
    {"set_default_device", set_default_device, METH_O,
     "set_default_device(device, /)\n--\n\n"
     "Make new tensors of this thread on `device` where none is chosen; None stands for the CPU.\n\n"
     "``with wengert.device(...):`` does so for a while."},
    {"get_default_device", get_default_device, METH_NOARGS,
     "get_default_device()\n--\n\nThe device of new tensors for which none is chosen."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef device_getset[] = {
    {"type", device_type_text, nullptr, "The kind of device: 'cpu', 'meta', 'sim'.", nullptr},
    {"index", device_index, nullptr, "The number of the device among its kind, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {"__enter__", device_enter, METH_NOARGS, nullptr},
    {"__exit__", device_exit, METH_VARARGS, nullptr},
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
    {Py_tp_doc, const_cast<char*>("Where a tensor's memory lies. In a `with` statement: where new tensors are made.")},
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

// Of a tensor.
PyObject* wrap(Device d) noexcept { return new_device(d, has_index(d.type)); }
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
PyObject* wrap(Layout layout) noexcept { return Py_NewRef(layouts[static_cast<int>(layout)]); }
bool is_strided_layout(PyObject* o) noexcept { return o == layouts[0]; }
Layout to_layout(PyObject* o) {
    check(Py_IS_TYPE(o, LayoutType), ErrorKind::Type, "layout must be a wengert.layout, not ", Py_TYPE(o)->tp_name);
    return static_cast<Layout>(reinterpret_cast<ConstantObject*>(o)->value);
}

int add_devices(PyObject* module) {
    ThreadLocals::carry({captured_defaults, install_defaults});
    if (add_type(module, &device_spec, &DeviceType_) < 0 || add_type(module, &layout_spec, &LayoutType) < 0 ||
        add_type(module, &format_spec, &MemoryFormatType) < 0)
        return -1;
    const char* layout_names[] = {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"};
    for (int i = 0; i < 6; ++i) {
        layouts[i] = add_constant(module, LayoutType, layout_names[i], i);
        if (!layouts[i]) return -1;
    }
    const char* formats[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
    for (int i = 0; i < 4; ++i) {
        memory_formats[i] = add_constant(module, MemoryFormatType, formats[i], i);
        if (!memory_formats[i]) return -1;
    }
    return add_functions(module, "", device_functions);
}

}  // namespace wengert::python
