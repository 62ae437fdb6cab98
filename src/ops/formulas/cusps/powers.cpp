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
            const Tensor is_open = ops::isfinite(detach(value));  // else a lower power has decided
            value = ops::where(ops::logical_and(is_open, ops::le(apart, 1e-9)), c * p, value);
            const Tensor is_infinite = ops::logical_and(is_pole, ops::ne(c, 0));
            value = ops::where(ops::logical_and(is_open, is_infinite), detach(c) / 0.0, value);
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
    const Tensor infinite = full(t.sizes(), kInfinity, t.dtype());
    set_tangent(zero, level, chain_rule(detach(t_t), infinite) + power_tangent_at_zero(near, t_t, s, p));
    return zero;
}

bool may_be_lost(const Operand& s, const Operand& exponent) {
    if (!s.is_tensor()) return false;
    return exponent.is_tensor() || is_fraction(exponent.scalar()) || exponent.scalar().to<complex128>() == 0.0;
}

// Where s is 0 and the product of a factor and p s**(p - 1) is not what its formula says: p is 0 and the power constant, but
// there is 0 * inf, which higher derivatives find; or the factor is 0 and the power a square root, or another one.
struct Lost {
    Tensor constant, half, other, any;
    Tensor p;  // of real powers
    Lost(const Operand& s, const Operand& exponent, const Tensor& factor, bool with_roots) {
        const Tensor exponents = exponent.is_tensor() ? detach(exponent.tensor()) : wide(exponent);
        const Tensor is_zero = ops::eq(detach(s.tensor()), 0);
        constant = any = ops::logical_and(is_zero, ops::eq(exponents, 0));
        if (!with_roots || is_complex(factor.dtype()) || is_complex(exponents.dtype())) return;
        p = ops::to_dtype(exponents, factor.dtype()) + zeros_like(factor);
        const Tensor is_root = ops::logical_and(ops::gt(p, 0), ops::lt(p, 1));
        const Tensor roots = ops::logical_and(ops::logical_and(is_zero, ops::eq(factor, 0)), is_root);
        half = ops::logical_and(roots, ops::eq(p, 0.5));
        other = ops::logical_and(roots, ops::logical_not(half));
        any = ops::logical_or(constant, roots);
    }
    bool has_half() const { return half.defined() && cusps::any(half); }
    bool has_other() const { return other.defined() && cusps::any(other); }

    // The product, and 0 where it is lost.
    Tensor rest(const Tensor& factor, const Operand& s, const Operand& exponent) const {
        const Tensor powers = ops::pow(ops::where(any, 1, s), exponent - 1);
        return ops::where(any, 0, chain_rule(factor, exponent * powers));
    }
};

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
    if (!may_be_lost(s, exponent)) return product;
    const Lost lost(s, exponent, cotangent, requires_grad(cotangent));
    if (!any(lost.any)) return product;
    Tensor out = lost.rest(cotangent, s, exponent);
    const Ref<Node> maker = Ref<Node>::share(current_node());
    // In the shape of the power.
    const Edge edge =
        requires_grad(s) ? gradient_edge(fitted(s.tensor(), cotangent.sizes(), cotangent.dtype())) : Edge();
    if (lost.has_half())
        out = ops::where(lost.half, root_derivative(near_roots(maker, cotangent, lost.half), 1, edge), out);
    if (lost.has_other())
        out = ops::where(lost.other, power_derivative(near_roots(maker, cotangent, lost.other), lost.p, edge), out);
    return out;
}

Tensor power_tangent(const Tensor& product, const Tensor& tangent, const Operand& s, const Operand& exponent,
                     const Tensor& result) {
    if (!may_be_lost(s, exponent)) return product;
    const Tensor t = fitted(tangent, result.sizes(), result.dtype());
    const Lost lost(s, exponent, t, highest_level(s, t) >= 0 || records(s, t));
    if (!any(lost.any)) return product;
    Tensor out = lost.rest(t, s, exponent);
    const Ref<Node> maker = gradient_edge(result).function;
    const Tensor zero = zeros_like(t), point = fitted(s.tensor(), t.sizes(), t.dtype());
    if (lost.has_half())
        out = ops::where(lost.half, root_tangent_at_zero(near_roots(maker, zero, lost.half), t, point, 1), out);
    if (lost.has_other())
        out = ops::where(lost.other, power_tangent_at_zero(near_roots(maker, zero, lost.other), t, point, lost.p), out);
    return out;
}

}  // namespace wengert::ops::formulas
