#include "ops/copy_slices.h"

#include "generated/ops/ops.h"
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

CopySlices::CopySlices(const Tensor& base, const Tensor& view, std::function<Tensor(const Tensor&)> replay,
                       Ref<Node> wrapped)
    : base_sizes_(base.sizes()),
      base_strides_(base.strides()),
      view_sizes_(view.sizes()),
      view_strides_(view.strides()),
      base_offset_(base.offset()),
      view_offset_(view.offset()),
      base_dtype_(base.dtype()),
      replay_(std::move(replay)),
      wrapped_(std::move(wrapped)) {
    // Edge 0 leads to the base's former history, for the wrapped node too: so that it computes the region's gradient just
    // when the base's is wanted.
    wrapped_->set_next_edge(0, gradient_edge(base));
    set_next_edges(wrapped_->next_edges());
    add_input_metadata(base);
}

Tensor CopySlices::region_of(const Tensor& grad) const {
    return replay_ ? replay_(grad)
                   : ops::as_strided(grad, view_sizes_, view_strides_, grad.offset() + view_offset_ - base_offset_);
}

TensorList CopySlices::apply(TensorList&& grads) {
    TensorList out(num_outputs());
    Tensor grad = std::move(grads[0]);
    if (!grad.defined()) return out;
    Tensor result;
    if (!GradMode::is_enabled() && is_uniquely_owned(grad) && grad.strides() == base_strides_) {
        result = std::move(grad);
    } else {
        result = empty_strided(base_sizes_, base_strides_, grad.dtype());
        ops::copy_(result, grad);
    }
    Tensor region = region_of(result);
    TensorList inner = [&] {
        const Running guard(this);
        return (*wrapped_)({ops::clone(region)});
    }();
    for (size_t i = 0; i < inner.size() && i < out.size(); ++i) {
        if (!should_compute_output(i)) continue;
        if (i == 0) {
            if (inner[0].defined())
                ops::copy_(region, inner[0]);
            else
                ops::zero_(region);
            region.reset();
            out[0] = std::move(result);
        } else {
            out[i] = std::move(inner[i]);
        }
    }
    return out;
}

Tensor CopySlices::attach_region(const Tensor& region, Node* wrapped) {
    check(running && running->wrapped_.get() == wrapped, ErrorKind::Runtime,
          "the saved result of an in-place operation on a view can be used in backward only");
    const CopySlices& self = *running;
    Tensor base = alias_as(region, self.base_dtype_, self.base_sizes_, self.base_strides_, self.base_offset_);
    set_gradient_edge(base, Edge(Ref<Node>::share(running), 0));
    return self.region_of(base);
}

}  // namespace wengert
