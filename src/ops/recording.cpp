#include "ops/recording.h"

#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "kernels/reductions/nan_check.h"
#include "tensor/writes/region.h"

namespace wengert {

constinit thread_local WriteObserver* write_observer = nullptr;

uint32_t flags_of(TensorSpan ts) noexcept {
    uint32_t flags = 0;
    for (const Tensor& t : ts) flags |= flags_of(t);
    return flags;
}

void refuse_batched_out(const char* op) {
    fail(ErrorKind::Runtime, "Batching rule not implemented for ", op,
         ".out; the fallback path doesn't work on out= or view ops. Use the result instead of out=.");
}

bool any_requires_grad(TensorSpan ts) noexcept {
    for (const Tensor& t : ts)
        if (requires_grad(t)) return true;
    return false;
}

void note_nan(Node& node, const Tensor& output) {
    if (node.anomaly_metadata() && kernels::any_nan(output)) node.anomaly_metadata()->nan_result = true;
}

namespace {

[[gnu::noinline]] void connect_in_general(Node& node, TensorImpl* t) {
    if (t && requires_grad(t))
        node.add_next_edge(gradient_edge(t));
    else
        node.add_next_edge(Edge());
}

[[gnu::noinline]] void give_history_in_general(const Tensor& output, Node* node) {
    set_history(output, Ref<Node>::adopt(node));
}

}  // namespace

// This and `give_history` run for each recorded operation. They need no stack: whatever is not usual is left to another
// function by a jump.
void connect_to(Node& node, TensorImpl* t) {
    const uint32_t flags = t ? t->flags & (kRequiresGrad | kIsView) : 0;
    bool done = false;
    if (flags == 0) {
        done = node.add_next_edge_in_room(nullptr, 0);
    } else if (const AutogradMeta* meta = flags == kRequiresGrad ? meta_of(t) : nullptr) {
        if (Node* function = meta->grad_fn.get())
            done = node.add_next_edge_in_room(function, meta->output_nr);
        else if (Node* accumulator = evident_accumulator(*meta))
            done = node.add_next_edge_in_room(accumulator, 0);
    }
    if (!done) [[unlikely]]
        return connect_in_general(node, t);
}

void give_history(const Tensor& output, Node* node) {
    TensorImpl* t = output.impl();
    if (!t || t->meta || AnomalyMode::is_enabled() || !is_differentiable(t->dtype) || !node->can_add_first_input(*t))
        [[unlikely]]
        return give_history_in_general(output, node);
    void* block = slab_take<sizeof(AutogradMeta)>();
    if (!block) [[unlikely]]
        return give_history_in_general(output, node);
    node->add_first_input(*t);
    t->meta = new (block) AutogradMeta(Ref<Node>::adopt(node), 0);
    t->flags |= kRequiresGrad;
}

void set_history(const Tensor& output, const Ref<Node>& node) {
    if (!output.defined()) {
        node->add_undefined_input();
        return;
    }
    if (AnomalyMode::searches_nan()) [[unlikely]]
        note_nan(*node, output);
    const uint32_t nr = node->add_input_metadata(output);
    if (!is_differentiable(output.dtype())) return;
    if (output.impl()->meta) return set_gradient_edge(output, Edge(node, nr));
    output.impl()->meta = new AutogradMeta(node, nr);  // nearly always: the tensor is new
    output.impl()->flags |= kRequiresGrad;
}

void set_history(TensorSpan outputs, const Ref<Node>& node) {
    for (const Tensor& t : outputs) set_history(t, node);
}

namespace {

using Replay = std::function<Tensor(const Tensor&)>;

Replay geometry_of(const Tensor& t) {
    return [sizes = t.sizes(), strides = t.strides(), offset = t.offset()](const Tensor& b) {
        return ops::as_strided(b, sizes, strides, offset);
    };
}

// One link that as_strided cannot express makes a whole chain of views a composition: `replay` leads to `t`, `next` from
// there to `out`.
Replay chained(const Tensor& t, const Replay& replay, const Tensor& out, Replay next) {
    return [first = replay ? replay : geometry_of(t),
            second = next ? std::move(next) : geometry_of(out)](const Tensor& b) { return second(first(b)); };
}

// A replay knows the shape that the base had: `t_` and the like may have changed it since.
Replay checked(const Tensor& base, Replay replay) {
    return [sizes = base.sizes(), strides = base.strides(), replay = std::move(replay)](const Tensor& b) {
        bool same = b.sizes() == sizes;
        for (size_t d = 0; same && d < sizes.size(); ++d) same = sizes[d] <= 1 || b.strides()[d] == strides[d];
        check(same, ErrorKind::Runtime,
              "the shape of the base of a view has been modified inplace (t_, squeeze_, resize_ or the like) since the "
              "view was made, from ",
              ShapeOf{sizes}, " to ", ShapeOf{b.sizes()},
              ", so that its history cannot be made anew; take the view again");
        return replay(b);
    };
}

}  // namespace

Tensor as_view(const Tensor& base, Tensor out, CreationMeta creation, std::function<Tensor(const Tensor&)> replay) {
    if (out.is_same(base) || (out.flags() & kInference)) return out;
    if (creation == CreationMeta::Default || creation == CreationMeta::MultiOutputNode) {
        if (state.inference)
            creation = CreationMeta::InferenceMode;
        else if (!state.grad_enabled)
            creation = CreationMeta::NoGradMode;
    }
    std::unique_ptr<ViewInfo> view(new ViewInfo);  // make_unique would fill it with zeros first
    if (ViewInfo* parent = view_info(base)) {
        view->base = parent->base;
        view->forward_base = parent->forward ? parent->forward_base : base;
        if (creation == CreationMeta::Default || parent->creation == CreationMeta::InferenceMode)
            creation = parent->creation;
        if (replay || parent->replay) view->replay = chained(base, parent->replay, out, std::move(replay));
    } else {
        view->base = base;
        if (replay) view->replay = checked(base, std::move(replay));
    }
    view->creation = creation;
    view->forward = GradMode::is_forward_enabled();
    view->attr_version = out.version();
    materialize_meta(out).view = std::move(view);
    out.impl()->flags |= kIsView;
    return out;
}

void take_shape(const Tensor& t, const Tensor& seen, std::function<Tensor(const Tensor&)> replay) {
    note_swap(t);
    // The version has counted a write; it was one of nothing, so what others have saved has not changed.
    Storage& storage = *t.storage();
    if (storage.is_watched())
        storage.note_write(Region{}, "a change of shape");
    else
        ++storage.writes;
    if (ViewInfo* view = view_info(t); view && (view->replay || replay))
        view->replay = chained(t, view->replay, seen, std::move(replay));
    TensorImpl& impl = *t.impl();
    impl.sizes = seen.sizes();
    impl.strides = seen.strides();
    impl.numel = seen.numel();
    impl.offset = seen.offset();
}

namespace {

const Tensor& forward_base_of(const ViewInfo& view) {
    return view.forward_base.defined() ? view.forward_base : view.base;
}

// The base's tangent shares its layout with the base, so the view's tangent is a view of it.
Tensor part_of_tangent(const ViewInfo& view, const Tensor& t, const Tensor& base_tangent) {
    if (view.replay) return view.replay(base_tangent);
    return ops::as_strided(base_tangent, t.sizes(), t.strides(),
                           base_tangent.offset() + t.offset() - forward_base_of(view).offset());
}

}  // namespace

namespace {

bool may_inherit(const TensorImpl* t) noexcept {
    const ViewInfo* view = t->flags & kIsView ? meta_of(t)->view.get() : nullptr;
    return view && view->forward && (forward_base_of(*view).flags() & kHasTangent);
}

}  // namespace

void inherit_tangents(const Tensor& t) {
    if (!may_inherit(t.impl())) return;
    const ViewInfo* view = view_info(t);
    const Tensor base = forward_base_of(*view);
    for (int32_t level : meta_of(base.impl())->tangents->levels()) {
        if (!sees_level(level) || tangent_at(t, level).defined()) continue;
        LevelGuard hide(level);
        Tensor base_tangent = tangent_at(base, level);
        if (base_tangent.defined()) set_tangent(t, level, part_of_tangent(*view, t, base_tangent));
    }
}

int32_t highest_level(const Tensor& t) {
    if (!t.defined()) return -1;
    if (may_inherit(t.impl()) && GradMode::is_forward_enabled()) inherit_tangents(t);
    return visible_level(t.impl());
}
int32_t highest_level(const Operand& o) {
    if (!o.is_tensor()) return -1;
    return may_inherit(o.impl()) ? highest_level(o.tensor()) : visible_level(o.impl());
}
int32_t highest_level(TensorSpan ts) {
    int32_t level = -1;
    for (const Tensor& t : ts) level = std::max(level, highest_level(t));
    return level;
}

void set_inplace_tangent(const Tensor& t, int32_t level, Tensor tangent) {
    if (!tangent.defined()) return;
    ViewInfo* view = view_info(t);
    if (!view || !view->forward) {
        // The tangent is written in place as its primal was: views of it stay views.
        Tensor existing = tangent_at(t, level);
        LevelGuard hide(level);
        if (existing.defined() && !existing.is_same(tangent) && existing.sizes() == tangent.sizes() &&
            existing.dtype() == tangent.dtype() && !(requires_grad(existing) && is_leaf(existing)))
            ops::copy_(existing, tangent);
        else
            set_tangent(t, level, std::move(tangent));
        return;
    }
    LevelGuard hide(level);
    const Tensor& base = forward_base_of(*view);
    Tensor base_tangent = tangent_at(base, level);
    if (!base_tangent.defined()) {
        base_tangent = empty_strided(base.sizes(), base.strides(), base.dtype(), base.device());
        ops::zero_(base_tangent);
        set_tangent(base, level, base_tangent);
    }
    Tensor part = part_of_tangent(*view, t, base_tangent);
    if (!part.is_same(tangent)) ops::copy_(part, tangent);
    set_tangent(t, level, part);
}

Tensor reduce_grad(const Tensor& grad, IntSpan sizes, DType dtype) {
    if (!grad.defined()) return grad;
    Tensor out = grad;
    if (!std::ranges::equal(out.sizes(), sizes)) out = ops::sum_to_size(out, sizes);
    if (out.dtype() != dtype) out = ops::to_dtype(out, dtype);
    return out;
}

}  // namespace wengert
