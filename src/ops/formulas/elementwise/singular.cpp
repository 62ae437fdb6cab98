#include "ops/formulas/elementwise/singular.h"
#include "generated/ops/formulas/elementwise/singular.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/reductions/reductions.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/derivative.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "kernels/reductions/scan.h"
#include "kernels/shape/shape.h"
#include "ops/batching/error.h"
#include "ops/generated_support.h"
#include "ops/known_values.h"

namespace wengert::ops::formulas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A mask that differs between the cotangents of one pass is asked for each of them in a pass of its own.
bool any(const Tensor& mask) {
    if (mask.flags() & kBatched) fail_batch("derivatives at lengths that are 0 depend on values of the cotangent");
    return ops::is_any_true(mask);
}
Tensor both(const Tensor& a, const Tensor& b) { return ops::logical_and(a, b); }
Tensor is_zero(const Tensor& t) { return ops::eq(detach(t), 0); }
Tensor is_not_zero(const Tensor& t) { return ops::ne(detach(t), 0); }  // NaN is not
Tensor chosen(const Tensor& mask, const Operand& value, DType dtype) {
    return ops::to_dtype(ops::where(mask, value, 0.0), dtype);
}
Tensor filled(const Tensor& like, double value) { return full(like.sizes(), value, like.dtype(), like.device()); }

// --- What is not known

// What derivatives are taken with respect to: where they go, and what has its tangents.
struct Source {
    Tensor value;
    Edge edge;
    Source(const Tensor& t) : value(t), edge(requires_grad(t) ? gradient_edge(t) : Edge()) {}
    Source(const Tensor& t, Edge e) : value(t), edge(std::move(e)) {}
};

// 0, with the derivative `slope` with respect to `source`, which has the same shape; the next derivatives are not known.
Tensor beyond(const Source& source, const Tensor& slope);
// They are infinite, and so are all that follow.
Tensor unknown(const Source& source) { return beyond(source, filled(source.value, kInfinity)); }

struct BeyondBackward final : Node {
    SavedVariable source, slope;
    static const SavedField fields[2];

    BeyondBackward(const Source& of, const Tensor& by) : source(of.value, false), slope(by, false) {
        set_next_edges(EdgeList{of.edge});
    }
    TensorList apply(TensorList&& grads) override {
        if (!grads[0].defined()) return {Tensor()};
        const Source of(source.unpack(this), next_edges()[0]);
        return {ops::chain(grads[0], slope.unpack(this) + unknown(of))};
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(source, slope); }
    std::string name() const override { return "BeyondBackward"; }
};
const SavedField BeyondBackward::fields[] = {saved_field<&BeyondBackward::source>("source"),
                                             saved_field<&BeyondBackward::slope>("slope")};

Tensor beyond(const Source& source, const Tensor& slope) {
    const int32_t level = highest_level(source.value);
    if (level < 0) {
        Tensor zero = zeros_like(source.value);
        if (GradMode::is_enabled() && source.edge.is_valid())
            set_history(zero, Ref<Node>::adopt(new BeyondBackward(source, slope)));
        return zero;
    }
    const Tensor tangent = tangent_at(source.value, level);
    const LevelGuard hide(level);
    Tensor zero = beyond(source, slope);
    if (tangent.defined()) set_tangent(zero, level, ops::chain(tangent, slope + unknown(source)));
    return zero;
}

// --- How c changes with lengths that are 0

struct Zeros {
    Ref<Node> maker;  // of the lengths; null if that was not recorded
    Tensor where;
    bool roots = false;  // of numbers, which c may depend on by itself
};

struct Slopes {
    Tensor own;       // with respect to these lengths; undefined if c does not depend on them
    EdgeList others;  // lengths of other nodes with which c changes too
};

