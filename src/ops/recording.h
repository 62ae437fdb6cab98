// Recording: how a differentiable operation enters the graph. Generated operations consist of calls to these.
//
// The pattern of every operation `y = f(x)`:
//
//     if (!needs_slow_path(x)) return kernels::f(x);
//     if (int level = highest_level(x); level >= 0) {      // forward mode, graph/forward_grad.h
//         Tensor y, y_t;
//         { LevelGuard hide(level); y = f(x); y_t = <jvp formula over tangent_at(x, level)>; }
//         set_tangent(y, level, y_t);
//         return y;
//     }
//     Tensor y = kernels::f(x);
//     if (records(x)) {                                    // grad mode is on and x requires grad
//         auto node = make_node<FBackward0>();
//         connect(*node, x);
//         node->x_.save(x, false);
//         set_history(y, node);
//     }
//     return y;
//
// In-place operations ask check_inplace first and end with bump_version and rebase_history; views end with as_view.
#pragma once

#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "graph/saved_variable.h"
#include "graph/strict_singular.h"
#include "tensor/operand.h"

namespace wengert {

inline uint32_t flags_of(const Tensor& t) noexcept { return t.defined() ? t.flags() : 0; }
inline uint32_t flags_of(const Operand& o) noexcept { return o.flags(); }
uint32_t flags_of(TensorSpan ts) noexcept;

// What somebody asks of an operation beyond its values: 0 for nothing, kRequiresGrad for a record and nothing else.
template <class... Args>
inline uint32_t asked_of(const Args&... args) noexcept {
    return state.watch | ((flags_of(args) | ... | 0u) & state.mask);
}
template <class... Args>
inline bool needs_slow_path(const Args&... args) noexcept {
    return asked_of(args...) != 0;
}
// The same wherever the arguments lie: what a formula asks that has a quicker way to the values alone.
template <class... Args>
inline bool asks_more_than_values(const Args&... args) noexcept {
    return (asked_of(args...) & ~uint32_t{kOffHost}) != 0;
}

// --- Reverse mode
inline bool requires_grad(const Operand& o) noexcept { return o.is_tensor() && requires_grad(o.impl()); }
bool any_requires_grad(TensorSpan ts) noexcept;
inline bool requires_grad(TensorSpan ts) noexcept { return any_requires_grad(ts); }

template <class... Args>
inline bool records(const Args&... args) noexcept {
    return GradMode::is_enabled() && (requires_grad(args) || ...);
}

template <class N>
[[gnu::noinline]] Ref<N> make_traced_node() {
    return Ref<N>::adopt(new N);
}
template <class N>
[[gnu::always_inline]] inline Ref<N> make_node() {
    if constexpr (std::is_constructible_v<N, Node::Untraced>) {
        if (!Node::is_traced()) [[likely]]
            return Ref<N>::adopt(new N(Node::Untraced()));
    }
    return make_traced_node<N>();
}

inline void append_edge(EdgeList& edges, const Tensor& t) {
    edges.push_back(requires_grad(t) ? gradient_edge(t) : Edge());
}
inline void append_edge(EdgeList& edges, const Operand& o) {
    edges.push_back(requires_grad(o) ? gradient_edge(o.impl()) : Edge());
}
inline void append_edge(EdgeList& edges, TensorSpan ts) {
    for (const Tensor& t : ts) append_edge(edges, t);
}

// One edge per tensor argument; invalid for those that need no gradient. A number has one too, so that positions agree.
template <class... Args>
inline EdgeList collect_next_edges(const Args&... args) {
    EdgeList edges;
    (append_edge(edges, args), ...);
    return edges;
}

void connect_to(Node& node, TensorImpl* t);  // which may be null
inline void connect_to(Node& node, const Tensor& t) { connect_to(node, t.impl()); }
inline void connect_to(Node& node, const Operand& o) { connect_to(node, o.impl()); }
inline void connect_to(Node& node, TensorSpan ts) {
    for (const Tensor& t : ts) connect_to(node, t);
}
// As collect_next_edges, for a node that has none yet.
template <class... Args>
inline void connect(Node& node, const Args&... args) {
    (connect_to(node, args), ...);
}

// Makes `node` the grad_fn of `output`; integral outputs are left alone but keep their slot.
void set_history(const Tensor& output, const Ref<Node>& node);
void set_history(TensorSpan outputs, const Ref<Node>& node);
// Likewise of a node's only output; the caller's reference becomes that of the output.
void give_history(const Tensor& output, Node* node);

// In anomaly mode: marks the node if its forward result contains nan.
void note_nan(Node& node, const Tensor& output);

// --- In-place and out=
// Told of each in-place and out= write on its thread, while the thread's state has kWatchWrites.
class WriteObserver {
public:
    virtual void before_write(const Tensor& t) = 0;

protected:
    ~WriteObserver() = default;
};
extern constinit thread_local WriteObserver* write_observer;
inline void announce_write(const Tensor& t) {
    if (state.watch & kWatchWrites && write_observer) [[unlikely]]
        write_observer->before_write(t);
}
// Raises if `t` may not be written: a leaf that requires grad, a view of one, a view with a restricted creation.
void check_inplace(const Tensor& t, bool recorded);
// After an in-place operation: `node` becomes the history of `t`, through CopySlices if `t` is a view. `overwrites`: the
// gradient of what `t` was before is zero.
void rebase_history(const Tensor& t, const Ref<Node>& node, bool overwrites = false);
// The highest level at which an operand carries a visible tangent, or -1.
int32_t highest_level(const Tensor& t);
int32_t highest_level(const Operand& o);
int32_t highest_level(TensorSpan ts);
// A view of a tensor that got its tangent later, by a write, has the same part of it: taken when someone asks.
void inherit_tangents(const Tensor& t);
// For out= variants.
[[noreturn]] void refuse_batched_out(const char* op);
template <class... Args>
inline void check_out(const char* op, const Tensor& out, const Args&... args) {
    if ((flags_of(out) | ... | flags_of(args)) & kBatched) [[unlikely]]
        refuse_batched_out(op);
    check(std::max({highest_level(out), highest_level(args)...}) < 0, ErrorKind::NotImplemented,
          "Trying to use forward AD with ", op,
          " (out=...) that does not support it because it has not been implemented yet; call it without out=");
    check(!GradMode::is_enabled() || !(requires_grad(out) || ... || requires_grad(args)), ErrorKind::Runtime, op,
          "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
          "requires grad; call it without out=, or under no_grad");
    announce_write(out);
}

template <class... Args>
inline void check_out(const char* op, TensorSpan outs, const Args&... args) {
    for (const Tensor& out : outs) check_out(op, out, args...);
}

// --- Views
// Marks `out`, an alias of `base` made by a view kernel, as its differentiable view. `replay` re-applies the operation
// to another base; needed only where as_strided would not do (a change of dtype).
Tensor as_view(const Tensor& base, Tensor out, CreationMeta creation = CreationMeta::Default,
               std::function<Tensor(const Tensor&)> replay = nullptr);

// In-place changes of shape (`t_`, `squeeze_`): `t` gets the geometry of `seen`, a view of it made by a view kernel. It
// counts as a write, of nothing: other tensors on the memory keep their values, but what saved `t` has lost its shape.
void take_shape(const Tensor& t, const Tensor& seen, std::function<Tensor(const Tensor&)> replay = nullptr);
// After one: `node` becomes the history of `t`, also where `t` is a view, whose base has not changed.
void set_reshaped_history(const Tensor& t, const Ref<Node>& node);

// --- Forward mode
template <class First, class... Rest>
    requires(sizeof...(Rest) > 0)
inline int32_t highest_level(const First& first, const Rest&... rest) {
    return std::max(highest_level(first), highest_level(rest...));
}
inline Tensor tangent_at(const Tensor& t, int32_t level) {
    return t.defined() ? tangent_at(t.impl(), level) : Tensor();
}
inline Tensor tangent_at(const Operand& o, int32_t level) {
    return o.is_tensor() ? tangent_at(o.impl(), level) : Tensor();
}
// Whether anything differentiates here, or the chain rule is strict: what decides between a fused kernel and its recorded
// twin in `apply`.
template <class... Args>
inline bool is_differentiating(const Args&... args) noexcept {
    // Observers are no reason: a profile shows what runs without it.
    return ((state.watch & ~uint32_t{kWatchObservers}) | ((flags_of(args) | ... | 0u) & state.mask)) != 0 ||
           strict_singular();
}
// After an in-place operation in forward mode: `tangent` becomes the tangent of `t`, and of its base where `t` is a view.
void set_inplace_tangent(const Tensor& t, int32_t level, Tensor tangent);

// In backward: brings a gradient to the shape and dtype of the operand that it belongs to (recorded).
Tensor reduce_grad(const Tensor& grad, IntSpan sizes, DType dtype);

// --- Inference mode: every tensor that is no view gets the mark.
inline void mark_inference_one(const Tensor& t) noexcept {
    if (t.defined()) t.impl()->flags |= kInference;
}
inline void mark_inference_one(const TensorList& ts) noexcept {
    std::ranges::for_each(ts, [](auto& t) { mark_inference_one(t); });
}
template <class T>
void mark_inference_one(const T&) noexcept {}
template <class... Results>
void mark_inference(const Results&... results) noexcept {
    if (state.inference) [[unlikely]]
        (mark_inference_one(results), ...);
}
}  // namespace wengert
