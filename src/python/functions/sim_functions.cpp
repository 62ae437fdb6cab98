#include "python/functions/sim_functions.h"

#include <string_view>

#include "backends/sim/sim.h"
#include "engine/devices/device_threads.h"
#include "python/arguments/convert.h"
#include "python/autograd/pass_gil.h"
#include "python/exceptions.h"
#include "python/objects/stream_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

// --- The interpreter's lock
void run_blocking(void (*f)(void*), void* context) {
    WithoutGil released(PyGILState_Check());
    f(context);
}

// Before the interpreter ends: work and nodes may need it.
PyObject* finish(PyObject*, PyObject*) {
    {
        const WithoutGil released;
        end_device_threads();
    }
    sim::synchronize_everything();
    Py_RETURN_NONE;
}

// --- Bindings. A function of a device gets None, its number, its name or a wengert.device.
Device to_sim_device(PyObject* o) {
    const Device device = to_stream_device(o);
    check(device.type == DeviceType::Sim, ErrorKind::Value, "Expected a sim device, but got: ", device);
    return device;
}
template <auto F>
PyObject* of_device(PyObject*, PyObject* device) {
    return guarded([&] { return F(to_sim_device(device)); });
}
template <auto F>
PyObject* call(PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        F();
        Py_RETURN_NONE;
    });
}
PyObject* none() noexcept { Py_RETURN_NONE; }

Backend& backend() noexcept { return *find_backend(DeviceType::Sim); }

PyObject* device_count(PyObject*, PyObject*) { return PyLong_FromLong(backend().device_count()); }
PyObject* current_device(PyObject*, PyObject*) { return PyLong_FromLong(backend().current_device()); }
PyObject* set_device(Device device) {
    backend().set_current_device(device);
    return none();
}
PyObject* current_stream(Device device) { return wrap(backend_of(device).current_stream(device)); }
PyObject* default_stream(Device device) { return wrap(Stream{device, 0}); }
PyObject* set_stream(PyObject*, PyObject* stream) {
    return guarded([&] {
        const Stream to = to_stream(stream);
        backend_of(to.device).set_current_stream(to);
        return none();
    });
}
PyObject* synchronize(Device device) {
    backend_of(device).synchronize(device);
    return none();
}

PyObject* count(const sim::MemoryCount& c) {
    return checked(Py_BuildValue("(LLLL)", static_cast<long long>(c.current), static_cast<long long>(c.peak),
                                 static_cast<long long>(c.added), static_cast<long long>(c.removed)));
}
PyObject* memory(Device device) {
    const sim::MemoryStatistics now = sim::memory_statistics(device);
    return Py_BuildValue("{s:N,s:N,s:N,s:L,s:L,s:L,s:L}", "allocated_bytes", count(now.allocated), "active_bytes",
                         count(now.active), "reserved_bytes", count(now.reserved), "total",
                         static_cast<long long>(now.total), "limit", static_cast<long long>(now.limit),
                         "num_alloc_retries", static_cast<long long>(now.retries), "num_ooms",
                         static_cast<long long>(now.failures));
}
PyObject* reset_peak(Device device) {
    sim::reset_peak_memory(device);
    return none();
}
PyObject* set_memory_limit(PyObject*, PyObject* const* args, Py_ssize_t n) {
    return guarded([&] {
        check(n == 2, ErrorKind::Type, "_set_memory_limit() takes exactly 2 arguments, got ", n);
        sim::set_memory_limit(to_sim_device(args[0]), to_int64(args[1]));
        return none();
    });
}
PyObject* set_delays(PyObject*, PyObject* const* args, Py_ssize_t n) {
    return guarded([&] {
        check(n == 2, ErrorKind::Type, "_set_delays() takes exactly 2 arguments, got ", n);
        sim::set_delays(static_cast<uint64_t>(to_int64(args[0])), to_int64(args[1]));
        return none();
    });
}

PyObject* lose_wait(PyObject*, PyObject* n) {
    return guarded([&] {
        sim::lose_wait(to_int64(n));
        return none();
    });
}
PyObject* waits(PyObject*, PyObject*) {
    return guarded([] { return PyLong_FromLongLong(sim::waits()); });
}

