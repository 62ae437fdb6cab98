#include "python/objects/stream_object.h"

#include <sstream>
#include <string>

#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/objects/device_object.h"
#include "python/objects/event_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct StreamObject {
    PyObject_HEAD Stream stream;
};
PyTypeObject* StreamType = nullptr;

Stream& of(PyObject* o) noexcept { return reinterpret_cast<StreamObject*>(o)->stream; }

PyObject* stream_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
    static const char* names[] = {"device", "priority", nullptr};
    PyObject* device = Py_None;
    int priority = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oi:Stream", const_cast<char**>(names), &device, &priority))
        return nullptr;
    return guarded([&] {
        const Device on = to_stream_device(device);
        return wrap(backend_of(on).new_stream(on));
    });
}

// --- Order
PyObject* let_wait(PyObject* self, PyObject* event) {
    return guarded([&]() -> PyObject* {
        wait_event(of(self), to_event(event));
        Py_RETURN_NONE;
    });
}
PyObject* wait_stream(PyObject* self, PyObject* other) {
    return guarded([&]() -> PyObject* {
        const Stream before = to_stream(other);
        if (!(before == of(self))) wait_event(of(self), backend_of(before.device).record_event(before));
        Py_RETURN_NONE;
    });
}
PyObject* record_event(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return guarded([&]() -> PyObject* {
        check(n <= 1, ErrorKind::Type, "record_event() takes at most 1 argument, got ", n);
        PyRef event = n == 1 && args[0] != Py_None ? PyRef::share(args[0]) : PyRef(checked(new_event()));
        record(event.get(), of(self));
        return event.release();
    });
}
PyObject* query(PyObject* self, PyObject*) {
    return guarded([&] { return wrap(backend_of(of(self).device).query_stream(of(self))); });
}
PyObject* synchronize(PyObject* self, PyObject*) {
    return guarded([&]() -> PyObject* {
        backend_of(of(self).device).synchronize_stream(of(self));
        Py_RETURN_NONE;
    });
}

// --- The current one, for a block. What was current before is kept by the thread, since many may enter one stream.
PyObject* blocks_of_thread() {
    PyObject* dict = PyThreadState_GetDict();
    check(dict, ErrorKind::Runtime, "Stream.__enter__: this thread has no state");
    PyRef key(checked(PyUnicode_InternFromString("wengert.streams")));
    PyObject* blocks = PyDict_GetItemWithError(dict, key.get());
    if (blocks) return blocks;
    if (PyErr_Occurred()) throw PyException();
    PyRef fresh(checked(PyList_New(0)));
    checked(PyDict_SetItem(dict, key.get(), fresh.get()));
    return fresh.get();  // the dict keeps it
}

PyObject* enter(PyObject* self, PyObject*) {
    return guarded([&] {
        const Device device = of(self).device;
        Backend& backend = backend_of(device);
        const PyRef before(checked(wrap(backend.current_stream(device))));
        const PyRef entry(checked(Py_BuildValue("(iO)", int{backend.current_device()}, before.get())));
        checked(PyList_Append(blocks_of_thread(), entry.get()));
        backend.set_current_stream(of(self));
        return Py_NewRef(self);
    });
}
PyObject* exit(PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        PyObject* blocks = blocks_of_thread();
        const Py_ssize_t n = PyList_GET_SIZE(blocks);
        check(n > 0, ErrorKind::Runtime, "Stream.__exit__: no block is open");
        const PyRef entry = PyRef::share(PyList_GET_ITEM(blocks, n - 1));
        checked(PyList_SetSlice(blocks, n - 1, n, nullptr));
        const Stream before = to_stream(PyTuple_GET_ITEM(entry.get(), 1));
        Backend& backend = backend_of(before.device);
        backend.set_current_stream(before);
        backend.set_current_device(
            {before.device.type, static_cast<int8_t>(to_int64(PyTuple_GET_ITEM(entry.get(), 0)))});
        Py_RETURN_NONE;
    });
}

