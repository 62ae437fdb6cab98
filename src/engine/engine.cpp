#include "engine/engine.h"

#include <atomic>
#include <optional>

#include "engine/autograd.h"
#include "engine/input_buffer.h"
#include "engine/traverse.h"
#include "engine/validate.h"
#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "kernels/nan_check.h"
#include "ops/basic_nodes.h"
#include "ops/graph_providers.h"

namespace wengert {
namespace {

thread_local constinit int32_t depth = 0;

struct DepthGuard {
    DepthGuard() noexcept { ++depth; }
    ~DepthGuard() { --depth; }
};

// The pre-hooks that run whether or not the node executes.
void run_tensor_hooks(const Node& node, TensorList& grads) {
    if (const auto* hooks = node.tensor_pre_hooks()) {
        auto pre = *hooks;  // a hook may register or remove hooks
        for (const auto& hook : pre) (*hook)(grads);
    }
    if (node.hooks()) {
        auto retains = node.hooks()->retains_grad_hooks;
        for (const auto& [index, hook] : retains) (*hook)(grads);
    }
}

void check_nan(const Node& node, const TensorList& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i)
        check(!outputs[i].defined() || !kernels::any_nan(outputs[i]), ErrorKind::Runtime, "Function '", node.name(),
              "' returned nan values in its ", i, "th output.");
}

void detach_all(TensorList& grads) {
    for (Tensor& t : grads)
        if (t.defined()) t = detach(t);
}

// Results of grad() never share memory with each other: x + y hands one gradient to both.
void separate_aliases(TensorList& captured) {
    for (size_t i = 1; i < captured.size(); ++i) {
        if (!captured[i].defined()) continue;
        if (captured[i].use_count() == 1 && captured[i].storage()->use_count() == 1) continue;
        for (size_t j = 0; j < i; ++j)
            if (captured[j].defined() && captured[j].storage() == captured[i].storage()) {
                captured[i] = ops::clone(captured[i]);
                break;
            }
    }
}

}  // namespace

Engine& Engine::get_default_engine() noexcept {
    static Engine* engine = (install_graph_providers(), autograd::install_derivative(), new Engine);
    return *engine;
}

TensorList Engine::execute(EdgeList roots, TensorList inputs, bool keep_graph, bool create_graph, bool accumulate_grad,
                           const EdgeList& outputs) {
    validate_outputs(roots, inputs, "");
    if (accumulate_grad && create_graph) {
        static std::atomic<bool> warned{false};
        if (!warned.exchange(true))
            warn(WarningKind::User,
                 "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
                 "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
                 "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
                 "to None after use to break the cycle and avoid the leak.");
    }
    const bool recorded_for_itself = !create_graph && NeedsRecordedPass::any() && needs_recorded_pass(roots);
    GraphTask task(keep_graph || recorded_for_itself, create_graph || recorded_for_itself, depth, !outputs.empty());
    task.hands_out_detached = recorded_for_itself;
    if (roots.size() == 1) {
        task.roots = std::move(roots);
    } else {
        Ref<Node> root = Ref<Node>::adopt(new GraphRoot(std::move(roots), std::move(inputs)));
        task.roots.emplace_back(std::move(root), 0);
    }
    const Edge& root = task.roots[0];
    count_dependencies(task, root.function.get(), outputs, accumulate_grad);
    EngineState& s = task.state_of(root.function.get());
    s.buffer.resize(std::max<size_t>(root.function->num_inputs(), root.input_nr + 1));
    if (!inputs.empty()) s.buffer[root.input_nr] = std::move(inputs[0]);
    if (task.should_execute(root.function.get()))
        task.ready_queue.push_local({&task, root.function.get(), root.function->sequence_nr(), depth, false});

    if (depth > 0 && depth % kMaxDepth == 0)
        run_on_fresh_thread(hooks, [&] { run(task); });
    else
        run(task);
    if (task.hands_out_detached) detach_all(task.captured);
    if (task.captured.size() > 1) {
        AutoGradMode mode(create_graph);
        separate_aliases(task.captured);
    }
    return std::move(task.captured);
}

void Engine::run(GraphTask& task) {
    DepthGuard deeper;
    GraphTaskGuard current(&task);
    AutoGradMode mode(task.create_graph);
    while (!task.ready_queue.empty_local()) {
        Node* node = task.ready_queue.pop_local().node;
        evaluate(task, node);
    }
    // Callbacks may queue further ones.
    for (size_t i = 0; i < task.final_callbacks.size(); ++i) {
        auto callback = task.final_callbacks[i];
        callback();
    }
}

