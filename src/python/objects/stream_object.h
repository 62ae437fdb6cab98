// wengert.Stream and wengert.Event: queues of work on a device, and points in them.
#pragma once

#include <Python.h>

#include "tensor/backend.h"

namespace wengert::python {

PyObject* wrap(const Stream& stream) noexcept;
bool is_stream(PyObject* o) noexcept;
Stream to_stream(PyObject* o);  // TypeError for anything else
Device to_stream_device(
    PyObject* o);  // one that has streams: of None (the current one of the accelerator), an int, a name, a device

int add_streams(PyObject* module);

}  // namespace wengert::python
