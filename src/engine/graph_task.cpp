#include "engine/graph_task.h"

#include <atomic>
#include <unordered_set>

namespace wengert {
namespace {

thread_local constinit GraphTask* running_task = nullptr;
std::atomic<uint64_t> next_id{0};

// Installed once: formulas ask through the graph layer, which knows nothing of passes.
bool current_task_wants(const Edge& edge) { return !running_task || running_task->wants(edge); }
[[maybe_unused]] const bool installed = (task_wants_edge = current_task_wants, true);

}  // namespace

GraphTask* current_graph_task() noexcept { return running_task; }
GraphTaskGuard::GraphTaskGuard(GraphTask* task) noexcept : previous_(std::exchange(running_task, task)) {}
GraphTaskGuard::~GraphTaskGuard() { running_task = previous_; }

GraphTask::GraphTask(bool keep_graph, bool create_graph, int32_t reentrant_depth, bool selective)
    : keep_graph(keep_graph),
      create_graph(create_graph),
      reentrant_depth(reentrant_depth),
      selective(selective),
      id(next_id++) {
    task_wants_edge = current_task_wants;
}

GraphTask::~GraphTask() {
    for (Node* node : visited) unclaim(node);
    if (outstanding > 0) unclaim_reachable();
}

// After an error: walk the graph and give back what is still claimed. Nodes that have run lead to others too.
void GraphTask::unclaim_reachable() noexcept {
    std::vector<Node*> stack;
    std::unordered_set<Node*> seen;
    for (const Edge& root : roots) stack.push_back(root.function.get());
    while (!stack.empty()) {
        Node* node = stack.back();
        stack.pop_back();
        if (!seen.insert(node).second) continue;
        unclaim(node);
        for (const Edge& e : node->next_edges())
            if (e.is_valid()) stack.push_back(e.function.get());
    }
}

bool GraphTask::claim(Node* node) {
    GraphTask* none = nullptr;
    if (concurrent_counts) {
        if (std::atomic_ref(node->engine.owner).compare_exchange_strong(none, this)) {
            ++outstanding;
            return true;
        }
    } else if (!node->engine.owner) {
        node->engine.owner = this;
        ++outstanding;
        return true;
    }
    if (node->engine.owner == this) return false;
    return not_ready_.try_emplace(node).second;
}

EngineState& GraphTask::foreign_state(Node* node) { return not_ready_[node]; }

bool GraphTask::contains(Node* node) const noexcept { return node->engine.owner == this || not_ready_.contains(node); }

void GraphTask::unclaim(Node* node) noexcept {
    if (node->engine.owner != this) return;
    EngineState& s = node->engine;
    TensorList dropped = std::move(s.buffer);
    s.buffer.clear();
    s.captures = nullptr;
    s.needed = false;
    s.dependencies = 0;
    --outstanding;
    std::atomic_ref(s.owner).store(nullptr, std::memory_order_release);
}

bool GraphTask::should_execute(Node* node) {
    if (!selective) return true;
    EngineState& s = state_of(node);
    return s.needed || s.captures;
}

bool GraphTask::will_execute(Node* node) { return contains(node) && should_execute(node); }

bool GraphTask::wants(const Edge& edge) {
    if (!selective) return true;
    return contains(edge.function.get()) && should_execute(edge.function.get());
}

}  // namespace wengert
