// wengert.Stream and wengert.Event: queues of work on a device, and points in them.
#pragma once

#include <Python.h>

#include "tensor/backend.h"

namespace wengert::python {

PyObject* wrap(const Stream& stream) noexcept;
bool is_stream(PyObject* o) noexcept;
Stream to_stream(PyObject* o);         // TypeError for anything else
Device to_stream_device(PyObject* o);  // of None (the current one), an int, a name, a device: one that has streams

int add_streams(PyObject* module);

}  // namespace wengert::python
