// Engine: runs the backward pass.
//
// `execute` takes root edges with their gradients and pushes gradients along next_edges until nothing is left:
//
//   1. check the given gradients against the roots' metadata;
//   2. walk the graph once: claim every reachable node, count how many gradients each will receive, and, in a selective
//      pass, mark the nodes that lead to a requested input;
//   3. while a node is ready, take the one created last, run it (hooks, body, hooks), check what it returned, release
//      its saved tensors unless the graph is kept, and add each result to the buffer of the next node; a node whose last
//      gradient has arrived becomes ready.
//
// Nothing here recurses over the graph. A pass runs on the thread that called it, with helpers if that is asked for and
// worth it (parallel.h); a pass started inside another one runs in place, until the nesting is so deep that it continues
// on another thread. Errors leave every node as it was: what a failed pass claimed is given back, saved tensors of nodes
// that had not run stay.
//
// Read `execute` here, then evaluate.h. The per-pass state is explained in graph_task.h.
#pragma once

#include "engine/graph_task.h"
#include "tensor/tensor_list.h"

namespace wengert {

struct EngineHooks {
    // Runs f(context) while other threads may run Python; the Python layer releases the interpreter lock around it.
    void (*run_blocking)(void (*f)(void*), void* context) = nullptr;
};

class Engine {
public:
    // So many nested passes run on top of each other on one thread.
    static constexpr int32_t kMaxDepth = 60;

    static Engine& get_default_engine() noexcept;

    // Returns the gradients at `outputs`; with `accumulate_grad` (backward) returns nothing and lets leaves accumulate, all
    // or just those in `outputs`. `as_asked`: recorded only with `create_graph`, whatever nodes want.
    TensorList execute(EdgeList roots, TensorList inputs, bool keep_graph, bool create_graph, bool accumulate_grad,
                       const EdgeList& outputs = {}, bool as_asked = false);

    // Runs `callback` when the current pass has finished; an error outside of one.
    void queue_callback(std::function<void()> callback);
    // The nodes of the current pass in the order in which one thread runs them.
    std::vector<Node*> predicted_order() const;
    // False while a selective pass runs: re-entrant checkpointing needs to know.
    bool is_checkpoint_valid() const noexcept;

    EngineHooks hooks;

private:
    void run(GraphTask& task);
    void evaluate(GraphTask& task, Node* node);
    void deliver(GraphTask& task, const Edge& edge, Tensor&& grad);
    void arrived(GraphTask& task, const Edge& edge, EngineState& s);
};

}  // namespace wengert
