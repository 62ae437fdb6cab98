#include <algorithm>
#include <cmath>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "ops/formulas/common.h"
#include "ops/formulas/cusps/roots.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {

namespace cusps {
namespace {

// What the derivative of h(r) is beyond its coefficient.
Tensor vanishing_root(const Near& near, size_t order, const Edge& s);

// What reaches s through c and the roots that it was computed from, where `psi` is the gradient of c.
Tensor through_cotangent(const Near& near, const Tensor& psi, const Edge& s) {
    Near rest = near;
    rest.derived = true;
    rest.c = chain_rule(psi, slope_near(near, near.c, true));
    return root_derivative(rest, 1, s);
}

// How the derivative of that order changes with s, c with it, times t: all of it, or what it does beyond its coefficient,
// which was computed from r.
Tensor change_of_root(const Near& near, size_t order, const Tensor& t, bool beyond, const Edge& s) {
    const Tensor whole = chain_rule(t, root_derivative(near, order + 1, s));
    if (!beyond) return whole;
    Near rest = near;
    rest.derived = true;
    {
        const AutoGradMode recording(true);
        const Tensor slope = slope_near(rest, coefficient(near, order, true), true);
        rest.c = chain_rule(t, slope * std::ldexp(1.0, -int(order)));
    }
    return whole - root_derivative(rest, 1, s);
}

// 0, with the derivatives that the derivative has beyond its coefficient.
struct RootCuspBackward final : Node {
    Reduction how;
    SavedVariable cotangent, roots;
    int64_t order;
    bool derived;
    static const SavedField fields[3];

    RootCuspBackward(const Near& near, size_t order)
        : how(near.how),
          cotangent(near.c, false),
          roots(near.r, false),
          order(static_cast<int64_t>(order)),
          derived(near.derived) {}
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(2);
        const Tensor& grad = grads[0];
        if (!grad.defined()) return grad_inputs;
        const auto k = static_cast<size_t>(order);
        const Near near{how, cotangent.unpack(this), {}, roots.unpack(this), true, derived};
        const bool recorded = GradMode::is_enabled();
        const Edge& s = next_edges()[0];
        if (task_should_compute_output(0)) {
            if (!recorded && highest_level(grad) < 0 &&  // the usual end: its derivatives are many passes
                !any(ops::logical_and(zero_mask(near.r), ops::ne(grad, 0))))
                return {zeros(near.r.sizes(), near.r.dtype()), Tensor()};
            grad_inputs[0] = change_of_root(near, k, grad, true, s);
        }
        if (recorded && task_should_compute_output(1)) {
            const Tensor psi = root_functional(near, grad, k, true, s);
            grad_inputs[1] = psi;
            if (grad_inputs[0].defined()) grad_inputs[0] = grad_inputs[0] - through_cotangent(near, psi, s);
        }
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, roots); }
    std::string name() const override { return "RootCuspBackward"; }
};
const SavedField RootCuspBackward::fields[] = {saved_field<&RootCuspBackward::cotangent>("cotangent"),
                                               saved_field<&RootCuspBackward::roots>("roots"),
                                               saved_field<&RootCuspBackward::order>("order")};

Tensor vanishing_root(const Near& near, size_t order, const Edge& s) {
    Tensor zero = zeros(near.r.sizes(), near.r.dtype());
    if (!GradMode::is_enabled() || !s.is_valid()) return zero;
    Ref<Node> node = Ref<Node>::adopt(new RootCuspBackward(near, order));
    node->set_next_edges({s, edge_of_cotangent(near)});
    set_history(zero, node);
    return zero;
}

// What takes c to t times the derivative of that order, or to what it is beyond its coefficient: 0, with its derivatives.
struct RootTangentBackward final : Node, NeedsRecordedPass {
    Reduction how;
    SavedVariable tangent, roots;
    int64_t order;
    bool beyond;
    static const SavedField fields[3];

    RootTangentBackward(const Near& near, const Tensor& t, size_t order, bool beyond)
        : how(near.how), tangent(t, false), roots(near.r, false), order(static_cast<int64_t>(order)), beyond(beyond) {
        need_recorded_pass(true);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const auto k = static_cast<size_t>(order);
        const bool recorded = GradMode::is_enabled();
        const Tensor t = tangent.unpack(this);
        const Near near{how, grads[0], {}, roots.unpack(this), recorded};
        const Edge& s = next_edges()[0];
        if (task_should_compute_output(1))
            grad_inputs[1] = beyond ? vanishing_root(near, k, s) : root_derivative(near, k, s);
        if (!recorded || !task_should_compute_output(0)) return grad_inputs;
        const Tensor psi = root_functional(near, t, k, beyond, s);
        grad_inputs[0] = change_of_root(near, k, t, beyond, s) - through_cotangent(near, psi, s);
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(tangent, roots); }
    std::string name() const override { return "RootTangentBackward"; }
};
const SavedField RootTangentBackward::fields[] = {saved_field<&RootTangentBackward::tangent>("tangent"),
                                                  saved_field<&RootTangentBackward::roots>("roots"),
                                                  saved_field<&RootTangentBackward::order>("order")};

}  // namespace

