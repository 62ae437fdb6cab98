// In-place operations: when they are allowed, and how history is rewritten after one (see recording.h).
#include "generated/ops/ops.h"
#include "ops/copy_slices.h"
#include "ops/recording.h"

namespace wengert {

void check_inplace(const Tensor& t, bool recorded) {
    if (!recorded || !GradMode::is_enabled()) return;
    if (ViewInfo* view = view_info(t)) {
        check(view->creation == CreationMeta::Default, ErrorKind::Runtime, creation_error(t, false));
        check(!(requires_grad(view->base) && is_leaf(view->base)), ErrorKind::Runtime,
              "a view of a leaf Variable that requires grad is being used in an in-place operation. Clone the leaf, or "
              "write under no_grad.");
    }
    check(!(requires_grad(t) && is_leaf(t)), ErrorKind::Runtime,
          "a leaf Variable that requires grad is being used in an in-place operation. Use an out-of-place operation, or "
          "write under no_grad.");
}

void rebase_history(const Tensor& t, const Ref<Node>& node) {
    ViewInfo* view = view_info(t);
    if (!view) {
        uint32_t nr = node->add_input_metadata(t);
        set_gradient_edge(t, Edge(node, nr));
        return;
    }
    check(node->num_inputs() == 0, ErrorKind::Runtime,
          "an in-place operation with several outputs cannot be recorded through a view; clone the view first");
    node->add_input_metadata(t);
    const Tensor& base = view->base;
    Ref<Node> slices = Ref<Node>::adopt(new CopySlices(base, t, view->replay, node));
    set_gradient_edge(base, Edge(slices, 0));
    view->attr_version = t.version() - 1;  // stale: made anew from the base when it is next asked for
    t.impl()->flags |= kRequiresGrad;
    grad_fn(t);
}

}  // namespace wengert
