// Anomaly and debug data of a node, and the dict that `node.metadata` shows.
//
// Frames are taken as code objects and offsets. The dict is made when someone asks for it, with the forward traceback under
// `traceback_` and, in anomaly mode, the node during whose evaluation this one was made under `parent_`.
#pragma once

#include <Python.h>

#include "graph/node.h"

namespace wengert::python {

PyObject* metadata_dict(Node& node);  // borrowed; made on first access
// The dict if there is one already, borrowed.
PyObject* existing_metadata_dict(const Node& node) noexcept;
void install_anomaly_factory() noexcept;

}  // namespace wengert::python
