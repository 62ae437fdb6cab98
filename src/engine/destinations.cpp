#include "engine/destinations.h"

#include <algorithm>

#include "kernels/elementwise/traffic.h"

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

Tensor& sum_of(const Node& node, size_t i) noexcept { return sum_at(node.next_edges()[i]); }

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

bool constants_may_stay() noexcept {
    const GraphTask* task = current_graph_task();
    const Node* node = current_node();
    if (!task || !node || is_called_by_hand() || !is_private(*task, *node)) return false;
    return all_take_constants(*task, *node, kFarthest);
}

}  // namespace

OutputUse output_use(GraphTask& task, const Node& node, size_t i) noexcept {
    const Edge& edge = node.next_edges()[i];
    if (!task.wants(edge)) return kUnused;
    const bool is_added =
        task.has_large_sums && is_private(task, node) && is_waiting(task, edge) && is_first_there(node, i);
    return is_added ? kAdded : kReturned;
}

void install_destination_providers() noexcept {
    task_sum = sum_of;
    kernels::constants_may_stay = constants_may_stay;
}

}  // namespace wengert
