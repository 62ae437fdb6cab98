#include "ops/function.h"

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include <cstdlib>

#include "ops/recording.h"

namespace wengert {

TensorList AutogradContext::get_saved_variables() const {
    if (released_) raise_freed(node_);
    if (!to_save_.empty()) return to_save_;  // by jvp, which runs before they are saved
    TensorList out;
    for (const SavedVariable& v : saved_) out.push_back(v.unpack(node_));
    return out;
}

bool AutogradContext::needs_input_grad(size_t i) const noexcept {
    return i < node_->num_outputs() && node_->task_should_compute_output(i);
}

void CustomNode::add_argument(const Tensor& t) {
    is_tensor_.push_back(true);
    inputs_.push_back(t);
}

void CustomNode::add_argument(const TensorList& list) {
    for (const Tensor& t : list) add_argument(t);
}

void CustomNode::connect() {
    recorded_ = records(TensorSpan(inputs_));
    if (recorded_) set_next_edges(collect_next_edges(TensorSpan(inputs_)));
}

TensorList CustomNode::finish(const TensorList& raw) {
    // The node keeps none of these: a tensor that forward changed owns the node from now on.
    const auto inputs = std::exchange(inputs_, {});
    const TensorSet non_differentiable = std::exchange(context.non_differentiable_, {});
    const TensorSet dirty = std::exchange(context.dirty_, {});
    CustomOutputs custom{inputs, non_differentiable, dirty, recorded_ ? Ref<Node>::share(this) : Ref<Node>(), nullptr};
    if (has_jvp()) custom.jvp = [this](const TensorList& tangents) { return jvp(tangents); };
    TensorList outputs = wrap_outputs(custom, raw);
    for (const Tensor& t : context.to_save_) {
        bool is_output = t.defined() && meta_of(t) && meta_of(t)->grad_fn.get() == this;
        if (recorded_) context.saved_.emplace_back(t, is_output);
    }
    context.to_save_.clear();
    return outputs;
}

TensorList CustomNode::apply(TensorList&& grads) {
    if (context.materialize_grads_)
        for (size_t i = 0; i < grads.size(); ++i) {
            const InputMetadata& m = input_metadata()[i];
            if (!grads[i].defined() && m.used) grads[i] = zeros(m.sizes, m.dtype, m.device);
        }
    TensorList results = backward(std::move(grads));
    // Undefined ones at the end may be left out, or be too many, as None in Python.
    while (results.size() > is_tensor_.size() && !results.back().defined()) results.pop_back();
    size_t wanted = is_tensor_.size();
    while (wanted > 0 && !is_tensor_[wanted - 1]) --wanted;
    if (results.size() > is_tensor_.size() || results.size() < wanted)
        fail(ErrorKind::Runtime, "function ", name(), " returned an incorrect number of gradients (expected ",
             is_tensor_.size(), ", got ", results.size(), ")");
    TensorList out;
    for (size_t i = 0; i < is_tensor_.size(); ++i) {
        Tensor grad = i < results.size() ? std::move(results[i]) : Tensor();
        if (!is_tensor_[i] && grad.defined())
            fail(ErrorKind::Runtime, "function ", name(),
                 " returned a gradient different than an undefined Tensor at position ", i + 1,
                 ", but the corresponding forward input was not a Tensor");
        if (is_tensor_[i]) out.push_back(std::move(grad));
    }
    return out;
}

void CustomNode::release_variables() {
    context.released_ = true;
    for (SavedVariable& v : context.saved_) v.reset_data();
}

std::string function_name(const char* type_name) {
    std::string name = type_name;
#if __has_include(<cxxabi.h>)
    int status = 0;
    if (char* readable = abi::__cxa_demangle(type_name, nullptr, nullptr, &status)) {
        name = readable;
        std::free(readable);
    }
#endif
    size_t at = name.rfind(':');
    return at == std::string::npos ? name : name.substr(at + 1);
}

}  // namespace wengert