// --- What it is
PyObject* device(PyObject* self, void*) { return wrap(of(self).device); }
PyObject* device_index(PyObject* self, void*) { return PyLong_FromLong(of(self).device.index); }
PyObject* stream_id(PyObject* self, void*) { return PyLong_FromLongLong(of(self).id); }
PyObject* priority(PyObject*, void*) { return PyLong_FromLong(0); }
PyObject* repr(PyObject* self) {
    return guarded([&] {
        std::ostringstream text;
        text << "wengert.Stream(device=" << of(self).device << ", stream_id=" << of(self).id << ')';
        return PyUnicode_FromString(text.str().c_str());
    });
}
Py_hash_t hash(PyObject* self) {
    const Stream stream = of(self);  // never negative: -1 would mean an error
    return (static_cast<Py_hash_t>(stream.id) * 256 + stream.device.index) * 8 +
           static_cast<Py_hash_t>(stream.device.type);
}
PyObject* compare(PyObject* a, PyObject* b, int op) {
    if (!is_stream(b) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((of(a) == of(b)) == (op == Py_EQ));
}

PyMethodDef methods[] = {
    {"wait_stream", wait_stream, METH_O,
     "wait_stream(stream)\n--\n\nWhat this stream gets from now on comes after all that the other one has got."},
    {"wait_event", let_wait, METH_O,
     "wait_event(event)\n--\n\nWhat this stream gets from now on comes after the event."},
    {"record_event", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(record_event)), METH_FASTCALL,
     "record_event(event=None)\n--\n\nRecords an event, a new one if none is given, and returns it."},
    {"query", query, METH_NOARGS, "query()\n--\n\nWhether all that the stream has got is done."},
    {"synchronize", synchronize, METH_NOARGS,
     "synchronize()\n--\n\nWaits for all that the stream has got, and raises what it has raised."},
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef getset[] = {
    {"device", device, nullptr, "The device that it is a queue of.", nullptr},
    {"device_index", device_index, nullptr, "The number of that device.", nullptr},
    {"stream_id", stream_id, nullptr, "Its number on the device; 0 is the default stream.", nullptr},
    {"priority", priority, nullptr, "0: all are equal.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(stream_new)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_doc,
     const_cast<char*>(
         "Stream(device=None, priority=0)\n--\n\nA queue of work on a device, which is done in its order and "
         "independently of other streams. Current for the length of a ``with`` block.")},
    {0, nullptr},
};
PyType_Spec spec = {"wengert.Stream", sizeof(StreamObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyObject* wrap(const Stream& stream) noexcept {
    auto* o = PyObject_New(StreamObject, StreamType);
    if (!o) return nullptr;
    o->stream = stream;
    return reinterpret_cast<PyObject*>(o);
}
bool is_stream(PyObject* o) noexcept { return Py_IS_TYPE(o, StreamType); }
Stream to_stream(PyObject* o) {
    check(is_stream(o), ErrorKind::Type, "expected a wengert.Stream, but got ", Py_TYPE(o)->tp_name);
    return of(o);
}

Device to_stream_device(PyObject* o) {
    if (o == Py_None || is_int(o)) {
        const Backend& backend = accelerator();
        if (o == Py_None) return {backend.type(), backend.current_device()};
        const int64_t index = to_int64(o);
        check(index >= 0 && index < backend.device_count(), ErrorKind::Runtime, "Invalid device index ", index,
              ": there are ", backend.device_count(), " devices ", backend.name(), ", counted from 0");
        return {backend.type(), static_cast<int8_t>(index)};
    }
    check(is_device_like(o), ErrorKind::Type, "expected a device, its name or its number, but got ",
          Py_TYPE(o)->tp_name);
    const Device device = to_device(o);
    const Backend* backend = find_backend(device.type);
    check(backend && backend->has_streams(), ErrorKind::Value, "Expected a device with streams, but got: ", device);
    return device;
}

int add_streams(PyObject* module) { return add_events(module) == 0 ? add_type(module, &spec, &StreamType) : -1; }

}  // namespace wengert::python
