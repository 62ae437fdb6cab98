// Where nan came from, for anomaly mode.
#pragma once

#include <string>

#include "graph/node.h"

namespace wengert {

// Of the operations behind `node` whose forward result contained nan, the one that ran first; a sentence that names it and
// its line, or "" if forward results were free of nan.
std::string nan_origin(const Node& node);

}  // namespace wengert
