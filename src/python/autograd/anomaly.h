// Anomaly data of a node: the dict that `node.metadata` shows, with the forward traceback under `traceback_` and the
// node during whose evaluation this one was made under `parent_`.
#pragma once

#include <Python.h>

#include "graph/node.h"

namespace wengert::python {

PyObject* metadata_dict(Node& node);  // borrowed; made on first access
// The dict if there is one already, borrowed.
PyObject* existing_metadata_dict(const Node& node) noexcept;
void install_anomaly_factory() noexcept;

}  // namespace wengert::python
