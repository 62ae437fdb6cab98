// Node: one recorded operation, a vertex of the graph that backward walks.
//
// A node is created while the operation runs forward. Its *inputs* are the gradients of the operation's outputs, its
// outputs the gradients of the operation's inputs: `apply` turns one list into the other. `next_edges` says for each
// output which input slot of which node receives it.
//
// Ownership points one way. A tensor owns the node that made it (AutogradMeta::grad_fn), a node owns the nodes behind its
// next_edges and the tensors that it saved, never anything in front of it. So dropping the last result frees the whole
// graph behind it by counting alone. `dispose` does so with a work list, not with recursion: a chain of a million
// nodes needs no stack.
//
// Three numbers order nodes. `sequence_nr` counts creations on a thread; later operations run first in backward.
// `topological_nr` is 1 + the greatest among the next nodes (0 without any); a node below the minimum of all requested
// inputs cannot lead to one, so searches stop there. `input_nr` of an Edge counts slots.
//
// `engine` is scratch space of the running pass: keeping dependency count and gradient buffer in the node is what makes
// the engine fast. A pass claims a node by writing itself into `engine.owner`; a second pass that meets a claimed node
// keeps its own state in a hash map instead (engine/graph_task.h).
//
// Read `apply` and `dispose` first.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/api.h"
#include "base/atomic_ref.h"
#include "base/memory/on_demand.h"
#include "base/memory/slab.h"
#include "base/place.h"
#include "base/threads/lock.h"
#include "graph/edge.h"
#include "graph/hooks.h"
#include "graph/input_metadata.h"
#include "graph/running_pass.h"
#include "tensor/tensor_list.h"

namespace wengert {

class GraphTask;
struct SavedField;

// Where and during what a node was made. The Python layer derives one that holds frames (python/autograd/nodes/anomaly.h).
// Anomaly mode keeps the whole stack and the parent, the node whose body made this one; debug mode keeps the user's line,
// and of the parent no more than its name and line.
struct AnomalyMetadata {
    virtual ~AnomalyMetadata() = default;
    virtual void store_stack() = 0;
    virtual void store_place(const Node* parent) = 0;
    virtual void print_stack(const std::string& node_name) = 0;
    virtual void assign_parent(const Ref<Node>& parent) = 0;
    virtual std::string place() const = 0;  // "model.py:12 in forward", or ""
    bool nan_result = false;                // found by anomaly mode in a result of the forward operation
};

struct AnomalyMode {
    static bool is_enabled() noexcept { return enabled_.load(std::memory_order_relaxed); }
    static bool should_check_nan() noexcept { return check_nan_.load(std::memory_order_relaxed); }
    static bool searches_nan() noexcept { return is_enabled() && should_check_nan(); }
    static void set_enabled(bool enabled, bool check_nan = true) noexcept {
        enabled_ = enabled;
        check_nan_ = check_nan;
    }

private:
    WENGERT_API static std::atomic<bool> enabled_;
    WENGERT_API static std::atomic<bool> check_nan_;
};

// What `Node::thread_id` counts by.
extern constinit thread_local uint32_t thread_number;  // 0: not given yet
uint32_t give_thread_number() noexcept;
inline uint32_t this_thread_number() noexcept { return thread_number ? thread_number : give_thread_number(); }

using PreHookList = std::vector<std::shared_ptr<PreHook>>;

// Read and changed under SharedStateLock(node): a thread may register a hook while another one runs the node. What runs
// is a copy.
struct NodeHooks {
    PreHookList tensor_pre_hooks;
    std::vector<std::pair<uint32_t, std::shared_ptr<PreHook>>> retains_grad_hooks;  // (output index, hook)
    PreHookList pre_hooks;
    std::vector<std::shared_ptr<PostHook>> post_hooks;
};

using EdgeList = SmallVector<Edge, 2>;

// What the running pass keeps in a node; see engine/graph_task.h, which alone writes it.
struct EngineState {
    GraphTask* owner = nullptr;
    uint32_t dependencies = 0;
    uint32_t needed : 1 = 0;   // in a selective pass: lies on a path to a requested input
    uint32_t step : 31 = 0;    // in a parallel pass: place in the order of one thread
    void* captures = nullptr;  // GraphTask::Captures
    TensorList buffer;         // summed gradients, one per input
};

// Whether the engine records a pass that leads to a node though its caller did not ask for it: some derivatives at singular
// points follow from how the cotangent was computed (graph/derivative.h).
enum class RecordedPasses : uint8_t {
    AsAsked,
    UnderTangents,  // if tangents are about: a first derivative does without
    Always,
};

inline constexpr uint64_t kFirstSequenceNr = UINT64_MAX;  // of nodes that run as soon as they are ready

class Node : public RefCounted, public SlabAllocated {
public:
    Node() : Node(next_sequence_nr()) {}
    // While nobody traces; leaves nothing undone but may not throw, so that making a node needs no stack.
    struct Untraced {};
    static bool is_traced() noexcept { return !thread_number || AnomalyMode::is_enabled() || DebugMode::is_enabled(); }
    explicit Node(Untraced) noexcept : thread_id_(thread_number), sequence_nr_(next_sequence_nr()) {}
    explicit Node(uint64_t sequence_nr) : thread_id_(thread_number), sequence_nr_(sequence_nr) {
        if (is_traced()) [[unlikely]]
            trace_creation();
    }
    virtual ~Node();
    static void dispose(Node* node) noexcept;