// The gradients of <c, weights>; a recorded one only of these lengths, so that their own node does not run in it. A length
// in front of another one hides it: what matters is whether c changes with it.
Slopes slopes_of(const Tensor& c, const Zeros& at, const Tensor& weights, bool record) {
    const Edge start = requires_grad(c) ? gradient_edge(c) : Edge();
    if (!start.is_valid() || !at.maker) return {};
    Node* const maker = at.maker.get();
    EdgeList edges{Edge(at.maker, 0)};
    std::vector<Node*> stack{start.function.get()};
    std::unordered_set<Node*> seen{stack[0]};
    bool found = false;
    while (!stack.empty()) {
        Node* node = stack.back();
        stack.pop_back();
        if (node == maker) {
            found = true;
        } else if (node->recorded_passes == RecordedPasses::UnderTangents) {
            edges.emplace_back(Ref<Node>::share(node), 0);
        } else {
            for (const Edge& e : node->next_edges())
                if (e.is_valid() && seen.insert(e.function.get()).second) stack.push_back(e.function.get());
        }
    }
    if (!found && edges.size() == 1) return {};
    if (record) edges.resize(1);
    const AutoForwardGradMode tangents(record && GradMode::is_forward_enabled());
    const TensorList slopes = derivatives_of(c, edges, weights, record);
    Slopes out{slopes[0], {}};
    for (size_t i = 1; i < slopes.size(); ++i)
        if (slopes[i].defined() && any(is_not_zero(slopes[i]))) out.others.push_back(edges[i]);
    if (out.own.defined() && out.own.sizes() != c.sizes()) out = {Tensor(), {edges[0]}};  // written through a view
    return out;
}

// Where elements of c change with other elements of the lengths than their own: weights on one half of them reach the other
// one, for each way to halve them by a bit of their numbers.
Tensor entangled(const Tensor& c, const Zeros& at, const Tensor& changing) {
    Tensor found = zeros(changing.sizes(), DType::Bool, changing.device());
    const Tensor numbers = kernels::reshape(
        kernels::cumsum(kernels::reshape(ops::to_dtype(changing, DType::Float64), Dims{-1}), 0), changing.sizes());
    const double count = kernels::read_element<double>(kernels::sum(ops::to_dtype(changing, DType::Float64)), "sum");
    for (double bit = 1; bit < count; bit *= 2)
        for (const double side : {0.0, 1.0}) {
            const Tensor half = both(changing, ops::eq(ops::remainder(ops::floor((numbers - 1) / bit), 2.0), side));
            const Tensor reached = slopes_of(c, at, chosen(half, kInfinity, c.dtype()), false).own;
            if (!reached.defined()) continue;
            found = ops::logical_or(found, both(both(changing, ops::logical_not(half)), is_not_zero(reached)));
        }
    return found;
}

// c'(0), 0 for other lengths: of known value, and unknown beyond.
Tensor slope_at_zero(const Tensor& c, const Zeros& at) {
    const Tensor none = filled(c, 0);
    const Slopes reached = slopes_of(c, at, chosen(at.where, kInfinity, c.dtype()), false);
    if (!reached.others.empty()) {  // not known, and nothing that follows from it
        Tensor nan = chosen(at.where, kNaN, c.dtype());
        for (const Edge& other : reached.others) {
            const Tensor weights = chosen(at.where, 1.0, c.dtype());
            const Tensor slope = derivatives_of(c, {other}, weights, GradMode::is_enabled())[0];
            if (slope.defined()) nan = nan + unknown(ops::expand(ops::sum(slope), c.sizes()));
        }
        return nan;
    }
    if (!reached.own.defined()) return none;
    const Tensor changing = both(at.where, is_not_zero(reached.own));
    const Tensor slope = slopes_of(c, at, chosen(at.where, 1.0, c.dtype()), GradMode::is_enabled()).own;
    const Tensor value = ops::where(entangled(c, at, changing), kNaN, ops::where(changing, detach(slope), 0.0));
    return value + unknown(slope);
}

// q = c / r at lengths that are 0, 0 for others.
Tensor quotient_at_zero(const Tensor& c, const Zeros& at) {
    const Tensor pole = ops::where(both(at.where, is_not_zero(c)), c / 0.0, 0.0);
    const Zeros open{at.maker, both(at.where, is_zero(c)), at.roots};
    if (!any(open.where)) return pole;
    if (!GradMode::is_enabled()) return ops::where(open.where, kNaN, pole);  // c is a number
    return slope_at_zero(c, open) + pole;
}

