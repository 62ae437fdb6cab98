#include "ops/function.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

namespace wengert {

TensorList AutogradContext::get_saved_variables() const {
    if (node_->released_) raise_freed();
    TensorList out;
    for (const SavedVariable& v : node_->saved_) out.push_back(v.unpack(node_));
    return out;
}

void AutogradContext::mark_dirty(const TensorList& inputs) {
    dirty_.clear();
    for (const Tensor& t : inputs) dirty_.insert(t.impl());
}

void AutogradContext::mark_non_differentiable(const TensorList& outputs) {
    non_differentiable_.clear();
    for (const Tensor& t : outputs) non_differentiable_.insert(t.impl());
}

bool AutogradContext::needs_input_grad(size_t argument) const {
    if (!node_->recorded_ || !node_->is_tensor_.at(argument)) return false;
    size_t edge = node_->edge_of(argument);
    return current_node() == node_ ? node_->task_should_compute_output(edge) : node_->should_compute_output(edge);
}

size_t FunctionNode::edge_of(size_t argument) const {
    return static_cast<size_t>(std::count(is_tensor_.begin(), is_tensor_.begin() + static_cast<long>(argument), true));
}

// The class's own name, as Python's Functions have it: "SquareBackward".
std::string FunctionNode::name() const {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(type().name(), nullptr, nullptr, &status),
                                                    std::free);
    std::string full = status == 0 ? readable.get() : type().name();
    size_t scope = full.rfind("::");
    return (scope == std::string::npos ? full : full.substr(scope + 2)) + "Backward";
}

void FunctionNode::connect(TensorList inputs, std::vector<bool> is_tensor) {
    inputs_ = std::move(inputs);
    is_tensor_ = std::move(is_tensor);
    recorded_ = records(TensorSpan(inputs_));
    if (recorded_) set_next_edges(collect_next_edges(TensorSpan(inputs_)));
}

TensorList FunctionNode::finish(const TensorList& raw) {
    auto tangents_of_outputs = [this](const TensorList& tangents) {
        TensorList filled = tangents;
        for (size_t i = 0; context.materialize_grads_ && i < filled.size(); ++i)
            if (const Tensor& t = inputs_[i]; !filled[i].defined() && t.defined() && is_differentiable(t.dtype()))
                filled[i] = zeros(t.sizes(), t.dtype(), t.device());
        return jvp(std::move(filled));
    };
    CustomOutputs custom{inputs_, context.non_differentiable_, context.dirty_,
                         recorded_ ? Ref<Node>::share(this) : Ref<Node>(), nullptr};
    if (has_jvp()) custom.jvp = tangents_of_outputs;
    TensorList outputs = wrap_outputs(custom, raw);
    if (recorded_)
        for (const Tensor& t : context.to_save_) saved_.emplace_back(t, t.defined() && grad_fn(t).get() == this);
    context.to_save_.clear();
    context.dirty_.clear();
    inputs_.clear();
    return outputs;
}

TensorList FunctionNode::apply(TensorList&& grads) {
    for (size_t i = 0; context.materialize_grads_ && i < grads.size(); ++i)
        if (const InputMetadata& m = input_metadata()[i]; !grads[i].defined() && m.used)
            grads[i] = zeros(m.sizes, m.dtype, m.device);
    TensorList given = backward(std::move(grads));

    size_t n = given.size();
    while (n > is_tensor_.size() && !given[n - 1].defined()) --n;
    while (n < is_tensor_.size() && !is_tensor_[n]) given.resize(std::max(given.size(), ++n));
    check(n == is_tensor_.size(), ErrorKind::Runtime, "function ", name(),
          " returned an incorrect number of gradients (expected ", is_tensor_.size(), ", got ", n, ")");
    TensorList out;
    for (size_t i = 0; i < n; ++i) {
        if (is_tensor_[i]) {
            out.push_back(std::move(given[i]));
            continue;
        }
        check(!given[i].defined(), ErrorKind::Runtime, "function ", name(),
              " returned a gradient different than None at position ", i + 1,
              ", but the corresponding forward input was not a Variable");
    }
    return out;
}

void FunctionNode::release_variables() {
    released_ = true;
    for (SavedVariable& v : saved_) v.reset_data();
}

}  // namespace wengert
