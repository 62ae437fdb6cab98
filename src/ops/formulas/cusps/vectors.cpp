#include "ops/formulas/cusps/vectors.h"

#include <algorithm>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "ops/formulas/common.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas::cusps {

namespace {

TensorList with(TensorList vectors, const Tensor& v) {
    vectors.push_back(v);
    return vectors;
}
TensorList without(TensorList vectors, size_t i) {
    vectors.erase(i);
    return vectors;
}
TensorList replaced(TensorList vectors, size_t i, const Tensor& v) {
    vectors[i] = v;
    return vectors;
}

// The sums over all ways to pair vectors: of products of inner products, and, of an odd number, times the one left over.
Tensor paired(const Reduction& how, TensorList vectors) {
    if (vectors.empty()) return {};
    const Tensor last = vectors.back();
    vectors.pop_back();
    Tensor sum;
    for (size_t i = 0; i < vectors.size(); ++i) {
        const Tensor others = paired(how, without(vectors, i));
        Tensor term = how.inner(vectors[i], last);
        if (others.defined()) term = term * others;
        sum = sum.defined() ? sum + term : term;
    }
    return sum;
}
Tensor paired_with_rest(const Reduction& how, const TensorList& vectors) {
    Tensor sum;
    for (size_t i = 0; i < vectors.size(); ++i) {
        const Tensor others = paired(how, without(vectors, i));
        const Tensor term = others.defined() ? vectors[i] * how.wide(others) : vectors[i];
        sum = sum.defined() ? sum + term : term;
    }
    return sum;
}

enum class Mode { Reverse, Forward };

Tensor vanishing(const Near& near, const TensorList& vectors);

// The inner product in the space of x alone.
Tensor product(const Reduction& how, const Tensor& a, const Tensor& b) {
    const Tensor inner = how.inner(a, b);
    return how.metric == 1 ? inner : inner / how.metric;
}
void save(std::vector<SavedVariable>& saved, const TensorList& vectors) {
    for (const Tensor& v : vectors) saved.emplace_back(v, false);
}
TensorList unpacked(const std::vector<SavedVariable>& saved, Node* node) {
    TensorList vectors;
    for (const SavedVariable& v : saved) vectors.push_back(v.unpack(node));
    return vectors;
}
EdgeList edges_of(const Near& near, const TensorList& vectors) {
    EdgeList edges = collect_next_edges(near.x);
    for (const Tensor& v : vectors) append_edge(edges, v);
    return edges;
}

// What reaches x through c and the lengths that it was computed from, where `psi` is the gradient of c.
Tensor through_cotangent(const Near& near, const Tensor& psi) {
    Near rest = near;
    rest.derived = true;
    rest.c = chain_rule(psi, slope_near(near, near.c, true) * near.how.metric);
    return derivative(rest, {});
}

// The derivative of `vanishing` with respect to x, c with it: for a gradient or along a tangent.
Tensor change_along(const Near& near, const TensorList& vectors, const Tensor& v, Mode mode) {
    const Tensor whole = derivative(near, with(vectors, v));
    if (vectors.size() % 2 == 0) return whole;
    // What `derivative` changes by because its coefficient was computed from the lengths is no part of it.
    Near rest = near;
    rest.derived = true;
    const Tensor slope = slope_near(rest, coefficient(near, (vectors.size() + 1) / 2, true), true);
    const Tensor sum = paired_with_rest(near.how, vectors);
    if (mode == Mode::Forward)
        return whole - sum * near.how.wide(chain_rule(functional(near, {v * near.how.metric}), slope));
    rest.c = slope * near.how.inner(sum, v);
    return whole - derivative(rest, {});
}

// 0, with the derivatives of `vanishing`. The last edge leads to c, or to `known`: the coefficient of what is linear in x.
struct CuspBackward final : Node {
    Reduction how;
    SavedVariable cotangent, point, lengths, known;
    std::vector<SavedVariable> vectors;
    bool derived;
    static const SavedField fields[5];

