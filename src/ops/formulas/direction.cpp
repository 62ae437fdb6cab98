#include "ops/formulas/direction.h"

#include <algorithm>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "ops/formulas/common.h"
#include "ops/formulas/cusps/near.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {

using namespace cusps;

namespace {

// The sums over all ways to pair vectors: of products of inner products, and, of an odd number, times the one left over.
Tensor paired(const Reduction& how, TensorList vectors) {
    if (vectors.empty()) return {};
    const Tensor last = vectors.back();
    vectors.pop_back();
    Tensor sum;
    for (size_t i = 0; i < vectors.size(); ++i) {
        TensorList rest = vectors;
        rest.erase(i);
        const Tensor others = paired(how, std::move(rest));
        Tensor term = how.inner(vectors[i], last);
        if (others.defined()) term = term * others;
        sum = sum.defined() ? sum + term : term;
    }
    return sum;
}
Tensor paired_with_rest(const Reduction& how, const TensorList& vectors) {
    Tensor sum;
    for (size_t i = 0; i < vectors.size(); ++i) {
        TensorList rest = vectors;
        rest.erase(i);
        const Tensor others = paired(how, std::move(rest));
        const Tensor term = others.defined() ? vectors[i] * how.wide(others) : vectors[i];
        sum = sum.defined() ? sum + term : term;
    }
    return sum;
}

TensorList with(TensorList vectors, const Tensor& v) {
    vectors.push_back(v);
    return vectors;
}
TensorList replaced(TensorList vectors, size_t i, const Tensor& v) {
    vectors[i] = v;
    return vectors;
}

Tensor derivative(const Near& near, const TensorList& vectors);
Tensor vanishing(const Near& near, const TensorList& vectors);
Tensor across(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Tensor& r, const Reduction& how);

enum class Mode { Reverse, Forward };

// The derivative of `vanishing` with respect to x: for a gradient or along a tangent.
Tensor change_along(const Near& near, const TensorList& vectors, const Tensor& v, Mode mode) {
    const Tensor whole = derivative(near, with(vectors, v));
    if (vectors.size() % 2 == 0) return whole;
    // What `derivative` changes by because its coefficient was computed from the lengths is no part of it.
    Near rest = near;
    rest.derived = true;
    const Tensor slope = slope_near(rest, coefficient(near, (vectors.size() + 1) / 2, true), true);
    const Tensor sum = paired_with_rest(near.how, vectors);
    if (mode == Mode::Forward) {
        const Tensor lengths_t =
            across(zeros(near.r.sizes(), near.r.dtype()), v * near.how.metric, near.x, near.r, near.how);
        return whole - sum * near.how.wide(chain_rule(lengths_t, slope));
    }
    rest.c = slope * near.how.inner(sum, v);
    return whole - derivative(rest, {});
}

// 0, with the derivatives of `vanishing`.
struct CuspBackward final : Node {
    Reduction how;
    SavedVariable cotangent, point, lengths;
    std::vector<SavedVariable> vectors;
    bool derived;
    static const SavedField fields[4];

    CuspBackward(const Near& near, const TensorList& given)
        : how(near.how), cotangent(near.c, false), point(near.x, false), lengths(near.r, false), derived(near.derived) {
        for (const Tensor& v : given) vectors.emplace_back(v, false);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const Near near{how, cotangent.unpack(this), point.unpack(this), lengths.unpack(this), true, derived};
        TensorList given;
        for (SavedVariable& v : vectors) given.push_back(v.unpack(this));
        const bool recorded = GradMode::is_enabled();
        if (recorded || given.size() % 2 == 0)
            if (task_should_compute_output(0)) grad_inputs[0] = change_along(near, given, grads[0], Mode::Reverse);
        if (recorded)
            for (size_t i = 0; i < given.size(); ++i)
                if (task_should_compute_output(i + 1))
                    grad_inputs[i + 1] = vanishing(near, replaced(given, i, grads[0]));
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, point, lengths, vectors); }
    std::string name() const override { return "CuspBackward"; }
};
const SavedField CuspBackward::fields[] = {
    saved_field<&CuspBackward::cotangent>("cotangent"), saved_field<&CuspBackward::point>("point"),
    saved_field<&CuspBackward::lengths>("lengths"), saved_field<&CuspBackward::vectors>("vectors")};

// What `derivative` is beyond its value at the point: it has the derivatives that this has.
Tensor vanishing(const Near& near, const TensorList& vectors) {
    Tensor zero = zeros(near.x.sizes(), near.x.dtype());
    bool recorded = records(near.x);
    int32_t level = highest_level(near.x);
    for (const Tensor& v : vectors) {
        recorded |= records(v);
        level = std::max(level, highest_level(v));
    }
    if (recorded) {
        Ref<Node> node = Ref<Node>::adopt(new CuspBackward(near, vectors));
        EdgeList edges = collect_next_edges(near.x);
        for (const Tensor& v : vectors)
            for (Edge& edge : collect_next_edges(v)) edges.push_back(std::move(edge));
        node->set_next_edges(std::move(edges));
        set_history(zero, node);
    }
    if (level < 0) return zero;
    const Tensor x_t = tangent_at(near.x, level);
    const bool is_constant = near.derived || requires_grad(near.c) || !tangent_at(near.c, level).defined();
    TensorList tangents;
    for (const Tensor& v : vectors) tangents.push_back(tangent_at(v, level));
    const LevelGuard hide(level);
    Near primal = near;
    primal.is_constant = is_constant;
    Tensor tangent;
    if (x_t.defined()) add_tangent(tangent, change_along(primal, vectors, x_t, Mode::Forward));
    for (size_t i = 0; i < vectors.size(); ++i)
        if (tangents[i].defined()) add_tangent(tangent, vanishing(primal, replaced(vectors, i, tangents[i])));
    if (tangent.defined()) set_tangent(zero, level, tangent);
    return zero;
}

