#include <algorithm>
#include <cmath>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "ops/formulas/common.h"
#include "ops/formulas/cusps/near.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {

using namespace cusps;

namespace {

// Of the root r of s: h(r) is a function of s, whose derivative of order k is its coefficient / 2**k.

Tensor root_derivative(const Near& near, size_t order, const Edge& s);

// 0, with the derivatives that the derivative has beyond those of its coefficient, which was computed from r.
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
        if (!grads[0].defined()) return TensorList(1);
        const auto k = static_cast<size_t>(order);
        const Near near{how, cotangent.unpack(this), {}, roots.unpack(this), true, derived};
        if (!GradMode::is_enabled() && highest_level(grads[0]) < 0 &&  // the usual end: its derivatives are many passes
            !any(ops::logical_and(zero_mask(near.r), ops::ne(grads[0], 0))))
            return {zeros(near.r.sizes(), near.r.dtype())};
        Near rest = near;
        rest.derived = true;
        {
            const AutoGradMode recording(true);
            const Tensor slope = slope_near(rest, coefficient(near, k, true), true);
            rest.c = chain_rule(grads[0], slope * std::ldexp(1.0, -int(k)));
        }
        const Edge& s = next_edges()[0];
        return {chain_rule(grads[0], root_derivative(near, k + 1, s)) - root_derivative(rest, 1, s)};
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, roots); }
    std::string name() const override { return "RootCuspBackward"; }
};
const SavedField RootCuspBackward::fields[] = {saved_field<&RootCuspBackward::cotangent>("cotangent"),
                                               saved_field<&RootCuspBackward::roots>("roots"),
                                               saved_field<&RootCuspBackward::order>("order")};

Tensor root_derivative(const Near& near, size_t order, const Edge& s) {
    const bool recorded = GradMode::is_enabled();
    const Tensor known = coefficient(near, order, recorded) * std::ldexp(1.0, -int(order));
    const Tensor value = ops::where(zero_mask(near.r), known, 0);
    if (!recorded || !s.is_valid()) return value;
    Tensor zero = zeros(near.r.sizes(), near.r.dtype());
    Ref<Node> node = Ref<Node>::adopt(new RootCuspBackward(near, order));
    node->set_next_edges({s});
    set_history(zero, node);
    if (const int32_t level = highest_level(value); level >= 0) {  // 0 too, but of unknown derivatives
        const Tensor change = tangent_at(value, level);
        const LevelGuard hide(level);
        set_tangent(zero, level, chain_rule(change, full(near.r.sizes(), kNaN, near.r.dtype())));
    }
    return value + zero;
}

// 0, with the derivatives that t / (2 r) has where r and t, the tangent of s, are 0.
struct RootTangentBackward final : Node, NeedsRecordedPass {
    Reduction how;
    SavedVariable tangent, roots;
    static const SavedField fields[2];

    RootTangentBackward(Reduction how, const Tensor& t, const Tensor& r)
        : how(std::move(how)), tangent(t, false), roots(r, false) {
        need_recorded_pass(true);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const Tensor t = tangent.unpack(this), r = roots.unpack(this);
        const Near near{how, grads[0], {}, r, true};
        const Tensor is_lost = ops::logical_and(zero_mask(r), ops::eq(t, 0));
        if (task_should_compute_output(1))
            grad_inputs[1] = ops::where(is_lost, root_derivative(near, 1, next_edges()[0]), 0);
        // The second derivative times t: 0 here, and its own derivatives are not known.
        if (task_should_compute_output(0) && GradMode::is_enabled())
            grad_inputs[0] = ops::where(is_lost, chain_rule(t, full(r.sizes(), kNaN, r.dtype())), 0);
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(tangent, roots); }
    std::string name() const override { return "RootTangentBackward"; }
};
const SavedField RootTangentBackward::fields[] = {saved_field<&RootTangentBackward::tangent>("tangent"),
                                                  saved_field<&RootTangentBackward::roots>("roots")};

}  // namespace

Tensor root_limit(const Tensor& product, const Tensor& cotangent, const Tensor& r) {
    if (!requires_grad(cotangent) || is_complex(r.dtype())) return product;
    const Tensor is_lost = ops::logical_and(zero_mask(r), ops::eq(cotangent, 0));
    if (!any(is_lost)) return product;
    Node& node = *current_node();
    const Near near{Reduction(r, Ref<Node>::share(&node), false), cotangent, {}, r, true};
    // Not the product itself, which has infinite derivatives there.
    const Tensor others = chain_rule(cotangent, 0.5 / ops::where(is_lost, 1, r));
    return ops::where(is_lost, root_derivative(near, 1, node.next_edges()[0]), others);
}

Tensor root_tangent(const Tensor& product, const Tensor& tangent, const Tensor& s, const Tensor& r) {
    const int32_t level = std::max(highest_level(s), highest_level(tangent));
    if ((level < 0 && !records(s, tangent)) || is_complex(r.dtype())) return product;
    const Tensor is_lost = ops::logical_and(zero_mask(r), ops::eq(tangent, 0));
    if (!any(is_lost)) return product;
    Tensor zero = zeros(product.sizes(), product.dtype());
    if (records(s, tangent)) {
        const Reduction how(r, gradient_edge(r).function, false);
        Ref<Node> node = Ref<Node>::adopt(new RootTangentBackward(how, tangent, r));
        node->set_next_edges(collect_next_edges(s, tangent));
        set_history(zero, node);
    }
    if (level >= 0) {
        const Tensor change = tangent_at(tangent, level);
        const LevelGuard hide(level);
        if (change.defined()) set_tangent(zero, level, chain_rule(change, 0.5 / detach(r)));
    }
    return ops::where(is_lost, zero, chain_rule(tangent, 0.5 / ops::where(is_lost, 1, r)));
}

}  // namespace wengert::ops::formulas
