// What the graph layer asks of this one: accumulators for leaves, and new grad_fns for views whose base was written.
#include "ops/graph_providers.h"

#include "generated/ops/graph.h"
#include "generated/ops/operators.h"
#include "generated/ops/views.h"
#include "ops/accumulate_grad.h"
#include "ops/basic_nodes.h"
#include "ops/copy_slices.h"
#include "ops/recording.h"

namespace wengert {
namespace {

// The same view taken again from the base as it is now; recorded whatever the caller's grad mode.
Ref<Node> regenerate_view_grad_fn(const Tensor& t) {
    AutoGradMode enable(true);
    ViewInfo* view = view_info(t);
    Tensor again =
        view->replay ? view->replay(view->base) : ops::as_strided(view->base, t.sizes(), t.strides(), t.offset());
    if (AutogradMeta* meta = meta_of(again); meta && meta->grad_fn) return meta->grad_fn;
    // The base is a constant now, and with it what is seen of it.
    auto nowhere = Ref<UndefinedGradBackward>::adopt(new UndefinedGradBackward);
    nowhere->add_input_metadata(t);
    nowhere->add_next_edge(Edge());
    return nowhere;
}

}  // namespace

void install_graph_providers() noexcept {
    graph_providers.make_accumulator = AccumulateGrad::of;
    graph_providers.regenerate_view_grad_fn = regenerate_view_grad_fn;
    graph_providers.detach_by_mode = ops::detach;
    graph_providers.attach_region = CopySlices::attach_region;
}

namespace {
[[maybe_unused]] const bool installed = (install_graph_providers(), true);
}

}  // namespace wengert