// How many derivatives of c, from the first one on, vanish at lengths that are 0.
Tensor vanishing_derivatives(const Tensor& c, const Zeros& at, double most) {
    Tensor count = filled(c, 0), all = at.where, f = c;
    const AutoGradMode recording(true);
    const Tensor weights = chosen(at.where, kInfinity, c.dtype());
    if (!slopes_of(c, at, weights, false).others.empty()) return count;
    for (double order = 1; order <= most; ++order) {
        const Slopes s = slopes_of(f, at, weights, true);
        if (!s.own.defined()) return ops::where(all, kInfinity, count);
        all = both(all, is_zero(s.own));
        if (!any(all)) return count;
        count = count + ops::to_dtype(all, c.dtype());
        f = s.own;
    }
    return count;
}

// c p s**(p - 1) at s = 0, and how it changes with s: not at all, or as unknown.
struct RootLimit {
    Tensor value, slope;
    RootLimit(const Tensor& c, const Zeros& at, const Tensor& p);
};

// Tangents at 0: of lengths, y / r, where y is 0; of roots y p s**(p - 1), with the exponent p at the point s.
struct TangentAtZeroBackward final : Node {
    Ref<Node> maker;
    SavedVariable where, y, exponent, point;
    static const SavedField fields[4];

    TangentAtZeroBackward(const Tensor& of, const Zeros& at, const Tensor& p, const Tensor& s)
        : maker(at.maker), where(at.where, false) {
        if (at.roots) {
            y.save(of, false);
            exponent.save(p, false);
            point.save(s, false);
        }
        set_next_edges(collect_next_edges(of, s));
        recorded_passes = RecordedPasses::Always;
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(2);
        const Tensor& c = grads[0];
        if (!c.defined()) return grad_inputs;
        const Zeros at{maker, where.unpack(this), !point.was_none()};
        if (!at.roots) {
            grad_inputs[0] = quotient_at_zero(c, at);
            return grad_inputs;
        }
        const Tensor s = point.unpack(this);
        const RootLimit limit(c, at, exponent.unpack(this));
        grad_inputs[0] = limit.value + beyond(s, limit.slope);
        if (task_should_compute_output(1)) grad_inputs[1] = ops::chain(y.unpack(this), limit.slope + unknown(s));
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(where, y, exponent, point); }
    std::string name() const override { return "TangentAtZeroBackward"; }
};
const SavedField TangentAtZeroBackward::fields[] = {
    saved_field<&TangentAtZeroBackward::where>("where"), saved_field<&TangentAtZeroBackward::y>("y"),
    saved_field<&TangentAtZeroBackward::exponent>("exponent"), saved_field<&TangentAtZeroBackward::point>("point")};

Tensor tangent_at_zero(const Tensor& y, const Zeros& at, const Tensor& p = {}, const Tensor& s = {}) {
    const int32_t level = at.roots ? highest_level(y, s) : highest_level(y);
    if (level < 0) {
        const Tensor value = ops::clone(ops::chain(detach(y), filled(y, kInfinity)));
        if (at.roots ? records(y, s) : records(y))
            set_history(value, Ref<Node>::adopt(new TangentAtZeroBackward(y, at, p, s)));
        return value;
    }
    const Tensor y_t = tangent_at(y, level), s_t = tangent_at(s, level);
    const LevelGuard hide(level);
    Tensor value = tangent_at_zero(y, at, p, s), tangent;
    if (y_t.defined()) add_tangent(tangent, ops::chain(y_t, filled(y, kInfinity) + unknown(y)));
    if (s_t.defined()) add_tangent(tangent, ops::chain(ops::chain(y, s_t), filled(y, kInfinity) + unknown(s)));
    if (tangent.defined()) set_tangent(value, level, tangent);
    return value;
}

