// wengert.device, and the constants of wengert.layout and wengert.memory_format.
#pragma once

#include <Python.h>

#include "tensor/device.h"
#include "tensor/layout.h"
#include "tensor/memory_format.h"

namespace wengert::python {

PyObject* wrap(Device d) noexcept;
bool is_device_like(PyObject* o) noexcept;  // a device or its name
Device to_device(PyObject* o);

PyObject* wrap(MemoryFormat format) noexcept;
bool is_memory_format(PyObject* o) noexcept;
MemoryFormat to_memory_format(PyObject* o);
PyObject* wrap(Layout layout) noexcept;
Layout to_layout(PyObject* o);
bool is_strided_layout(PyObject* o) noexcept;

int add_devices(PyObject* module);

}  // namespace wengert::python
