#include "ops/basic_nodes.h"

#include "ops/recording.h"

namespace wengert {
namespace {

// New leaves on the inputs' memory with `node` behind them.
TensorList passed_through(const TensorList& inputs, const Ref<Node>& node) {
    TensorList out;
    for (const Tensor& t : inputs) {
        Tensor o = t.defined() ? detach(t) : Tensor();
        set_history(o, node);
        out.push_back(std::move(o));
    }
    return out;
}

}  // namespace

GraphRoot::GraphRoot(EdgeList roots, TensorList grads) : grads_(std::move(grads)) { set_next_edges(std::move(roots)); }

TensorList DelayedError::operator()(const TensorList& inputs) const {
    check(inputs.size() == num_inputs_, ErrorKind::Type, "DelayedError: expected ", num_inputs_, " arguments, got ",
          inputs.size(), " instead");
    return passed_through(inputs, Ref<Node>::adopt(new ErrorNode(message_, collect_next_edges(TensorSpan(inputs)))));
}

TensorList undefined_grad(const TensorList& inputs) {
    Ref<Node> node = Ref<Node>::adopt(new UndefinedGradBackward);
    node->set_next_edges(collect_next_edges(TensorSpan(inputs)));
    return passed_through(inputs, node);
}

}  // namespace wengert