    // --- The body. `grads` has one entry per input, some may be undefined; the result one per next edge.
    virtual TensorList apply(TensorList&& grads) = 0;
    TensorList operator()(TensorList&& grads);  // apply, under NodeGuard

    virtual std::string name() const = 0;  // "MulBackward0"
    // The row of the table that made the node, by its name in C++ ("mean_dim"); several rows may show one `name`.
    virtual const char* operation() const noexcept { return nullptr; }
    virtual void release_variables() {}                                      // frees what was saved for backward
    virtual std::span<const SavedField> saved_fields() const { return {}; }  // for `_saved_*`
    virtual bool is_python() const noexcept { return false; }                // its body needs the interpreter

    // A node whose only gradient is a small region of its input may add it to a full-size buffer in place, instead of
    // returning it surrounded by zeros. The engine asks `scatters` first.
    virtual bool scatters() const noexcept { return false; }
    virtual bool accumulate_into(const Tensor& /*buffer*/, const Tensor& /*grad*/) { return false; }
    // Whether a gradient that is a constant (tensor/constant.h) is as good to it as a dense one, and shown to nobody.
    virtual bool takes_constants() const noexcept { return false; }

    // --- Inputs (outputs of the forward operation)
    uint32_t add_input_metadata(const Tensor& output) {
        input_metadata_.emplace_back(output);
        return static_cast<uint32_t>(input_metadata_.size() - 1);
    }
    uint32_t add_undefined_input();
    // The first input, of an output of few dimensions: what takes no more than writing it down.
    bool can_add_first_input(const TensorImpl& output) const noexcept {
        return input_metadata_.empty() && output.sizes.is_short();
    }
    void add_first_input(const TensorImpl& output) noexcept {
        input_metadata_.emplace_first(InputMetadata::Short(), output);
    }
    const SmallVector<InputMetadata, 1>& input_metadata() const noexcept { return input_metadata_; }
    InputMetadata& mutable_input_metadata(size_t i) noexcept { return input_metadata_[i]; }
    size_t num_inputs() const noexcept { return input_metadata_.size(); }

    // --- Outputs (gradients of the forward operation's inputs)
    // Leads to input `nr` of `function`, or nowhere; false where that is not simply a matter of writing it down.
    [[gnu::always_inline]] bool add_next_edge_in_room(Node* function, uint32_t nr) noexcept {
        if (AtomicRef(has_parent_).load(std::memory_order_relaxed) || !next_edges_.has_room()) [[unlikely]]
            return false;
        if (function) topological_nr_ = std::max(topological_nr_, function->topological_nr() + 1);
        next_edges_.emplace_in_room(Ref<Node>::share(function), nr);
        return true;
    }
    void add_next_edge(Edge edge) {
        update_topological_nr(edge);
        next_edges_.push_back(std::move(edge));
    }
    void set_next_edge(size_t i, Edge edge);
    void set_next_edges(EdgeList edges);
    void drop_edges() noexcept;  // of a node that is garbage
    const EdgeList& next_edges() const noexcept { return next_edges_; }
    size_t num_outputs() const noexcept { return next_edges_.size(); }
    bool should_compute_output(size_t i) const noexcept { return next_edges_[i].is_valid(); }
    // As above, and the running pass wants it; what formulas ask before they compute.
    bool task_should_compute_output(size_t i) const noexcept { return task_output_use(i) != kUnused; }
    OutputUse task_output_use(size_t i) const noexcept;
    // What has arrived where output i goes, which is kAdded.
    Tensor& waiting_sum(size_t i) const noexcept {
        const Edge& edge = next_edges_[i];
        return edge.function->engine.buffer[edge.input_nr];
    }