void Engine::evaluate(GraphTask& task, Node* node) {
    EngineState& s = task.state_of(node);
    TensorList inputs = std::move(s.buffer);
    s.buffer.clear();
    if (s.captures) {
        if (!s.needed) run_tensor_hooks(*node, inputs);
        for (const Capture& c : *static_cast<Captures*>(s.captures))
            task.captured[c.output_index] = inputs[c.input_index];
    }
    if (task.selective && !s.needed) {
        task.unclaim(node);
        return;
    }
    if (hooks.log_node) hooks.log_node(node, inputs);
    if (node->scatters() && deliver_part(task, node, inputs)) return;

    TensorList outputs = call_function(task, node, std::move(inputs));
    task.unclaim(node);
    const EdgeList& edges = node->next_edges();
    for (size_t i = 0; i < edges.size(); ++i)
        if (edges[i].is_valid()) deliver(task, edges[i], std::move(outputs[i]));
}

TensorList Engine::call_function(GraphTask& task, Node* node, TensorList inputs) {
    NodeHooks* node_hooks = node->hooks();
    NodeGuard current(node);
    std::optional<AutoGradMode> unrecorded;
    if (task.hands_out_detached && node->next_edges().empty()) [[unlikely]] {  // an accumulator
        unrecorded.emplace(false);
        detach_all(inputs);
    }
    TensorList kept;
    if (node_hooks || node->tensor_pre_hooks()) [[unlikely]]
        run_tensor_hooks(*node, inputs);
    if (node_hooks) [[unlikely]] {
        auto pre = node_hooks->pre_hooks;
        for (const auto& hook : pre) (*hook)(inputs);
        if (!node_hooks->post_hooks.empty()) kept = inputs;
    }
    TensorList outputs;
    try {
        outputs = node->apply(std::move(inputs));
        const EdgeList& edges = node->next_edges();
        bool ok = outputs.size() == edges.size();
        for (size_t i = 0; ok && i < edges.size(); ++i)
            ok = !outputs[i].defined() ||
                 (edges[i].is_valid() && fits(edges[i].function->input_metadata()[edges[i].input_nr], outputs[i]));
        if (!ok) validate_outputs(edges, outputs, node->name());
        if (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan()) [[unlikely]]
            check_nan(*node, outputs);
    } catch (...) {
        if (AnomalyMode::is_enabled() && make_anomaly_metadata) {
            if (!node->anomaly_metadata()) node->set_anomaly_metadata(make_anomaly_metadata());
            node->anomaly_metadata()->print_stack(node->name());
        }
        throw;
    }
    if (node_hooks && !node_hooks->post_hooks.empty()) {
        auto post = node_hooks->post_hooks;
        for (const auto& hook : post) (*hook)(outputs, kept);
    }
    if (!task.keep_graph) node->release_variables();
    return outputs;
}

// A small region of a big gradient goes straight into the next node's buffer (InputBuffer::add_part).
bool Engine::deliver_part(GraphTask& task, Node* node, const TensorList& inputs) {
    const Edge& edge = node->next_edges()[0];
    if (node->hooks() || AnomalyMode::is_enabled() || inputs.size() != 1 || !inputs[0].defined() || !edge.is_valid())
        return false;
    if (!task.contains(edge.function.get())) return false;
    EngineState& s = task.state_of(edge.function.get());
    if (s.buffer.empty()) s.buffer.resize(edge.function->num_inputs());
    const InputMetadata& metadata = edge.function->input_metadata()[edge.input_nr];
    if (!metadata.used || !InputBuffer(s.buffer).add_part(edge.input_nr, metadata, *node, inputs[0])) return false;
    if (!task.keep_graph) node->release_variables();
    task.unclaim(node);
    arrived(task, edge.function.get(), s);
    return true;
}

void Engine::deliver(GraphTask& task, const Edge& edge, Tensor grad) {
    Node* next = edge.function.get();
    if (task.selective && !task.wants(edge)) return;
    EngineState& s = task.state_of(next);
    if (s.buffer.empty()) s.buffer.resize(next->num_inputs());
    InputBuffer(s.buffer).add(edge.input_nr, std::move(grad));
    arrived(task, next, s);
}

void Engine::arrived(GraphTask& task, Node* next, EngineState& s) {
    if (--s.dependencies == 0)
        task.ready_queue.push_local({&task, next, next->sequence_nr(), task.reentrant_depth, false});
}

void Engine::queue_callback(std::function<void()> callback) {
    GraphTask* task = current_graph_task();
    check(task, ErrorKind::Runtime, "Final callbacks can only be installed during backward pass.");
    task->final_callbacks.push_back(std::move(callback));
}

std::vector<Node*> Engine::predicted_order() const {
    GraphTask* task = current_graph_task();
    check(task, ErrorKind::Runtime, "_current_graph_task_execution_order should only be called during backward pass");
    check(!state.multithreading, ErrorKind::Runtime,
          "_current_graph_task_execution_order may only be called when multithreading is disabled; use "
          "autograd.set_multithreading_enabled(False)");
    return predict_order(*task, task->roots[0].function.get());
}

bool Engine::is_checkpoint_valid() const noexcept {
    GraphTask* task = current_graph_task();
    return !task || !task->selective;
}

}  // namespace wengert
