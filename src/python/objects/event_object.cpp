#include "python/objects/event_object.h"

#include <new>

#include "python/exceptions.h"
#include "python/objects/stream_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct EventObject {
    PyObject_HEAD Event event;  // null until it is recorded
    bool has_time;
};
PyTypeObject* EventType = nullptr;

EventObject* as_event(PyObject* o) noexcept { return reinterpret_cast<EventObject*>(o); }

PyObject* make(bool has_time) noexcept {
    PyObject* o = EventType->tp_alloc(EventType, 0);
    if (!o) return nullptr;
    new (&as_event(o)->event) Event;
    as_event(o)->has_time = has_time;
    return o;
}

PyObject* event_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
    static const char* names[] = {"enable_timing", "blocking", "interprocess", nullptr};
    int has_time = 0, blocking = 0, interprocess = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|ppp:Event", const_cast<char**>(names), &has_time, &blocking,
                                     &interprocess))
        return nullptr;
    return guarded([&] {
        check(!interprocess, ErrorKind::Runtime, "Event: streams are those of one process; use interprocess=False");
        return make(has_time);
    });
}
void event_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    as_event(o)->event.~Event();
    type->tp_free(o);
    Py_DECREF(type);
}

// The argument, or the current stream.
Stream stream_from(PyObject* const* args, Py_ssize_t n, const char* function) {
    check(n <= 1, ErrorKind::Type, function, "() takes at most 1 argument, got ", n);
    if (n == 1 && args[0] != Py_None) return to_stream(args[0]);
    const Device device = to_stream_device(Py_None);
    return backend_of(device).current_stream(device);
}

PyObject* record_on(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return guarded([&]() -> PyObject* {
        record(self, stream_from(args, n, "record"));
        Py_RETURN_NONE;
    });
}
PyObject* let_wait(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return guarded([&]() -> PyObject* {
        const Stream stream = stream_from(args, n, "wait");
        wait_event(stream, as_event(self)->event);
        Py_RETURN_NONE;
    });
}
bool is_done(const Event& event) { return !event || backend_of({event.type}).query_event(event); }

PyObject* query(PyObject* self, PyObject*) {
    return guarded([&] { return wrap(is_done(as_event(self)->event)); });
}
PyObject* synchronize(PyObject* self, PyObject*) {
    return guarded([&]() -> PyObject* {
        const Event event = as_event(self)->event;  // another thread may record it again meanwhile
        if (event) backend_of({event.type}).synchronize_event(event);
        Py_RETURN_NONE;
    });
}
PyObject* elapsed_time(PyObject* self, PyObject* end) {
    return guarded([&] {
        const Event &from = to_event(self), &to = to_event(end);
        check(as_event(self)->has_time && as_event(end)->has_time, ErrorKind::Runtime,
              "Both events must be created with argument 'enable_timing=True'.");
        check(from && to, ErrorKind::Runtime, "Both events must be recorded before calculating elapsed time.");
        check(from.type == to.type, ErrorKind::Runtime, "Event device type ", type_name(from.type),
              " does not match other's device type ", type_name(to.type), '.');
        check(is_done(from) && is_done(to), ErrorKind::Runtime,
              "Both events must be completed before calculating elapsed time.");
        return wrap(backend_of({from.type}).elapsed_time(from, to));
    });
}

PyMethodDef methods[] = {
    {"record", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(record_on)), METH_FASTCALL,
     "record(stream=None)\n--\n\nMarks what the stream, the current one if none is given, has got by now."},
    {"wait", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(let_wait)), METH_FASTCALL,
     "wait(stream=None)\n--\n\nWhat the stream gets from now on comes after the event."},
    {"query", query, METH_NOARGS, "query()\n--\n\nWhether all that it marks is done."},
    {"synchronize", synchronize, METH_NOARGS, "synchronize()\n--\n\nWaits for all that it marks."},
    {"elapsed_time", elapsed_time, METH_O,
     "elapsed_time(end_event)\n--\n\nMilliseconds from this event to another; both are done."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(event_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(event_dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     const_cast<char*>("Event(enable_timing=False, blocking=False, interprocess=False)\n--\n\nA point in the work of a "
                       "stream, that other streams and the host can wait for.")},
    {0, nullptr},
};
PyType_Spec spec = {"wengert.Event", sizeof(EventObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyObject* new_event() noexcept { return make(false); }
const Event& to_event(PyObject* o) {
    check(Py_IS_TYPE(o, EventType), ErrorKind::Type, "expected a wengert.Event, but got ", Py_TYPE(o)->tp_name);
    return as_event(o)->event;
}
void record(PyObject* event, const Stream& stream) {
    to_event(event);
    as_event(event)->event = backend_of(stream.device).record_event(stream);
}

int add_events(PyObject* module) { return add_type(module, &spec, &EventType); }

}  // namespace wengert::python
