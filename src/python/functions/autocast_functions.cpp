#include "python/functions/autocast_functions.h"

#include "ops/autocast.h"
#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/objects/dtype_object.h"
#include "python/registry.h"
#include "tensor/backend.h"

namespace wengert::python {
namespace {

size_t device_type_from(PyObject* name) {
    check(PyUnicode_Check(name), ErrorKind::Type, "expected the name of a type of device, such as 'cpu', got ",
          Py_TYPE(name)->tp_name);
    DeviceType type;
    check(find_device_type(to_string_view(name), &type), ErrorKind::Runtime,
          "User specified an unsupported autocast device_type '", to_string_view(name), "'; there are ",
          device_type_names());
    return static_cast<size_t>(type);
}

PyObject* get_autocast(PyObject*, PyObject* device_type) {
    return guarded([&] {
        const AutocastSettings& now = autocast_settings();
        const size_t type = device_type_from(device_type);
        return Py_BuildValue("(OOO)", now.enabled[type] ? Py_True : Py_False, dtype_object(now.dtypes[type]),
                             now.caches ? Py_True : Py_False);
    });
}

PyObject* set_autocast(PyObject*, PyObject* const* args, Py_ssize_t n) {
    return guarded([&]() -> PyObject* {
        check(n == 4, ErrorKind::Type, "_set_autocast() takes exactly 4 arguments, got ", n);
        AutocastSettings wanted = autocast_settings();
        const size_t type = device_type_from(args[0]);
        wanted.enabled[type] = args[1] == Py_True;
        wanted.dtypes[type] = to_dtype(args[2]);
        wanted.caches = args[3] == Py_True;
        check(is_floating(wanted.dtypes[type]), ErrorKind::Type, "autocast needs a floating dtype, got ",
              wanted.dtypes[type]);
        set_autocast_settings(wanted);
        Py_RETURN_NONE;
    });
}

PyObject* device_types(PyObject*, PyObject*) {
    return guarded([] {
        PyRef names(checked(PyList_New(0)));
        for (size_t i = 0; i < kDeviceTypes; ++i) {
            const auto type = static_cast<DeviceType>(i);
            if (type != DeviceType::Cpu && !find_backend(type)) continue;
            const std::string_view name = type_name(type);
            PyRef text(checked(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()))));
            if (PyList_Append(names.get(), text.get()) < 0) throw PyException();
        }
        return names.release();
    });
}

PyObject* clear_cache(PyObject*, PyObject*) {
    clear_autocast_cache();
    Py_RETURN_NONE;
}

}  // namespace

PyMethodDef autocast_functions[] = {
    {"_get_autocast", get_autocast, METH_O,
     "_get_autocast(device_type)\n--\n\nWhether it is enabled, its dtype, and whether casts of weights are kept."},
    {"_set_autocast", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_autocast)), METH_FASTCALL,
     "_set_autocast(device_type, enabled, dtype, caches)\n--\n\nSets what `_get_autocast` returns."},
    {"_device_types", device_types, METH_NOARGS, "_device_types()\n--\n\nNames of the types of devices there are."},
    {"clear_autocast_cache", clear_cache, METH_NOARGS,
     "clear_autocast_cache()\n--\n\nForgets the casts of weights that this thread's autocast has kept."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
