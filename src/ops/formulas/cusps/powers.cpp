// Powers s**p with 0 < p < 1 at s = 0, where their derivative is infinite, and that of h(s**p) need not be. Square roots have
// all derivatives (cusps/roots.cpp). Of other roots the first one is known: h = ... + a r**k has the derivative a k p s**(k p - 1),
// which is a k p if k p is 1, and 0 or infinite else. What comes behind it is NaN, unless c does not depend on the root at all.
#include <cmath>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "ops/formulas/common.h"
#include "ops/formulas/cusps/roots.h"
#include "ops/formulas/powers.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {

using namespace cusps;

namespace {

constexpr int kMostTerms = 8;

Tensor nan_unless(const Tensor& flat, DType dtype) {
    return ops::where(flat, zeros(flat.sizes(), dtype), full(flat.sizes(), kNaN, dtype));
}

// 0, of unknown derivatives.
struct PowerCuspBackward final : Node {
    Reduction how;
    SavedVariable cotangent, roots;
    static const SavedField fields[2];

    explicit PowerCuspBackward(const Near& near) : how(near.how), cotangent(near.c, false), roots(near.r, false) {}
    TensorList apply(TensorList&& grads) override {
        if (!grads[0].defined()) return TensorList(2);
        const Near near{how, cotangent.unpack(this), {}, roots.unpack(this), true};
        const Tensor unknown = chain_rule(grads[0], nan_unless(is_flat(near), grads[0].dtype()));
        return {unknown, unknown};
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, roots); }
    std::string name() const override { return "PowerCuspBackward"; }
};
const SavedField PowerCuspBackward::fields[] = {saved_field<&PowerCuspBackward::cotangent>("cotangent"),
                                                saved_field<&PowerCuspBackward::roots>("roots")};

Tensor power_derivative(const Near& near, const Tensor& p, const Edge& s) {
    const bool recorded = GradMode::is_enabled();
    Tensor value = zeros_like(near.c);
    {
        const AutoGradMode recording(true);
        Tensor c = near.c;
        Near next = near;
        for (int k = 1;; ++k) {
            const Tensor degree = p * k, apart = ops::abs(degree - 1), is_pole = ops::lt(degree, 1 - 1e-9);
            value = ops::where(ops::le(apart, 1e-9), c * p, value);
            value = ops::where(ops::logical_and(is_pole, ops::ne(c, 0)), detach(c) / 0.0, value);
            if (!any(ops::logical_and(zero_mask(near.r), is_pole))) break;
            if (k == kMostTerms) {
                value = ops::where(is_pole, nan_unless(is_flat(near), c.dtype()), value);
                break;
            }
            next.is_constant |= requires_grad(c);
            c = slope_near(next, c, true) / static_cast<double>(k);
            next.derived = true;
        }
    }
    if (!recorded || (!s.is_valid() && !requires_grad(near.c))) return value;
    Tensor zero = zeros(near.r.sizes(), near.r.dtype());
    Ref<Node> node = Ref<Node>::adopt(new PowerCuspBackward(near));
    EdgeList edges{s};
    append_edge(edges, near.c);
    node->set_next_edges(std::move(edges));
    set_history(zero, node);
    return value + zero;
}

// 0, with the derivatives that t p s**(p - 1) has where s and t, the tangent of s, are 0.
struct PowerTangentBackward final : Node, NeedsRecordedPass {
    Reduction how;
    SavedVariable tangent, exponent, roots;
    static const SavedField fields[3];

    PowerTangentBackward(const Near& near, const Tensor& t, const Tensor& p)
        : how(near.how), tangent(t, false), exponent(p, false), roots(near.r, false) {
        need_recorded_pass(true);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const Near near{how, grads[0], {}, roots.unpack(this), GradMode::is_enabled()};
        if (task_should_compute_output(1))
            grad_inputs[1] = power_derivative(near, exponent.unpack(this), next_edges()[0]);
        if (task_should_compute_output(0))
            grad_inputs[0] = chain_rule(tangent.unpack(this), nan_unless(is_flat(near), near.c.dtype()));
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(tangent, exponent, roots); }
    std::string name() const override { return "PowerTangentBackward"; }
};
const SavedField PowerTangentBackward::fields[] = {saved_field<&PowerTangentBackward::tangent>("tangent"),
                                                   saved_field<&PowerTangentBackward::exponent>("exponent"),
                                                   saved_field<&PowerTangentBackward::roots>("roots")};

Tensor power_tangent_at_zero(const Near& near, const Tensor& t, const Tensor& s, const Tensor& p) {
    const int32_t level = highest_level(s, t);
    Tensor zero = zeros_like(t);
    if (level < 0) {
        if (!records(s, t)) return zero;
        Ref<Node> node = Ref<Node>::adopt(new PowerTangentBackward(near, t, p));
        node->set_next_edges(collect_next_edges(s, t));
        set_history(zero, node);
        return zero;
    }
    const Tensor t_t = tangent_or_zeros(t, level);
    const LevelGuard hide(level);
    zero = power_tangent_at_zero(near, t, s, p);
    const Tensor infinite = full(t.sizes(), std::numeric_limits<double>::infinity(), t.dtype());
    set_tangent(zero, level, chain_rule(detach(t_t), infinite) + power_tangent_at_zero(near, t_t, s, p));
    return zero;
}

