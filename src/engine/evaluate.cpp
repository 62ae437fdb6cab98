#include "engine/evaluate.h"

#include <optional>

#include "engine/input_buffer.h"
#include "engine/nan_origin.h"
#include "engine/validate.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "kernels/reductions/nan_check.h"
#include "ops/watch.h"

namespace wengert {
namespace {

// A hook may register or remove hooks, and another thread too: what runs is a copy.
template <class List>
List copy_of(const Node* node, const List& hooks) {
    SharedStateLock lock(node);
    return hooks;
}

// In anomaly mode whatever belongs to a node is watched, its hooks as its body: an exception is reported with the stack of
// its forward call, and NaN with whoever made it.
template <class Part>
decltype(auto) reported(Node* node, Part&& part) {
    try {
        return part();
    } catch (...) {
        if (AnomalyMode::is_enabled() && make_anomaly_metadata) {
            if (!node->anomaly_metadata()) node->set_anomaly_metadata(make_anomaly_metadata());
            node->anomaly_metadata()->print_stack(node->name());
        }
        throw;
    }
}

std::optional<size_t> first_nan(const TensorList& list) {
    for (size_t i = 0; i < list.size(); ++i)
        if (list[i].defined() && kernels::any_nan(unbatched(list[i]))) return i;
    return std::nullopt;
}

void check_nan(const Node& node, const TensorList& outputs) {
    if (const auto i = first_nan(outputs))
        fail(ErrorKind::Runtime, "Function '", node.name(), "' returned nan values in its ", *i, "th output.",
             nan_origin(node));
}

// Runs a hook, which may replace what is in `list`.
template <class Run>
void run_hook(const Node& node, const char* kind, TensorList& list, Run&& run) {
    if (!AnomalyMode::searches_nan()) [[likely]]
        return run();
    const bool had_nan = first_nan(list).has_value();
    run();
    if (const auto i = first_nan(list); i && !had_nan)
        fail(ErrorKind::Runtime, "A ", kind, " of '", node.name(), "' returned nan values in its ", *i, "th gradient.");
}

// The pre-hooks that run whether or not the node executes.
void run_tensor_hooks(const Node& node, TensorList& grads) {
    if (node.has_tensor_pre_hooks())
        for (const auto& hook : node.tensor_pre_hooks()) run_hook(node, "tensor hook", grads, [&] { (*hook)(grads); });
    if (const NodeHooks* hooks = node.hooks())
        for (const auto& [index, hook] : copy_of(&node, hooks->retains_grad_hooks)) (*hook)(grads);
}

}  // namespace

void hand_out(GraphTask& task, Node& node, EngineState& s) {
    if (!s.needed) reported(&node, [&] { run_tensor_hooks(node, s.buffer); });
    for (const Capture& c : *static_cast<Captures*>(s.captures))
        task.captured[c.output_index] = s.buffer[c.input_index];
}

namespace {

// Results as the next nodes expect them.
void check_results(const Node* node, TensorList& outputs) {
    const EdgeList& edges = node->next_edges();
    bool ok = outputs.size() == edges.size();
    for (size_t i = 0; ok && i < edges.size(); ++i)
        ok = !outputs[i].defined() ||
             (edges[i].is_valid() && edges[i].function->input_metadata()[edges[i].input_nr].fits(*outputs[i].impl()));
    if (!ok) validate_outputs(edges, outputs, node);
}

TensorList body(Node* node, TensorList&& grads) {
    const WatchedNode watched(*node, grads, true);
    fitted_results_of = nullptr;
    TensorList outputs = node->apply(std::move(grads));
    grads.clear();  // what it left must not look like somebody else's reference to the outputs
    if (fitted_results_of != node) check_results(node, outputs);
    if (AnomalyMode::searches_nan()) [[unlikely]]
        check_nan(*node, outputs);
    return outputs;
}

// Those registered now: the body may have added some. `kept` is what the node got, if it was known that somebody asks.
[[gnu::noinline]] void run_post_hooks(const Node* node, TensorList& outputs, TensorList kept) {
    kept.resize(node->num_inputs());
    for (const auto& hook : copy_of(node, node->hooks()->post_hooks))
        run_hook(*node, "post-hook", outputs, [&] { (*hook)(outputs, kept); });
}

[[gnu::noinline]] TensorList hooked_body(Node* node, TensorList&& grads) {
    run_tensor_hooks(*node, grads);
    const NodeHooks* hooks = node->hooks();
    TensorList kept;
    if (hooks) {
        for (const auto& hook : copy_of(node, hooks->pre_hooks))
            run_hook(*node, "pre-hook", grads, [&] { (*hook)(grads); });
        if (!copy_of(node, hooks->post_hooks).empty()) kept = grads;
    }
    TensorList outputs = body(node, std::move(grads));
    if (node->hooks()) run_post_hooks(node, outputs, std::move(kept));
    return outputs;
}

[[gnu::noinline]] TensorList unrecorded_body(Node* accumulator, TensorList&& grads) {
    const AutoGradMode unrecorded(false);
    for (Tensor& t : grads)
        if (t.defined()) t = without_history(t);
    return hooked_body(accumulator, std::move(grads));
}

}  // namespace

Tensor without_history(const Tensor& t) {
    Tensor out = detach(t);
    if (t.flags() & kHasTangent)
        for (int32_t level : meta_of(t)->tangents->levels())
            set_tangent(out, level, without_history(tangent_at(t.impl(), level)));
    return out;
}

TensorList call_node(GraphTask& task, Node* node, TensorList&& grads) {
    const NodeGuard current(node);
    const bool is_accumulator = node->next_edges().empty();  // the only kind whose tensor's hooks are not its own
    const bool unrecorded = is_accumulator && task.hands_out_detached;
    const bool hooked = unrecorded || node->hooks() || (is_accumulator && node->has_tensor_pre_hooks());
    TensorList outputs = reported(node, [&] {
        TensorList results = !hooked      ? body(node, std::move(grads))
                             : unrecorded ? unrecorded_body(node, std::move(grads))
                                          : hooked_body(node, std::move(grads));
        if (!hooked && node->hooks()) [[unlikely]]  // unpacking a saved tensor, for one, may have registered some
            run_post_hooks(node, results, {});
        return results;
    });
    if (!task.keep_graph) node->release_variables();
    return outputs;
}

const Edge* edge_to_scatter(GraphTask& task, Node* node, const TensorList& grads) {
    if (!node->scatters() || node->hooks() || AnomalyMode::is_enabled() || grads.size() != 1 || !grads[0].defined())
        return nullptr;
    const Edge& edge = node->next_edges()[0];
    if (!edge.is_valid() || !task.wants(edge)) return nullptr;
    const InputMetadata& metadata = edge.function->input_metadata()[edge.input_nr];
    return metadata.used && InputBuffer::takes_parts(metadata, grads[0]) ? &edge : nullptr;
}

}  // namespace wengert
