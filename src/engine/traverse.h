// The walk before a pass.
#pragma once

#include "engine/graph_task.h"

namespace wengert {

// Claims every node reachable from `root` and counts its incoming edges. With `outputs`, marks the nodes that lead to one
// of them, and captures what arrives at those, or lets them accumulate; nodes that cannot lead there by their
// topological number are left out; nothing arrives at an edge without a node. With `weigh` it adds up GraphTask::elements
// too. What the nodes say of recorded passes is in GraphTask::recorded_passes.
void count_dependencies(GraphTask& task, Node* root, const EdgeList& outputs, bool accumulate, bool weigh = false);

// The order in which one thread runs the nodes behind `root`: what a pass does, without running anything.
std::vector<Node*> predict_order(GraphTask& task, Node* root);

}  // namespace wengert