bool is_differentiated(const Tensor& x, const Tensor& c) { return records(x, c) || highest_level(x, c) >= 0; }
bool is_differentiated_root(const Tensor& s, const Tensor& c) {  // strict mode has the product
    return !is_complex(c.dtype()) && !strict_singular() && is_differentiated(s, c);
}
Ref<Node> maker_of(const Tensor& r) { return requires_grad(r) ? gradient_edge(r).function : Ref<Node>(); }
Tensor real_inner(const Tensor& x, const Tensor& tangent) {
    const Tensor product = ops::chain(tangent, is_complex(x.dtype()) ? ops::conj(x) : x);
    return is_complex(product.dtype()) ? ops::real(product) : product;
}

// Of lengths of each element.
Tensor elementwise_gradient(const Tensor& product, const Tensor& c, const Tensor& x, const Tensor& zero) {
    const Tensor q = quotient_at_zero(c, {Ref<Node>::share(current_node()), zero});
    return ops::where(zero, ops::chain(x, q + unknown(x)), product);
}

}  // namespace

// --- Lengths

Tensor length_gradient(const Tensor& product, const Tensor& c, const Tensor& x, const Lengths& r) {
    if (!is_differentiated(x, c)) return product;
    const Tensor zero = is_zero(r.value);
    if (!any(zero)) return product;
    Tensor q = quotient_at_zero(c, {Ref<Node>::share(current_node()), zero});
    if (!r.isotropic) q = q + ops::where(is_zero(q), 0.0, kNaN);
    q = expand_reduced(q, x.sizes(), r.dim, r.keepdim);
    return ops::where(restored(zero, x.sizes(), r.dim, r.keepdim), ops::chain(x, q + unknown(x)), product);
}

Tensor length_tangent(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Lengths& r) {
    if (!is_differentiated(x, tangent)) return sum;
    const Tensor zero = is_zero(r.value);
    if (!any(zero)) return sum;
    const Tensor y = ops::sum(real_inner(x, tangent), r.dim, r.keepdim);
    return ops::where(zero, tangent_at_zero(y, {maker_of(r.value), zero}), sum);
}

Tensor component_gradient(const Tensor& product, const Tensor& c, const Operand& x, const Tensor& r) {
    if (!x.is_tensor() || !is_differentiated(x.tensor(), c)) return product;
    const Tensor zero = is_zero(r);
    return any(zero) ? elementwise_gradient(product, c, fitted(x.tensor(), r.sizes(), r.dtype()), zero) : product;
}
Tensor component_tangent(const Tensor& product, const Tensor& tangent, const Operand& x, const Tensor& r) {
    if (!x.is_tensor() || !is_differentiated(x.tensor(), tangent)) return product;
    const Tensor zero = is_zero(r);
    if (!any(zero)) return product;
    const Tensor y = fitted(real_inner(x.tensor(), tangent), r.sizes(), r.dtype());
    return ops::where(zero, tangent_at_zero(y, {maker_of(r), zero}), product);
}

bool has_modulus(const Tensor& x) { return is_complex(x.dtype()); }
Tensor modulus_gradient(const Tensor& product, const Tensor& c, const Tensor& x) {
    if (!has_modulus(x) || !is_differentiated(x, c)) return product;
    const Tensor zero = is_zero(x);
    return any(zero) ? elementwise_gradient(product, c, x, zero) : product;
}
Tensor modulus_tangent(const Tensor& product, const Tensor& tangent, const Tensor& x, const Tensor& result) {
    if (!has_modulus(x) || !is_differentiated(x, tangent)) return product;
    const Tensor zero = is_zero(x), real = is_complex(product.dtype()) ? ops::real(product) : product;
    if (!any(zero)) return real;
    return ops::where(zero, tangent_at_zero(real_inner(x, tangent), {maker_of(result), zero}), real);
}

// --- Roots

