#include "engine/autograd.h"

#include "engine/engine.h"
#include "graph/derivative.h"
#include "ops/hooks.h"

namespace wengert::autograd {
namespace {

struct Roots {
    EdgeList edges;
    TensorList grads;
};

Roots roots_of(const TensorList& tensors, const TensorList& grads, const char* what) {
    check(grads.empty() || grads.size() == tensors.size(), ErrorKind::Runtime, "got ", tensors.size(), " tensors and ",
          grads.size(), " gradients");
    Roots roots;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& t = tensors[i];
        Edge edge = requires_grad(t) ? gradient_edge(t) : Edge();
        check(edge.is_valid(), ErrorKind::Runtime, "element ", i, " of ", what,
              " does not require grad and does not have a grad_fn");
        Tensor grad = grads.empty() ? Tensor() : grads[i];
        if (!grad.defined()) {
            check(t.numel() == 1, ErrorKind::Runtime,
                  "grad can be implicitly created only for scalar outputs, got shape ", ShapeOf{t.sizes()});
            grad = full(t.sizes(), 1, t.dtype());
        }
        roots.edges.push_back(std::move(edge));
        roots.grads.push_back(std::move(grad));
    }
    return roots;
}

EdgeList edges_of(const TensorList& inputs) {
    EdgeList edges;
    for (const Tensor& t : inputs) {
        check(requires_grad(t), ErrorKind::Runtime, "One of the differentiated Tensors does not require grad");
        edges.push_back(gradient_edge(t));
    }
    return edges;
}

}  // namespace

void backward(const TensorList& tensors, const TensorList& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const TensorList& inputs) {
    Roots roots = roots_of(tensors, grad_tensors, "tensors");
    bool keep = retain_graph.value_or(create_graph);
    Engine& engine = Engine::get_default_engine();
    for (const Tensor& t : inputs) retain_grad(t);
    engine.execute(std::move(roots.edges), std::move(roots.grads), keep, create_graph, true, edges_of(inputs));
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
    check(!inputs.empty(), ErrorKind::Runtime, "grad requires non-empty inputs.");
    Roots roots = roots_of(outputs, grad_outputs, "outputs");
    bool keep = retain_graph.value_or(create_graph);
    TensorList grads = Engine::get_default_engine().execute(std::move(roots.edges), std::move(roots.grads), keep,
                                                            create_graph, false, edges_of(inputs));
    for (size_t i = 0; i < grads.size(); ++i)
        check(allow_unused || grads[i].defined(), ErrorKind::Runtime, "The differentiated Tensor at index ", i,
              " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
    return grads;
}

void install_derivative() noexcept {
    derivatives_of = [](const Tensor& of, EdgeList edges, const Tensor& cotangent, bool create_graph) {
        Roots roots = roots_of({of}, {cotangent}, "outputs");
        return Engine::get_default_engine().execute(std::move(roots.edges), std::move(roots.grads), true, create_graph,
                                                    false, std::move(edges), true);
    };
}

}  // namespace wengert::autograd