// --- The checker
constexpr const char* kModes[] = {nullptr, "collect", "raise"};  // by RaceCheck

PyObject* check_races(PyObject*, PyObject* mode) {
    return guarded([&] {
        const std::string_view name = mode == Py_None ? "" : to_string_view(mode);
        check(mode == Py_None || name == "collect" || name == "raise", ErrorKind::Value,
              "check_races: expected 'raise', 'collect' or None, got '", name, "'");
        sim::set_race_check(mode == Py_None     ? sim::RaceCheck::Off
                            : name == "collect" ? sim::RaceCheck::Collect
                                                : sim::RaceCheck::Raise);
        return none();
    });
}
PyObject* race_mode(PyObject*, PyObject*) {
    return guarded([&] {
        const char* name = kModes[static_cast<int>(sim::race_check())];
        return name ? PyUnicode_FromString(name) : none();
    });
}
PyObject* races(PyObject*, PyObject*) {
    return guarded([&] {
        PyRef list(checked(PyList_New(0)));
        for (const std::string& text : sim::races()) {
            PyRef item(checked(PyUnicode_FromString(text.c_str())));
            checked(PyList_Append(list.get(), item.get()));
        }
        return list.release();
    });
}

PyObject* record_stream(PyObject* self, PyObject* stream) {
    return guarded([&] {
        const Tensor& t = tensor_of(self);
        const Stream user = to_stream(stream);
        check(is_off_host(t), ErrorKind::Runtime, "record_stream: tensors of ", t.device(), " have no streams");
        backend_of(t.device()).record_stream(*t.storage(), user);
        return none();
    });
}

PyMethodDef fast(const char* name, PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)) noexcept {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)), METH_FASTCALL, nullptr};
}
PyMethodDef functions[] = {
    {"_device_count", device_count, METH_NOARGS, nullptr},
    {"_current_device", current_device, METH_NOARGS, nullptr},
    {"_set_device", of_device<set_device>, METH_O, nullptr},
    {"_current_stream", of_device<current_stream>, METH_O, nullptr},
    {"_default_stream", of_device<default_stream>, METH_O, nullptr},
    {"_set_stream", set_stream, METH_O, nullptr},
    {"_synchronize", of_device<synchronize>, METH_O, nullptr},
    {"_memory", of_device<memory>, METH_O, nullptr},
    {"_reset_peak", of_device<reset_peak>, METH_O, nullptr},
    {"_empty_cache", call<sim::empty_cache>, METH_NOARGS, nullptr},
    fast("_set_memory_limit", set_memory_limit),
    fast("_set_delays", set_delays),
    {"_lose_wait", lose_wait, METH_O, nullptr},
    {"_waits", waits, METH_NOARGS, nullptr},
    {"_check_races", check_races, METH_O, nullptr},
    {"_race_mode", race_mode, METH_NOARGS, nullptr},
    {"_races", races, METH_NOARGS, nullptr},
    {"_forget_races", call<sim::forget_races>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef methods[] = {
    {"record_stream", record_stream, METH_O,
     "record_stream(stream)\n--\n\nSays that the memory of this tensor is used on another stream than that of its "
     "making: when the tensor dies, nobody gets the memory before that stream is done with what it has by then."},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef finish_function = {"_finish_sim", finish, METH_NOARGS, nullptr};

int call_at_exit() {
    PyRef atexit(PyImport_ImportModule("atexit"));
    PyRef function(PyCFunction_New(&finish_function, nullptr));
    if (!atexit || !function) return -1;
    PyRef done(PyObject_CallMethod(atexit.get(), "register", "O", function.get()));
    return done ? 0 : -1;
}

}  // namespace

int add_sim_functions(PyObject* module) {
    sim::run_blocking = run_blocking;
    const bool ok = add_streams(module) == 0 && add_functions(module, "sim", functions) == 0 &&
                    add_tensor_methods(methods) == 0 && call_at_exit() == 0;
    return ok ? 0 : -1;
}

}  // namespace wengert::python
