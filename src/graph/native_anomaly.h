// Anomaly mode without an interpreter.
#pragma once

#include <memory>

#include "graph/node.h"

namespace wengert {

std::unique_ptr<AnomalyMetadata> make_native_anomaly_metadata();

}  // namespace wengert
