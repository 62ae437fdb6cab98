// GraphTask: one call of backward() or grad().
//
// What a pass knows of each node (outstanding dependencies, summed gradients, whether the node is needed, what is
// captured at it) is kept in the node itself, in `Node::engine`. The pass claims the node by writing itself into
// `engine.owner` and gives it back when the node has run, or at the end. If another pass has claimed the node already (a
// re-entrant call, a second thread), this pass keeps its own EngineState in `not_ready`, a hash map. `state_of` hides
// the difference.
//
// A selective pass (`inputs=`, grad()) has `captures`: the gradients that arrive at the requested edges. A node is
// needed if one of its next nodes is needed or captured; others are not run (`should_execute`).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/atomic_ref.h"
#include "engine/ready_queue.h"
#include "graph/node.h"

namespace wengert {

// A gradient to hand out: what arrives at input `input_index` of a node becomes result `output_index` of the pass.
struct Capture {
    uint32_t input_index;
    uint32_t output_index;
};
using Captures = SmallVector<Capture, 1>;

// What a pass means to do with a node.
struct ExecInfo {
    bool needed = false;  // it lies on a path to a requested input; all nodes do in a pass that is not selective
    const Captures* captures = nullptr;  // the gradients that are handed out at it
    bool should_execute() const noexcept { return needed || captures; }
};

// From this size on gradients are worth a thought; smaller ones and their sums stay in the cache.
inline constexpr int64_t kLargeSum = int64_t{1} << 16;
inline bool is_large(const Tensor& sum) noexcept { return sum.defined() && sum.numel() >= kLargeSum; }

class GraphTask final : public RunningPass {
public:
    GraphTask(bool keep_graph, bool create_graph, bool selective);
    ~GraphTask();
    GraphTask(const GraphTask&) = delete;

    OutputUse output_use(const Node& node, size_t i) const noexcept override;
    bool constants_may_stay(const Node& node) const noexcept override;

    // Takes the node for this pass; true if it was not yet part of it. The caller has room for it in `visited`, where the
    // end of the pass looks for what an error has left claimed.
    bool claim(Node* node) {
        if (!concurrent_counts && !node->engine.owner) [[likely]] {
            node->engine.owner = this;
            ++outstanding;
            return true;
        }
        return claim_contended(node);
    }
    EngineState& state_of(Node* node) { return owner_of(node) == this ? node->engine : foreign_state(node); }
    // Whether no other pass had claimed any of the nodes first.
    bool owns_all_nodes() const noexcept { return not_ready_.empty(); }
    bool contains(Node* node) const noexcept { return known_state(node); }
    // Gives the node's state back; called when it has run.
    void unclaim(Node* node) noexcept {
        if (owner_of(node) != this) return;
        EngineState& s = node->engine;
        if (!s.buffer.empty()) [[unlikely]]
            drop(s.buffer);
        s.captures = nullptr;
        s.needed = 0;
        s.step = 0;
        s.dependencies = 0;
        --outstanding;
        AtomicRef(s.owner).store(nullptr, std::memory_order_release);
    }

    bool should_execute(Node* node) const noexcept { return exec_info(node).should_execute(); }
    ExecInfo exec_info(const Node* node) const noexcept;  // of one that is part of the pass and has not run
    bool will_execute(Node* node);                        // what hooks may ask, of nodes that have run too
    // The nodes that run in this pass; made when first asked for.
    const std::unordered_set<const Node*>& executed_nodes();
    // Whether the gradient along this edge is of use.
    bool wants(const Edge& edge) const noexcept { return should_execute(edge.function.get()); }
    // Sees each sum that more gradients will be added to.
    void note_waiting(const Tensor& sum) noexcept {
        if (is_large(sum)) [[unlikely]] {
            has_large_sums = true;
            wants_all = false;
        }
    }

    bool keep_graph;
    bool create_graph;
    const bool selective;
    bool uses_streams = false;    // of devices, on which some nodes run (engine/devices/device_pass.h)
    bool has_large_sums = false;  // some of which wait for more
    const uint64_t id;
    RecordedPasses recorded_passes = RecordedPasses::AsAsked;  // the most that a node of the pass wants
    bool hands_out_detached = false;  // recorded for the sake of a node, not of the caller (graph/derivative.h)

    EdgeList roots;
    EdgeList targets;  // of a selective pass
    ReadyQueue ready_queue;
    TensorList captured;
    std::vector<std::unique_ptr<Captures>> capture_lists;
    // All that were claimed; of a selective pass, next nodes before those that lead to them.
    SmallVector<Node*, 32> visited;
    std::mutex callbacks_mutex;
    std::vector<std::function<void()>> final_callbacks;
    size_t outstanding = 0;  // nodes claimed and not yet run
    size_t elements = 0;     // of all gradients together; counted where several threads may run the pass

private:
    static GraphTask* owner_of(const Node* node) noexcept {
        return AtomicRef(const_cast<GraphTask*&>(node->engine.owner)).load(std::memory_order_relaxed);
    }
    bool claim_contended(Node* node);
    const EngineState* known_state(const Node* node) const noexcept;  // null of a node that is no part of the pass
    EngineState& foreign_state(Node* node);
    static void drop(TensorList& gradients) noexcept { const TensorList dropped = std::exchange(gradients, {}); }

    std::unordered_map<const Node*, EngineState> not_ready_;
    std::mutex executed_mutex_;
    std::unordered_set<const Node*> executed_;
};

// The pass that this thread is executing.
GraphTask* get_current_graph_task() noexcept;

class GraphTaskGuard {
public:
    explicit GraphTaskGuard(GraphTask* task) noexcept;
    ~GraphTaskGuard();
    GraphTaskGuard(const GraphTaskGuard&) = delete;

private:
    GraphTask* previous_;
    const RunningPass* previous_seen_;  // none, where a node was called by hand
};

}  // namespace wengert