    CuspBackward(const Near& near, const TensorList& given, const Tensor& coefficient)
        : how(near.how), cotangent(near.c, false), point(near.x, false), lengths(near.r, false), derived(near.derived) {
        if (coefficient.defined()) known.save(coefficient, false);
        save(vectors, given);
        EdgeList edges = edges_of(near, given);
        if (coefficient.defined())
            append_edge(edges, coefficient);
        else
            edges.push_back(edge_of_cotangent(near));
        set_next_edges(std::move(edges));
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const Near near{how, cotangent.unpack(this), point.unpack(this), lengths.unpack(this), true, derived};
        const TensorList given = unpacked(vectors, this);
        const size_t n = given.size();
        const bool recorded = GradMode::is_enabled();
        if ((recorded || n % 2 == 0) && task_should_compute_output(0))
            grad_inputs[0] = change_along(near, given, grads[0], Mode::Reverse);
        if (!recorded) return grad_inputs;  // 0, and nobody asks for more
        for (size_t i = 0; i < n; ++i)
            if (task_should_compute_output(i + 1)) grad_inputs[i + 1] = vanishing(near, replaced(given, i, grads[0]));
        if (task_should_compute_output(n + 1)) {
            Near origin = near;  // of what goes to x by way of c
            Tensor& psi = grad_inputs[n + 1];
            if (known.was_none()) {
                psi = functional(near, with(given, grads[0]));
            } else {
                origin.c = known.unpack(this);
                origin.derived = true;
                psi = product(near.how, paired_with_rest(near.how, with(given, near.x)), grads[0]);
            }
            if (grad_inputs[0].defined()) grad_inputs[0] = grad_inputs[0] - through_cotangent(origin, psi);
        }
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, point, lengths, known, vectors); }
    std::string name() const override { return "CuspBackward"; }
};
const SavedField CuspBackward::fields[] = {
    saved_field<&CuspBackward::cotangent>("cotangent"), saved_field<&CuspBackward::point>("point"),
    saved_field<&CuspBackward::lengths>("lengths"), saved_field<&CuspBackward::known>("known"),
    saved_field<&CuspBackward::vectors>("vectors")};

// Tangents of a tangent of the lengths are unknown, and known not to count where what comes from the lengths is taken off.
Tensor without_unknown(const Tensor& c) {
    const int32_t level = highest_level(c);
    if (level < 0) return c;
    const LevelGuard hide(level);
    if (!any(ops::logical_not(ops::isfinite(detach(tangent_at(c, level)))))) return c;
    const LevelGuard hide_all(0);
    return ops::clone(c);
}

// The tangent of `vanishing` at `level`.
Tensor tangent_of_vanishing(const Near& near, const TensorList& vectors, int32_t level) {
    const Tensor x_t = tangent_at(near.x, level), c_t = tangent_at(near.c, level);
    Near primal = near;
    primal.is_constant = near.derived || requires_grad(near.c) || !c_t.defined();
    TensorList tangents;
    for (const Tensor& v : vectors) tangents.push_back(tangent_at(v, level));
    const LevelGuard hide(level);
    Tensor tangent;
    if (x_t.defined()) add_tangent(tangent, change_along(primal, vectors, x_t, Mode::Forward));
    for (size_t i = 0; i < vectors.size(); ++i)
        if (tangents[i].defined()) add_tangent(tangent, vanishing(primal, replaced(vectors, i, tangents[i])));
    if (c_t.defined() && (records(near.x) || highest_level(near.x) >= 0)) {
        Near change = primal;  // of c by itself: the lengths have had theirs with x
        change.derived = true;
        change.c = c_t;
        if (x_t.defined() && requires_grad(near.c))
            change.c = without_unknown(
                c_t - chain_rule(functional(near, {x_t * near.how.metric}), slope_near(primal, near.c, true)));
        add_tangent(tangent, vanishing(change, vectors));
    }
    return tangent;
}

// Below each visible level the same is 0 again, with tangents of its own.
Tensor vanishing(const Near& near, const TensorList& vectors, const Tensor& known) {
    const int32_t level = std::max({highest_level(near.x), highest_level(near.c), highest_level(vectors)});
    Tensor zero;
    if (level < 0) {
        zero = zeros(near.x.sizes(), near.x.dtype());
        if (records(near.x) || records(vectors))
            set_history(zero, Ref<Node>::adopt(new CuspBackward(near, vectors, known)));
        return zero;
    }
    {
        const LevelGuard hide(level);
        zero = vanishing(near, vectors, known);
    }
    if (const Tensor tangent = tangent_of_vanishing(near, vectors, level); tangent.defined())
        set_tangent(zero, level, tangent);
    return zero;
}

