#include "engine/autograd.h"

#include "engine/engine.h"
#include "engine/entry.h"
#include "graph/derivative.h"

namespace wengert::autograd {
namespace {

struct Roots {
    EdgeList edges;
    TensorList grads;
};

Roots roots_of(const TensorList& tensors, const TensorList& grads) {
    if (!grads.empty()) check_number_of_gradients(tensors.size(), grads.size());
    Roots roots;
    for (size_t i = 0; i < tensors.size(); ++i)
        roots.grads.push_back(root_gradient(tensors[i], grads.empty() ? Tensor() : grads[i], i));
    for (size_t i = 0; i < tensors.size(); ++i) roots.edges.push_back(root_edge(tensors[i], i));
    return roots;
}

EdgeList ends_of(const TensorList& inputs, bool accumulate) {
    EdgeList edges;
    for (const Tensor& t : inputs) edges.push_back(end_edge(t, accumulate));
    return edges;
}

}  // namespace

void backward(const TensorList& tensors, const TensorList& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const TensorList& inputs) {
    Roots roots = roots_of(tensors, grad_tensors);
    bool keep = retain_graph.value_or(create_graph);
    Engine::get_default_engine().execute(std::move(roots.edges), std::move(roots.grads), keep, create_graph, true,
                                         ends_of(inputs, true));
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
    check(!inputs.empty(), ErrorKind::Runtime, "grad requires non-empty inputs.");
    Roots roots = roots_of(outputs, grad_outputs);
    bool keep = retain_graph.value_or(create_graph);
    TensorList grads = Engine::get_default_engine().execute(std::move(roots.edges), std::move(roots.grads), keep,
                                                            create_graph, false, ends_of(inputs, false));
    if (!allow_unused) check_used(grads);
    return grads;
}

void install_derivative() noexcept {
    derivatives_of = [](const Tensor& of, EdgeList edges, const Tensor& cotangent, bool create_graph) {
        return Engine::get_default_engine().execute({root_edge(of, 0)}, {cotangent}, true, create_graph, false,
                                                    std::move(edges), true);
    };
}

}  // namespace wengert::autograd
