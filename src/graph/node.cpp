#include "graph/node.h"

#include <atomic>

#include "graph/derivative.h"
#include "graph/native_anomaly.h"
#include "graph/strict_singular.h"
#include "tensor/backend.h"
#include "tensor/wrappers.h"

namespace wengert {
namespace {

thread_local constinit Node* running_node = nullptr;

// Nodes whose count reached zero while another one was being destroyed on this thread, linked through engine.captures,
// which no pass needs any more.
struct DyingNodes {
    Node* head = nullptr;
    bool draining = false;
};
thread_local constinit DyingNodes dying;

}  // namespace

constinit thread_local uint32_t thread_number = 0;
constinit thread_local const Node* fitted_results_of = nullptr;
constinit thread_local const RunningPass* running_pass = nullptr;
std::unique_ptr<AnomalyMetadata> (*make_anomaly_metadata)() = nullptr;
TensorList (*derivatives_of)(const Tensor& of, EdgeList edges, const Tensor& cotangent, bool create_graph) = nullptr;

constinit std::atomic<bool> AnomalyMode::enabled_ = false;
constinit std::atomic<bool> AnomalyMode::check_nan_ = true;
constinit std::atomic<bool> strict_singular_flag = false;

uint32_t give_thread_number() noexcept {
    static std::atomic<uint32_t> next{1};
    return thread_number = next++;
}

// With C++ frames (native_anomaly.cpp), unless the Python layer sets its own.
[[maybe_unused]] static const bool has_native_metadata = (make_anomaly_metadata = make_native_anomaly_metadata, true);

void Node::trace_creation() {
    thread_id_ = this_thread_number();
    if (!make_anomaly_metadata || !(AnomalyMode::is_enabled() || DebugMode::is_enabled())) return;
    set_anomaly_metadata(make_anomaly_metadata());
    if (AnomalyMode::is_enabled()) {
        anomaly_metadata()->store_stack();
        if (running_node) anomaly_metadata()->assign_parent(Ref<Node>::share(running_node));
    } else {
        anomaly_metadata()->store_place(running_node);
    }
}

Node::~Node() {
    if (owns_pyobj) wrappers->release_node(pyobj);
}

void Node::give_out_again() noexcept {
    retain();
    thread_id_ = this_thread_number();
}

// Destroying a node releases the nodes behind its edges and, through saved tensors, others; each of those arrives here
// again and only joins the list.
void Node::dispose(Node* node) noexcept {
    if (node->owns_pyobj && wrappers->node_takes_over(node->pyobj)) return;
    if (node->sequence_nr_ == kFirstSequenceNr && node->becomes_spare()) return;
    if (dying.draining) {
        node->engine.captures = std::exchange(dying.head, node);
        return;
    }
    dying.draining = true;
    for (;;) {
        delete node;
        node = dying.head;
        if (!node) break;
        dying.head = static_cast<Node*>(node->engine.captures);
    }
    dying.draining = false;
}

TensorList Node::operator()(TensorList&& grads) {
    NodeGuard guard(this);
    return apply(std::move(grads));
}

int32_t current_stream_number(Device device) noexcept {
    Backend* backend = find_backend(device.type);
    if (!backend || !backend->has_streams()) return kNoStream;
    return static_cast<int32_t>(backend->current_stream(device).id);
}

std::optional<Stream> Node::stream() const noexcept {
    for (const InputMetadata& m : input_metadata_)
        if (m.stream_number != kNoStream) return Stream{m.device, m.stream_number};
    return std::nullopt;
}

uint32_t Node::add_undefined_input() {
    input_metadata_.emplace_back();
    return static_cast<uint32_t>(input_metadata_.size() - 1);
}

void Node::refuse_new_edge() const {
    throw Error(ErrorKind::Runtime,
                "cannot change the edges of " + name() + ": another node has already ordered itself by it");
}

void Node::set_next_edge(size_t i, Edge edge) {
    update_topological_nr(edge);
    next_edges_[i] = std::move(edge);
}

void Node::set_next_edges(EdgeList edges) {
    next_edges_ = std::move(edges);
    for (const Edge& edge : next_edges_) update_topological_nr(edge);
}

void Node::drop_edges() noexcept {
    for (Edge& edge : next_edges_) Ref<Node> dropped = std::move(edge.function);
}

OutputUse Node::task_output_use(size_t i) const noexcept {
    if (!next_edges_[i].is_valid()) return kUnused;
    return running_pass && !running_pass->wants_all ? running_pass->output_use(*this, i) : kReturned;
}

NodeHooks& Node::mutable_hooks() { return extras_.make().hooks; }

PreHookList Node::tensor_pre_hooks() const {
    SharedStateLock lock(this);
    return hooks() ? hooks()->tensor_pre_hooks : PreHookList();
}

std::string name_and_place(const Node& node) {
    std::string place = node.anomaly_metadata() ? node.anomaly_metadata()->place() : "";
    return place.empty() ? node.name() : node.name() + " made at " + place;
}

Node* current_node() noexcept { return running_node; }

NodeGuard::NodeGuard(Node* node) noexcept : previous_(std::exchange(running_node, node)) {}
NodeGuard::~NodeGuard() { running_node = previous_; }

}  // namespace wengert