namespace {

// How many derivatives of c must vanish before the one of that order is 0: all of a r**k with k p < order.
Tensor needed(const Tensor& p, double order) { return ops::floor(order / p + 1e-9) - 1; }
constexpr double kMostDerivatives = 16;

RootLimit::RootLimit(const Tensor& c, const Zeros& at, const Tensor& p) : value(filled(c, 0)), slope(value) {
    const Tensor half = ops::eq(p, 0.5), other = both(at.where, ops::logical_not(half));
    const Zeros halves{at.maker, both(at.where, half), true};
    if (any(halves.where)) value = 0.5 * quotient_at_zero(c, halves);
    const Tensor first = ops::where(other, needed(p, 1), 0.0), second = ops::where(at.where, needed(p, 2), 0.0);
    const double most =
        kernels::read_element<double>(kernels::amax(kernels::reshape(second, Dims{-1}), Dims{0}, false), "amax");
    const Tensor count = vanishing_derivatives(c, at, std::min(most, kMostDerivatives)), pole = is_not_zero(c);
    if (any(other)) {
        const Tensor limit = ops::where(pole, c / 0.0, ops::where(ops::ge(count, first), 0.0, kNaN));
        value = ops::where(other, limit, value);
    }
    slope = ops::where(both(ops::ge(count, second), ops::logical_not(pole)), 0.0, filled(c, kInfinity));
}

// `point` is s, or its root.
Tensor gradient_of_root(const Tensor& product, const Tensor& c, const Source& point, const Tensor& p) {
    const Tensor root = both(ops::gt(p, 0), ops::lt(p, 1));
    const Tensor zero = both(is_zero(point.value), root);
    if (!any(zero)) return product;
    const Zeros lost{Ref<Node>::share(current_node()), both(zero, is_zero(c)), true};
    if (!any(lost.where)) return product;
    const RootLimit limit(c, lost, ops::where(lost.where, p, 0.5));
    return ops::where(lost.where, limit.value + beyond(point, limit.slope), product);
}

Tensor tangent_of_root(const Tensor& product, const Tensor& tangent, const Tensor& result, const Tensor& point,
                       const Tensor& p) {
    const Tensor zero = both(is_zero(point), both(ops::gt(p, 0), ops::lt(p, 1)));
    if (!any(zero)) return product;
    const Tensor exponents = ops::where(zero, p, 0.5);
    return ops::where(zero, tangent_at_zero(tangent, {maker_of(result), zero, true}, exponents, point), product);
}

}  // namespace

Tensor square_root_gradient(const Tensor& product, const Tensor& c, const Tensor& r) {
    if (!is_differentiated_root(r, c)) return product;
    return gradient_of_root(product, c, {r, current_node()->next_edges()[0]}, filled(detach(r), 0.5));
}
Tensor square_root_tangent(const Tensor& product, const Tensor& tangent, const Tensor& s, const Tensor& result) {
    if (!is_differentiated_root(s, tangent) || is_complex(s.dtype())) return product;
    return tangent_of_root(product, tangent, result, s, filled(detach(s), 0.5));
}

bool is_root(const Operand& exponent) {
    double p = 0.5;
    if (is_complex(exponent.dtype())) return false;
    if (!exponent.is_tensor())
        p = exponent.scalar().to<double>();
    else if (exponent.tensor().numel() == 1 && kernels::has_values(exponent.tensor()))  // of more elements some may be
        p = ops::value_of(exponent.tensor()).to<double>();
    return p > 0 && p < 1;
}

namespace {

Tensor exponents_of(const Operand& exponent, const Tensor& like) {
    return exponent.is_tensor() ? fitted(detach(exponent.tensor()), like.sizes(), like.dtype())
                                : filled(detach(like), exponent.scalar().to<double>());
}

}  // namespace

Tensor root_gradient(const Tensor& product, const Tensor& c, const Operand& s, const Operand& exponent) {
    if (!s.is_tensor() || !is_root(exponent) || !is_differentiated_root(s.tensor(), c)) return product;
    return gradient_of_root(product, c, fitted(s.tensor(), c.sizes(), c.dtype()), exponents_of(exponent, c));
}
Tensor root_tangent(const Tensor& product, const Tensor& tangent, const Operand& s, const Tensor& result,
                    const Operand& exponent) {
    if (!s.is_tensor() || !is_root(exponent) || !is_differentiated_root(s.tensor(), tangent)) return product;
    const Tensor point = fitted(s.tensor(), result.sizes(), result.dtype());
    return tangent_of_root(product, fitted(tangent, result.sizes(), result.dtype()), result, point,
                           exponents_of(exponent, result));
}

}  // namespace wengert::ops::formulas
