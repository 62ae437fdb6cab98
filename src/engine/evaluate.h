// Running one node: what arrived, hooks, body, checks, release.
#pragma once

#include "engine/graph_task.h"
#include "tensor/tensor_list.h"

namespace wengert {

// Puts what is captured at a node among the results of the pass.
void hand_out(GraphTask& task, Node& node, EngineState& s);

// The gradients that have arrived at `node`.
inline TensorList& gradients_at(GraphTask& task, Node* node) {
    EngineState& s = task.state_of(node);
    if (s.captures) [[unlikely]]
        hand_out(task, *node, s);
    return s.buffer;
}

// Whether the node's body runs, or the pass only wanted what arrived at it.
inline bool runs(GraphTask& task, Node* node) { return !task.selective || task.state_of(node).needed; }

// Hooks, body, hooks; the result has one checked gradient for each next edge. `grads` is empty afterwards.
TensorList call_node(GraphTask& task, Node* node, TensorList&& grads);

// `t` as a pass hands it out that was recorded for its own use only: without history, its tangents too.
Tensor without_history(const Tensor& t);

// Where a node can add its gradient to the next node's buffer in place (Node::scatters): that edge, else null.
const Edge* edge_to_scatter(GraphTask& task, Node* node, const TensorList& grads);

}  // namespace wengert
