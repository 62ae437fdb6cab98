// In-place operations: when they are allowed, and how history is rewritten after one (see recording.h).
#include "generated/ops/operators.h"
#include "graph/retained_grad.h"
#include "ops/copy_slices.h"
#include "ops/recording.h"
#include "tensor/writes/writable.h"

namespace wengert {

// A write validates everything before it touches memory: whether `t` may be written at all, here; dtypes, shapes, domains
// and indices, in the kernel. What raises has changed nothing (tests/ops/test_nothing_changed.py).
void check_inplace(const Tensor& t, bool recorded) {
    check_writable(t);
    announce_write(t);
    if (!recorded || !GradMode::is_enabled()) return;
    if (ViewInfo* view = view_info(t)) {
        if (view->creation != CreationMeta::Default) fail(ErrorKind::Runtime, creation_error(t, false));
        // A view may be a leaf of its own, of a base that needs no gradient.
        check(!((requires_grad(view->base) || requires_grad(t)) && is_leaf(view->base)), ErrorKind::Runtime,
              "a view of a leaf Variable that requires grad is being used in an in-place operation. Clone the leaf, or "
              "write under no_grad.");
    }
    // Of a view without a flag of its own the base has been asked.
    check(
        !((t.flags() & kRequiresGrad) && is_leaf(t)), ErrorKind::Runtime,
        "a leaf Variable that requires grad is being used in an in-place operation. Use an out-of-place operation, or "
        "write under no_grad.");
}

namespace {

// The tensor gets a new node: its hooks stay on the old one, a retained gradient follows the tensor.
void replace_history(const Tensor& t, Ref<Node> node, uint32_t output_nr) {
    AutogradMeta& meta = materialize_meta(t);
    if (TensorHooks* hooks = meta.hooks()) hooks->pre_hooks.clear();
    std::swap(meta.grad_fn, node);
    std::swap(meta.output_nr, output_nr);
    t.impl()->flags |= kRequiresGrad;
    if (meta.view) meta.view->attr_version = t.version();
    if (meta.retains_grad) [[unlikely]]
        move_retained_grad(t, node.get(), output_nr);
}

}  // namespace

void set_reshaped_history(const Tensor& t, const Ref<Node>& node) {
    if (AnomalyMode::searches_nan()) [[unlikely]]
        note_nan(*node, t);
    const uint32_t nr = node->add_input_metadata(t);
    replace_history(t, node, nr);
}

void rebase_history(const Tensor& t, const Ref<Node>& node, bool overwrites) {
    if (AnomalyMode::searches_nan()) [[unlikely]]
        note_nan(*node, t);
    ViewInfo* view = view_info(t);
    if (!view) {
        uint32_t nr = node->add_input_metadata(t);
        replace_history(t, node, nr);
        return;
    }
    check(node->num_inputs() == 0, ErrorKind::Runtime,
          "an in-place operation with several outputs cannot be recorded through a view; clone the view first");
    node->add_input_metadata(t);
    const Tensor& base = view->base;
    replace_history(base, Ref<Node>::adopt(new CopySlices(t, *view, node, overwrites)), 0);
    view->attr_version = t.version() - 1;  // its own history is stale: grad_fn makes it anew from the base's
    t.impl()->flags |= kRequiresGrad;
    AutogradMeta& meta = *meta_of(t);
    if (TensorHooks* hooks = meta.hooks()) hooks->pre_hooks.clear();
    // At once, so that it holds whatever becomes of the base; but a view that Python never saw, as that of o[i] = v, has
    // done its duty.
    if (t.impl()->pyobj || meta.retains_grad) grad_fn(t);
}

}  // namespace wengert