// Where s and a factor are 0, for powers that are square roots, and for others.
struct Lost {
    Tensor p, any, half, other;
    Lost(const Operand& s, const Operand& exponent, const Tensor& factor) {
        const Tensor here = zeros_like(factor);
        p = exponent.is_tensor() ? ops::to_dtype(detach(exponent.tensor()), factor.dtype()) + here
                                 : full(factor.sizes(), exponent.scalar(), factor.dtype());
        const Tensor is_zero = ops::eq(detach(s.tensor()), 0);
        any = ops::logical_and(ops::logical_and(is_zero, ops::eq(factor, 0)),
                               ops::logical_and(ops::gt(p, 0), ops::lt(p, 1)));
        half = ops::logical_and(any, ops::eq(p, 0.5));
        other = ops::logical_and(any, ops::logical_not(half));
    }
};

// Where s and the exponent are 0: the power is constant, but in its formula there is 0 * inf, which higher derivatives find.
Tensor where_constant(const Operand& s, const Operand& exponent) {
    if (!s.is_tensor()) return {};
    if (!exponent.is_tensor()) {
        const Scalar& p = exponent.scalar();
        if (p.is_complex() || p.to<double>() != 0) return {};
        return ops::eq(detach(s.tensor()), 0);
    }
    return ops::logical_and(ops::eq(detach(s.tensor()), 0), ops::eq(detach(exponent.tensor()), 0));
}

// The product without that infinity.
Tensor finite(const Tensor& factor, const Operand& s, const Operand& exponent, const Tensor& is_constant) {
    const Tensor powers = ops::pow(ops::where(is_constant, 1, s), exponent - 1);
    return ops::where(is_constant, 0, chain_rule(factor, exponent * powers));
}

bool may_be_root(const Operand& s, const Operand& exponent, const Tensor& factor) {
    if (!s.is_tensor() || is_complex(factor.dtype())) return false;
    return exponent.is_tensor() || is_fraction(exponent.scalar());
}

// Where the gradient of s goes, in the shape of the power.
Edge edge_of(const Operand& s, const Tensor& factor) {
    return requires_grad(s) ? gradient_edge(fitted(s.tensor(), factor.sizes(), factor.dtype())) : Edge();
}

// The product, but not where it is lost.
Tensor apart(const Tensor& factor, const Operand& s, const Operand& exponent, const Tensor& is_lost) {
    return chain_rule(factor, exponent * ops::pow(ops::where(is_lost, 1, s), exponent - 1));
}

}  // namespace

bool is_fraction(const Scalar& exponent) {
    if (exponent.is_complex()) return false;
    const double p = exponent.to<double>();
    return p > 0 && p < 1;
}
bool is_fraction(const SavedOperand& exponent) {
    if (!exponent.is_tensor()) return is_fraction(exponent.scalar());
    Tensor p;
    {
        SharedStateLock lock(&exponent.variable());
        p = exponent.variable().peek();
    }
    if (!p.defined() || is_complex(p.dtype())) return true;  // not to be seen here
    const AutoGradMode off(false);
    return any(ops::logical_and(ops::gt(p, 0), ops::lt(p, 1)));
}

Tensor power_limit(const Tensor& product, const Tensor& cotangent, const Operand& s, const Operand& exponent) {
    if (const Tensor constant = where_constant(s, exponent); constant.defined() && any(constant))
        return finite(cotangent, s, exponent, constant);
    if (!may_be_root(s, exponent, product) || !requires_grad(cotangent)) return product;
    const Lost lost(s, exponent, cotangent);
    if (!any(lost.any)) return product;
    const Ref<Node> maker = Ref<Node>::share(current_node());
    const Edge edge = edge_of(s, cotangent);
    Tensor out = apart(cotangent, s, exponent, lost.any);
    if (any(lost.half))
        out = ops::where(lost.half, root_derivative(near_roots(maker, cotangent, lost.half), 1, edge), out);
    if (any(lost.other))
        out = ops::where(lost.other, power_derivative(near_roots(maker, cotangent, lost.other), lost.p, edge), out);
    return out;
}

Tensor power_tangent(const Tensor& product, const Tensor& tangent, const Operand& s, const Operand& exponent,
                     const Tensor& result) {
    if (const Tensor constant = where_constant(s, exponent); constant.defined() && any(constant))
        return finite(tangent, s, exponent, constant);
    if (!may_be_root(s, exponent, product)) return product;
    const int32_t level = highest_level(s, tangent);
    if (level < 0 && !records(s, tangent)) return product;
    const Tensor t = fitted(tangent, result.sizes(), result.dtype());
    const Lost lost(s, exponent, t);
    if (!any(lost.any)) return product;
    const Ref<Node> maker = gradient_edge(result).function;
    const Tensor wide = fitted(s.tensor(), t.sizes(), t.dtype());
    Tensor zero = zeros_like(t);
    if (any(lost.half)) zero = root_tangent_at_zero(near_roots(maker, zero, lost.half), t, wide, 1);
    if (any(lost.other)) {
        const Tensor other = power_tangent_at_zero(near_roots(maker, zero, lost.other), t, wide, lost.p);
        zero = ops::where(lost.other, other, zero);
    }
    return ops::where(lost.any, zero, apart(t, s, exponent, lost.any));
}

}  // namespace wengert::ops::formulas
