// Where the gradients of the running node go: what its body may know of the sums that wait there.
//
// A large sum of several gradients costs more in memory traffic than in arithmetic: each gradient is written as a whole,
// and read again to be added. So as soon as a large sum waits for more, elementwise nodes are told to add their results to
// it themselves (OutputUse, kernels::run_onto). And gradients that are constants stay so, where those who get them take
// nothing else to be the same. Both are for passes that nobody records and on results that nobody else would have seen:
// of nodes without hooks, in no anomaly mode. The sums are the same in every bit.
#pragma once

#include "engine/graph_task.h"

namespace wengert {

// What the pass wants of output i of the node whose body is running.
OutputUse output_use(GraphTask& task, const Node& node, size_t i) noexcept;

// Lets nodes and kernels ask.
void install_destination_providers() noexcept;

}  // namespace wengert