// The gradient of the n-th derivative of h(|x|) along n vectors, at x = 0: 0 elsewhere.
Tensor derivative(const Near& near, const TensorList& vectors) {
    const Tensor beyond = vanishing(near, vectors);
    if (vectors.size() % 2 == 0) return beyond;
    const Tensor known = coefficient(near, (vectors.size() + 1) / 2, GradMode::is_enabled());
    const Tensor value = chain_rule(paired_with_rest(near.how, vectors), near.how.wide(known));
    return ops::where(zero_mask(near.how.wide(near.r)), value + beyond, 0);
}

// 0, with the derivative that the sum of t * x / r has at r = 0. It is known only if the cotangent is, as a function of r.
struct CuspTangentBackward final : Node, NeedsRecordedPass {
    Reduction how;
    SavedVariable tangent, point, lengths;
    static const SavedField fields[3];

    CuspTangentBackward(Reduction how, const Tensor& t, const Tensor& x, const Tensor& r)
        : how(std::move(how)), tangent(t, false), point(x, false), lengths(r, false) {
        need_recorded_pass(true);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const Near near{how, grads[0], point.unpack(this), lengths.unpack(this), GradMode::is_enabled()};
        const Tensor t = tangent.unpack(this);
        if (task_should_compute_output(0)) {
            grad_inputs[0] = derivative(near, {t});
            // What comes through the cotangent, which was computed from the lengths, is no part of it.
            if (GradMode::is_enabled()) {
                Near rest = near;
                rest.derived = true;
                rest.c = chain_rule(across(zeros(near.r.sizes(), near.r.dtype()), t, near.x, near.r, how),
                                    slope_near(near, near.c, true) * how.metric);
                grad_inputs[0] = grad_inputs[0] - derivative(rest, {});
            }
        }
        if (task_should_compute_output(1) && GradMode::is_enabled()) grad_inputs[1] = derivative(near, {});
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(tangent, point, lengths); }
    std::string name() const override { return "CuspTangentBackward"; }
};
const SavedField CuspTangentBackward::fields[] = {saved_field<&CuspTangentBackward::tangent>("tangent"),
                                                  saved_field<&CuspTangentBackward::point>("point"),
                                                  saved_field<&CuspTangentBackward::lengths>("lengths")};

Tensor along(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Tensor& r, const Reduction& how) {
    if (highest_level(x) < 0 && !records(x)) return product;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return product;
    const Tensor zero = vanishing({how, cotangent, x, r, true}, {});
    return ops::where(how.wide(is_zero), zero, product);
}

Tensor across(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Tensor& r, const Reduction& how) {
    const int32_t level = std::max(highest_level(x), highest_level(tangent));
    if (level < 0 && !records(x, tangent)) return sum;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return sum;
    Tensor zero = zeros(sum.sizes(), sum.dtype());
    if (records(x, tangent)) {
        Ref<Node> node = Ref<Node>::adopt(new CuspTangentBackward(how, tangent, x, r));
        node->set_next_edges(collect_next_edges(x, tangent));
        set_history(zero, node);
    }
    if (level >= 0) {
        const Tensor x_t = tangent_at(x, level);
        const LevelGuard hide(level);
        if (x_t.defined()) set_tangent(zero, level, how.length(x_t * tangent) / 0.0);
    }
    return ops::where(is_zero, zero, sum);
}

// A component in the shape and dtype of the lengths.
Tensor component(const Operand& x, const Tensor& r) {
    const Tensor t = x.tensor().dtype() == r.dtype() ? x.tensor() : ops::to_dtype(x.tensor(), r.dtype());
    return t.sizes() == r.sizes() ? t : ops::expand(t, r.sizes());
}

}  // namespace

Tensor along_direction(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Lengths& r) {
    return along(product, cotangent, x, r.value, Reduction(x, r));
}
Tensor across_direction(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Lengths& r) {
    return across(sum, tangent, x, r.value, Reduction(x, r));
}

Tensor along_component(const Tensor& product, const Tensor& cotangent, const Operand& x, const Tensor& r) {
    if (!x.is_tensor()) return product;
    return along(product, cotangent, component(x, r), r, Reduction(r, Ref<Node>::share(current_node()), true));
}
Tensor across_component(const Tensor& product, const Tensor& tangent, const Operand& x, const Tensor& r) {
    if (!x.is_tensor()) return product;
    return across(product, ops::expand(tangent, r.sizes()), component(x, r), r,
                  Reduction(r, gradient_edge(r).function, true));
}

Tensor along_phase(const Tensor& product, const Tensor& cotangent, const Tensor& x) {
    if (!is_complex(x.dtype())) return product;
    return along(product, cotangent, x, ops::abs(detach(x)), Reduction(x, Ref<Node>::share(current_node()), false));
}
Tensor across_phase(const Tensor& product, const Tensor& tangent, const Tensor& x, const Tensor& r) {
    if (!is_complex(x.dtype())) return product;
    return across(is_complex(product.dtype()) ? ops::real(product) : product, tangent, x, r,
                  Reduction(x, gradient_edge(r).function, false));
}

}  // namespace wengert::ops::formulas
