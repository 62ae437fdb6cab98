#include "engine/graph_task.h"

#include <algorithm>

namespace wengert {
namespace {

thread_local constinit GraphTask* running_task = nullptr;
std::atomic<uint64_t> next_id{0};

}  // namespace

GraphTask* get_current_graph_task() noexcept { return running_task; }
GraphTaskGuard::GraphTaskGuard(GraphTask* task) noexcept
    : previous_(std::exchange(running_task, task)), previous_seen_(std::exchange(running_pass, task)) {}
GraphTaskGuard::~GraphTaskGuard() {
    running_task = previous_;
    running_pass = previous_seen_;
}

GraphTask::GraphTask(bool keep_graph, bool create_graph, bool selective)
    : RunningPass(!selective),
      keep_graph(keep_graph),
      create_graph(create_graph),
      selective(selective),
      id(next_id++) {}

GraphTask::~GraphTask() {
    if (outstanding == 0) return;
    for (Node* node : visited) unclaim(node);
}

bool GraphTask::claim_contended(Node* node) {
    // Another pass may have given it back since this one met it: what is known of it stays in one place.
    if (!not_ready_.empty() && not_ready_.contains(node)) return false;
    GraphTask* none = nullptr;
    if (concurrent_counts &&
        AtomicRef(node->engine.owner).compare_exchange_strong(none, this, std::memory_order_seq_cst)) {
        ++outstanding;
        return true;
    }
    if (owner_of(node) == this) return false;
    return not_ready_.try_emplace(node).second;
}

EngineState& GraphTask::foreign_state(Node* node) { return not_ready_[node]; }

const EngineState* GraphTask::known_state(const Node* node) const noexcept {
    if (owner_of(node) == this) return &node->engine;
    const auto found = not_ready_.find(node);
    return found == not_ready_.end() ? nullptr : &found->second;
}

ExecInfo GraphTask::exec_info(const Node* node) const noexcept {
    if (!selective) return {.needed = true};
    const EngineState* s = known_state(node);
    return s ? ExecInfo{s->needed != 0, static_cast<const Captures*>(s->captures)} : ExecInfo();
}

bool GraphTask::will_execute(Node* node) {
    if (contains(node)) return should_execute(node);
    return executed_nodes().contains(node);
}

const std::unordered_set<const Node*>& GraphTask::executed_nodes() {
    std::lock_guard lock(executed_mutex_);
    if (!executed_.empty()) return executed_;
    if (selective) {
        std::unordered_set<const Node*> ends;
        for (const Edge& e : targets) ends.insert(e.function.get());
        for (const Node* node : visited)  // next nodes come first
            if (ends.contains(node) || std::ranges::any_of(node->next_edges(), [&](const Edge& e) {
                    return executed_.contains(e.function.get());
                }))
                executed_.insert(node);
        return executed_;
    }
    std::vector<const Node*> stack{roots[0].function.get()};
    executed_.insert(stack[0]);
    while (!stack.empty()) {
        const Node* node = stack.back();
        stack.pop_back();
        for (const Edge& e : node->next_edges())
            if (e.is_valid() && executed_.insert(e.function.get()).second) stack.push_back(e.function.get());
    }
    return executed_;
}

}  // namespace wengert