    uint64_t sequence_nr() const noexcept { return sequence_nr_; }
    void set_sequence_nr(uint64_t n) noexcept { sequence_nr_ = n; }
    // Reading it fixes the edges: a node that someone ordered itself by must not change (checked).
    uint64_t topological_nr() const noexcept {
        AtomicRef(has_parent_).store(true, std::memory_order_relaxed);
        return topological_nr_;
    }
    uint64_t thread_id() const noexcept { return thread_id_; }
    // Where the operation ran and its derivative will: of the first input on a device with streams.
    std::optional<Stream> stream() const noexcept;

    // --- Hooks and metadata, absent on most nodes
    NodeHooks* hooks() const noexcept {
        Extras* extras = extras_.get();
        return extras ? &extras->hooks : nullptr;
    }
    NodeHooks& mutable_hooks();
    // The hooks of the tensors that this node made; an accumulator's are its leaf's. `has_...` may say yes for none.
    virtual bool has_tensor_pre_hooks() const noexcept { return has_extras(); }
    virtual PreHookList tensor_pre_hooks() const;
    AnomalyMetadata* anomaly_metadata() const noexcept {
        Extras* extras = extras_.get();
        return extras ? extras->anomaly.get() : nullptr;
    }
    void set_anomaly_metadata(std::unique_ptr<AnomalyMetadata> m) { extras_.make().anomaly = std::move(m); }

    EngineState engine;
    void* pyobj = nullptr;    // the Python wrapper; identity of `grad_fn` rests on it
    bool owns_pyobj = false;  // as in TensorImpl
    bool gc_visible = false;  // likewise
    RecordedPasses recorded_passes = RecordedPasses::AsAsked;

protected:
    static uint64_t next_sequence_nr() noexcept { return state.sequence_nr++; }
    // Called when nobody refers to the node any more; true if it stays, for its owner to give it out again.
    virtual bool becomes_spare() noexcept { return false; }
    void give_out_again() noexcept;
    bool has_extras() const noexcept { return extras_.get() != nullptr; }

private:
    struct Extras {
        NodeHooks hooks;
        std::unique_ptr<AnomalyMetadata> anomaly;
    };

    void update_topological_nr(const Edge& edge) {
        if (AtomicRef(has_parent_).load(std::memory_order_relaxed)) [[unlikely]]
            refuse_new_edge();
        if (edge.function) topological_nr_ = std::max(topological_nr_, edge.function->topological_nr() + 1);
    }
    [[noreturn]] void refuse_new_edge() const;
    [[gnu::cold]] void trace_creation();

    mutable bool has_parent_ = false;
    uint32_t thread_id_;
    uint64_t sequence_nr_;
    uint64_t topological_nr_ = 0;
    EdgeList next_edges_;
    SmallVector<InputMetadata, 1> input_metadata_;
    OnDemand<Extras> extras_;
};

// The node whose body runs on this thread; hooks and anomaly mode ask for it.
Node* current_node() noexcept;

class NodeGuard {
public:
    explicit NodeGuard(Node* node) noexcept;
    ~NodeGuard();
    NodeGuard(const NodeGuard&) = delete;

private:
    Node* previous_;
};

// The node whose body has just seen to it that its results are what the next nodes expect, so that the engine need not.
extern constinit thread_local const Node* fitted_results_of;

// Makes a node's AnomalyMetadata; set by the Python layer.
WENGERT_API extern std::unique_ptr<AnomalyMetadata> (*make_anomaly_metadata)();

// "MulBackward0" and, if it is known, " made at model.py:12 in forward".
std::string name_and_place(const Node& node);

}  // namespace wengert
