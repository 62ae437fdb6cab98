// Where the gradients of the running node go: what its body may know of the sums that wait there.
//
// A large sum of several gradients costs more in memory traffic than in arithmetic: each gradient is written as a whole,
// and read again to be added. So as soon as a large sum waits for more, elementwise nodes are told to add their results to
// it themselves (OutputUse, kernels::run_onto). And gradients that are constants stay so, where those who get them take
// nothing else to be the same. Both are for passes that nobody records and on results that nobody else would have seen:
// of nodes without hooks, in no anomaly mode. The sums are the same in every bit.
#include <algorithm>

#include "engine/graph_task.h"

namespace wengert {
namespace {

// Whether nobody but the engine sees what the node returns in this pass.
bool is_private(const GraphTask& task, const Node& node) {
    return !task.create_graph && node.engine.owner == &task && !node.hooks() && !AnomalyMode::is_enabled();
}

// Two gradients that a node sends to one place are added in their order.
bool is_first_there(const Node& node, size_t i) {
    const EdgeList& edges = node.next_edges();
    for (size_t j = 0; j < i; ++j)
        if (edges[j].function == edges[i].function && edges[j].input_nr == edges[i].input_nr) return false;
    return true;
}

Tensor& sum_at(const Edge& edge) noexcept { return edge.function->engine.buffer[edge.input_nr]; }

bool is_waiting(const GraphTask& task, const Edge& edge) {
    const EngineState& s = edge.function->engine;
    return s.owner == &task && edge.input_nr < s.buffer.size() && is_large(sum_at(edge));
}

constexpr int kFarthest = 8;  // steps to where a constant has to have ended

bool all_take_constants(const GraphTask& task, const Node& node, int steps);

// What knows nothing but its gradient makes constants of one, or passes it on: then those behind it count, too.
bool takes_constants(const GraphTask& task, const Node& node, int steps) {
    const EngineState& s = node.engine;
    if (s.owner != &task || s.captures || node.hooks() || !node.takes_constants()) return false;
    return !node.saved_fields().empty() || (steps > 0 && all_take_constants(task, node, steps - 1));
}

bool all_take_constants(const GraphTask& task, const Node& node, int steps) {
    return std::ranges::all_of(node.next_edges(), [&](const Edge& edge) {
        return !edge.is_valid() || takes_constants(task, *edge.function, steps);
    });
}

}  // namespace

OutputUse GraphTask::output_use(const Node& node, size_t i) const noexcept {
    const Edge& edge = node.next_edges()[i];
    if (!wants(edge)) return kUnused;
    const bool is_added =
        has_large_sums && is_private(*this, node) && is_waiting(*this, edge) && is_first_there(node, i);
    return is_added ? kAdded : kReturned;
}

bool GraphTask::constants_may_stay(const Node& node) const noexcept {
    return is_private(*this, node) && all_take_constants(*this, node, kFarthest);
}

}  // namespace wengert