// What `derivative` is beyond its value at the point: it has the derivatives that this has.
Tensor vanishing(const Near& near, const TensorList& vectors) {
    const bool is_linear = vectors.size() % 2 == 0;
    if (!is_linear || !requires_grad(near.c) || highest_level(near.x) < 0 || !records(near.x) ||
        !edge_of_cotangent(near).is_valid())
        return vanishing(near, vectors, {});
    // `functional` has no tangents, so the coefficient cannot wait until somebody asks for it.
    return vanishing(near, vectors, coefficient(near, vectors.size() / 2 + 1, true));
}

// The derivatives of `functional`. They are known only if the cotangent is, as a function of r.
struct CuspTangentBackward final : Node, NeedsRecordedPass {
    Reduction how;
    SavedVariable point, lengths;
    std::vector<SavedVariable> vectors;
    Part part;
    static const SavedField fields[3];

    CuspTangentBackward(const Near& near, const TensorList& given, Part part)
        : how(near.how), point(near.x, false), lengths(near.r, false), part(part) {
        save(vectors, given);
        set_next_edges(edges_of(near, given));
        need_recorded_pass(true);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const bool recorded = GradMode::is_enabled();
        const Near near{how, grads[0], point.unpack(this), lengths.unpack(this), recorded};
        const TensorList given = unpacked(vectors, this);
        const size_t last = given.size() - 1;
        if ((recorded || last % 2 == 0) && task_should_compute_output(0)) {
            grad_inputs[0] = part == Part::Whole ? derivative(near, given)
                                                 : change_along(near, without(given, last), given[last], Mode::Reverse);
            if (recorded) grad_inputs[0] = grad_inputs[0] - through_cotangent(near, functional(near, given));
        }
        if (!recorded && (part == Part::Vanishing || last % 2 == 0)) return grad_inputs;
        for (size_t i = 0; i <= last; ++i)
            if (task_should_compute_output(i + 1))
                grad_inputs[i + 1] =
                    part == Part::Whole ? derivative(near, without(given, i)) : vanishing(near, without(given, i));
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(point, lengths, vectors); }
    std::string name() const override { return "CuspTangentBackward"; }
};
const SavedField CuspTangentBackward::fields[] = {saved_field<&CuspTangentBackward::point>("point"),
                                                  saved_field<&CuspTangentBackward::lengths>("lengths"),
                                                  saved_field<&CuspTangentBackward::vectors>("vectors")};

}  // namespace

Tensor derivative(const Near& near, const TensorList& vectors) {
    const Tensor beyond = vanishing(near, vectors);
    if (vectors.size() % 2 == 0) return beyond;
    const Tensor known = coefficient(near, (vectors.size() + 1) / 2, GradMode::is_enabled());
    const Tensor value = chain_rule(paired_with_rest(near.how, vectors), near.how.wide(known));
    return ops::where(zero_mask(near.how.wide(near.r)), value + beyond, 0);
}

Tensor functional(const Near& near, const TensorList& vectors, Part part) {
    const int32_t level = std::max(highest_level(near.x), highest_level(vectors));
    if (level < 0) {
        // As a number it is infinite where it takes a derivative of c, since only c itself is there to be multiplied.
        const bool is_number = part == Part::Whole && vectors.size() % 2 == 0;
        Tensor out = is_number ? ops::clone(detach(ops::abs(paired(near.how, vectors)) / 0.0))
                               : zeros(near.r.sizes(), near.r.dtype());
        if (records(near.x) || records(vectors))
            set_history(out, Ref<Node>::adopt(new CuspTangentBackward(near, vectors, part)));
        return out;
    }
    const Tensor x_t = tangent_at(near.x, level);
    TensorList tangents;
    for (const Tensor& v : vectors) tangents.push_back(tangent_at(v, level));
    const LevelGuard hide(level);
    Tensor out = functional(near, vectors, part), tangent;
    if (x_t.defined()) add_tangent(tangent, functional(near, with(vectors, x_t), Part::Whole));
    for (size_t i = 0; i < vectors.size(); ++i)
        if (tangents[i].defined()) add_tangent(tangent, functional(near, replaced(vectors, i, tangents[i]), part));
    if (tangent.defined()) set_tangent(out, level, tangent);
    return out;
}

}  // namespace wengert::ops::formulas::cusps
