#include "engine/engine.h"

#include <optional>

#include "base/memory/immortal.h"
#include "base/warns_once.h"
#include "engine/autograd.h"
#include "engine/devices/device_pass.h"
#include "engine/evaluate.h"
#include "engine/input_buffer.h"
#include "engine/other_thread.h"
#include "engine/parallel.h"
#include "engine/traverse.h"
#include "engine/validate.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "ops/basic_nodes.h"
#include "ops/graph_providers.h"
#include "ops/watch.h"

namespace wengert {
namespace {

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

// A node of the pass wants it recorded (Node::recorded_passes).
[[gnu::noinline]] void record_for_itself(GraphTask& task) {
    const int32_t innermost = innermost_dual_level();
    const bool tangents =
        state.mask & kHasTangent && innermost >= 0 && (state.hidden_from > 0 || sees_level(innermost));
    if (task.recorded_passes == RecordedPasses::UnderTangents && !tangents) return;
    task.keep_graph = task.create_graph = task.hands_out_detached = true;
}

}  // namespace

Engine& Engine::get_default_engine() noexcept {
    [[maybe_unused]] static const bool installed = (install_graph_providers(), autograd::install_derivative(), true);
    static Immortal<Engine> engine;
    return *engine;
}

TensorList Engine::execute(EdgeList roots, TensorList inputs, bool keep_graph, bool create_graph, bool accumulate_grad,
                           const EdgeList& outputs, bool as_asked) {
    validate_outputs(roots, inputs, nullptr);
    if (accumulate_grad && create_graph) {
        static WarnsOnce once;
        if (once.now())
            warn(WarningKind::User,
                 "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
                 "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
                 "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
                 "to None after use to break the cycle and avoid the leak.");
    }
    GraphTask task(keep_graph, create_graph, !outputs.empty());
    task.targets = outputs;
    if (roots.size() == 1) {
        task.roots = std::move(roots);
    } else {
        Ref<Node> root = Ref<Node>::adopt(new GraphRoot(std::move(roots), std::move(inputs)));
        task.roots.emplace_back(std::move(root), 0);
    }
    const Edge& root = task.roots[0];
    count_dependencies(task, root.function.get(), outputs, accumulate_grad, may_run_parallel());
    if (!create_graph && !as_asked && task.recorded_passes != RecordedPasses::AsAsked) [[unlikely]]
        record_for_itself(task);
    EngineState& s = task.state_of(root.function.get());
    s.buffer.resize(std::max<size_t>(root.function->num_inputs(), root.input_nr + 1));
    if (!inputs.empty()) s.buffer[root.input_nr] = std::move(inputs[0]);
    if (nesting.here > kMaxDepth)
        run_on_another_thread(hooks, [&] { run(task); });
    else
        run(task);
    if (task.hands_out_detached)
        for (Tensor& t : task.captured)
            if (t.defined()) t = without_history(t);
    if (task.captured.size() > 1) {
        AutoGradMode mode(create_graph);
        separate_aliases(task.captured);
    }
    return std::move(task.captured);
}

void Engine::run(GraphTask& task) {
    NestedPass nested;
    ThreadLocals::Pass undone;
    GraphTaskGuard current(&task);
    AutoGradMode mode(task.create_graph);
    if (Node* root = task.roots[0].function.get(); task.should_execute(root)) {
        if (task.uses_streams) [[unlikely]] {
            run_on_devices(hooks, task);
        } else if (!may_run_parallel() || !try_run_parallel(hooks, task)) {
            task.ready_queue.push(root);
            while (!task.ready_queue.empty()) {
                evaluate(task, task.ready_queue.pop());
                undone.undo();
            }
        }
    }
    // Callbacks may queue further ones.
    for (size_t i = 0; i < task.final_callbacks.size(); ++i) {
        auto callback = task.final_callbacks[i];
        callback();
    }
}

void Engine::evaluate(GraphTask& task, Node* node) {
    TensorList& grads = gradients_at(task, node);  // the pass has the node to itself, also while others run in hooks
    const WatchedNode watched(*node, grads, false);
    if (!runs(task, node)) {
        task.unclaim(node);
        return;
    }
    if (const Edge* edge = edge_to_scatter(task, node, grads)) {
        const WatchedNode body(*node, grads, true);
        Node* next = edge->function.get();
        EngineState& s = task.state_of(next);
        if (s.buffer.empty()) s.buffer.resize(next->num_inputs());
        InputBuffer(s.buffer).add_part(edge->input_nr, next->input_metadata()[edge->input_nr], *node, grads[0]);
        if (!task.keep_graph) node->release_variables();
        task.unclaim(node);
        arrived(task, *edge, s);
        return;
    }
    TensorList outputs = call_node(task, node, std::move(grads));
    task.unclaim(node);
    const EdgeList& edges = node->next_edges();
    for (size_t i = 0; i < edges.size(); ++i)
        if (edges[i].is_valid()) deliver(task, edges[i], std::move(outputs[i]));
}

void Engine::deliver(GraphTask& task, const Edge& edge, Tensor&& grad) {
    Node* next = edge.function.get();
    if (task.selective && !task.wants(edge)) return;
    EngineState& s = task.state_of(next);
    if (s.buffer.empty() && next->num_inputs() == 1) {
        s.buffer.emplace_in_room(std::move(grad));
    } else {
        if (s.buffer.empty()) s.buffer.resize(next->num_inputs());
        InputBuffer(s.buffer, next).add(edge.input_nr, std::move(grad));
    }
    arrived(task, edge, s);
}

void Engine::arrived(GraphTask& task, const Edge& edge, EngineState& s) {
    Node* next = edge.function.get();
    if (--s.dependencies > 0)
        task.note_waiting(s.buffer[edge.input_nr]);
    else
        task.ready_queue.push(next);
}

void Engine::queue_callback(std::function<void()> callback) {
    GraphTask* task = get_current_graph_task();
    check(task, ErrorKind::Runtime, "Final callbacks can only be installed during backward pass.");
    std::lock_guard lock(task->callbacks_mutex);
    task->final_callbacks.push_back(std::move(callback));
}

std::vector<Node*> Engine::predicted_order() const {
    GraphTask* task = get_current_graph_task();
    check(task, ErrorKind::Runtime,
          "_current_graph_task_execution_order should only be called during the backward pass");
    check(!state.multithreading, ErrorKind::Runtime,
          "_current_graph_task_execution_order expects the current backward to be executed with multithreading "
          "disabled; use "
          "autograd.set_multithreading_enabled(False)");
    return predict_order(*task, task->roots[0].function.get());
}

bool Engine::is_checkpoint_valid() const noexcept {
    GraphTask* task = get_current_graph_task();
    return !task || !task->selective;
}

}  // namespace wengert