Near near_roots(Ref<Node> maker, const Tensor& c, const Tensor& is_lost) {
    const Tensor r = ops::to_dtype(ops::logical_not(is_lost), c.dtype());
    return {Reduction(r, std::move(maker)), c, {}, r, true};
}

Tensor root_derivative(const Near& near, size_t order, const Edge& s) {
    const bool recorded = GradMode::is_enabled();
    const Tensor known = coefficient(near, order, recorded) * std::ldexp(1.0, -int(order));
    const Tensor value = ops::where(zero_mask(near.r), known, 0);
    if (!recorded || !s.is_valid()) return value;
    Tensor zero = vanishing_root(near, order, s);
    if (const int32_t level = highest_level(value); level >= 0) {  // 0 too, but of unknown derivatives
        const Tensor change = tangent_at(value, level);
        const LevelGuard hide(level);
        set_tangent(zero, level, chain_rule(change, full(near.r.sizes(), kNaN, near.r.dtype())));
    }
    return value + zero;
}

Tensor root_functional(const Near& near, const Tensor& t, size_t order, bool beyond, const Edge& s) {
    Tensor zero = zeros(near.r.sizes(), near.r.dtype());
    if (GradMode::is_enabled() && (s.is_valid() || requires_grad(t))) {
        Ref<Node> node = Ref<Node>::adopt(new RootTangentBackward(near, t, order, beyond));
        EdgeList edges{s};
        append_edge(edges, t);
        node->set_next_edges(std::move(edges));
        set_history(zero, node);
    }
    // The tangent of s is not at hand.
    const Tensor nan = full(near.r.sizes(), kNaN, near.r.dtype());
    for (int32_t level = std::max(highest_level(t), highest_level(near.c)); level >= 0; --level)
        if (tangent_at(t, level).defined() || tangent_at(near.c, level).defined()) set_tangent(zero, level, nan);
    return zero;
}

Tensor root_tangent_at_zero(const Near& near, const Tensor& t, const Tensor& s, size_t order) {
    const int32_t level = highest_level(s, t);
    if (level < 0) return root_functional(near, t, order, false, requires_grad(s) ? gradient_edge(s) : Edge());
    const Tensor s_t = tangent_at(s, level), t_t = tangent_at(t, level);
    const LevelGuard hide(level);
    Tensor zero = root_tangent_at_zero(near, t, s, order), tangent;
    if (t_t.defined()) {
        const Tensor infinite = full(t.sizes(), kInfinity, t.dtype());
        tangent = chain_rule(detach(t_t), infinite) + root_tangent_at_zero(near, t_t, s, order);
    }
    if (s_t.defined()) add_tangent(tangent, root_tangent_at_zero(near, t * s_t, s, order + 1));
    if (tangent.defined()) set_tangent(zero, level, tangent);
    return zero;
}

}  // namespace cusps

using namespace cusps;

Tensor root_limit(const Tensor& product, const Tensor& cotangent, const Tensor& r) {
    if (!requires_grad(cotangent) || is_complex(r.dtype())) return product;
    const Tensor is_lost = ops::logical_and(zero_mask(r), ops::eq(cotangent, 0));
    if (!any(is_lost)) return product;
    Node& node = *current_node();
    const Near near = near_roots(Ref<Node>::share(&node), cotangent, is_lost);
    // Not the product itself, which has infinite derivatives there.
    const Tensor others = chain_rule(cotangent, 0.5 / ops::where(is_lost, 1, r));
    return ops::where(is_lost, root_derivative(near, 1, node.next_edges()[0]), others);
}

Tensor root_tangent(const Tensor& product, const Tensor& tangent, const Tensor& s, const Tensor& r) {
    const int32_t level = highest_level(s, tangent);
    if ((level < 0 && !records(s, tangent)) || is_complex(r.dtype())) return product;
    const Tensor is_lost = ops::logical_and(zero_mask(r), ops::eq(tangent, 0));
    if (!any(is_lost)) return product;
    const Near near = near_roots(gradient_edge(r).function, zeros_like(r), is_lost);
    const Tensor zero = root_tangent_at_zero(near, tangent, s, 1);
    return ops::where(is_lost, zero, chain_rule(tangent, 0.5 / ops::where(is_lost, 1, r)));
}

}  // namespace wengert::ops::formulas
