// wengert.Event: a point in the work of a stream.
#pragma once

#include <Python.h>

#include "tensor/backend.h"

namespace wengert::python {

PyObject* new_event() noexcept;
const Event& to_event(PyObject* o);  // TypeError for anything else; null where it was not recorded
void record(PyObject* event, const Stream& stream);

int add_events(PyObject* module);

}  // namespace wengert::python
