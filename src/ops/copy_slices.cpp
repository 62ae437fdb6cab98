#include "ops/copy_slices.h"

#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "kernels/indexing/take_out.h"
#include "ops/accumulate_grad.h"
#include "ops/recording.h"

namespace wengert {
namespace {

thread_local constinit CopySlices* running = nullptr;  // whose wrapped node computes on this thread

struct Running {
    explicit Running(CopySlices* node) noexcept : previous(std::exchange(running, node)) {}
    ~Running() { running = previous; }
    CopySlices* previous;
};

}  // namespace

CopySlices::CopySlices(const Tensor& view, const ViewInfo& info, Ref<Node> wrapped, bool overwrites)
    : wrapped_(std::move(wrapped)),
      overwrites_(overwrites),
      asks_(!overwrites),
      base_strides_(info.base.strides()),
      view_strides_(view.strides()),
      base_offset_(info.base.offset()),
      view_offset_(view.offset()) {
    if (info.replay) replay_ = info.replay;
    add_next_edge(gradient_edge(info.base));
    for (size_t i = 1; i < wrapped_->num_outputs(); ++i) {
        const Edge& edge = wrapped_->next_edges()[i];
        asks_ |= edge.is_valid();
        add_next_edge(edge);
    }
    // Edge 0 leads to the base's former history, for the wrapped node too: so that it computes the region's gradient just
    // when the base's is wanted, and there is something to compute.
    if (!overwrites || wrapped_->should_compute_output(0))
        wrapped_->set_next_edge(0, overwrites ? Edge() : next_edges()[0]);
    add_input_metadata(info.base);
}

// The gradient where this node may write to it, in the layout of the base.
Tensor CopySlices::own(Tensor&& grad) const {
    if (!GradMode::is_enabled() && is_uniquely_owned(grad) && grad.strides() == base_strides_ &&
        !(grad.flags() & kDispatched)) {
        drop_base(grad);
        return std::move(grad);
    }
    if (grad.flags() & kDispatched) return ops::clone(grad);
    Tensor copy = empty_strided(base_sizes(), base_strides_, grad.dtype(), grad.device());
    ops::copy_(copy, grad);
    return copy;
}

Tensor CopySlices::region_of(const Tensor& grad) const {
    return replay_ ? replay_(grad) : ops::as_strided(grad, view_sizes(), view_strides_, offset_in(grad));
}

TensorList CopySlices::run_wrapped(TensorList&& grads) {
    const Running guard(this);
    return (*wrapped_)(std::move(grads));
}

// Adds the base's gradient to those of the wrapped node, and drops what nobody wants.
void CopySlices::complete(TensorList& out, Tensor&& grad) const {
    if (out.size() != num_outputs()) out.resize(num_outputs());
    out[0] = std::move(grad);
    for (size_t i = 0; i < out.size(); ++i)
        if (!should_compute_output(i)) out[i].reset();
}

TensorList CopySlices::apply(TensorList&& grads) {
    if (!grads[0].defined()) return TensorList(num_outputs());
    Tensor grad = own(std::move(grads[0]));
    // Most often nobody differentiates or looks on.
    if (overwrites_ && asks_ && !replay_ && !GradMode::is_enabled() && !needs_slow_path(grad)) {
        grads[0] = kernels::take_out(grad, view_sizes(), view_strides_, offset_in(grad));
        TensorList out = run_wrapped(std::move(grads));
        complete(out, std::move(grad));
        return out;
    }
    Tensor region = region_of(grad);
    TensorList out;
    if (asks_) out = run_wrapped({ops::clone(region)});
    if (should_compute_output(0)) {
        if (!out.empty() && out[0].defined())
            ops::copy_(region, out[0]);
        else
            ops::zero_(region);
    }
    region.reset();
    complete(out, std::move(grad));
    return out;
}

Tensor CopySlices::attach_region(const Tensor& region, Node* wrapped) {
    check(running && running->wrapped_.get() == wrapped, ErrorKind::Runtime,
          "the saved result of an in-place operation on a view can be used in backward only");
    const CopySlices& self = *running;
    const InputMetadata& metadata = self.input_metadata()[0];
    Tensor base = alias_as(region, metadata.dtype, metadata.sizes, self.base_strides_, self.base_offset_);
    set_gradient_edge(base, Edge(Ref<Node>::share(running), 0));
    return self.region_of(base);
}

}  // namespace wengert
