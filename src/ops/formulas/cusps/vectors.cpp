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

// 0, with the derivatives of `vanishing`.
struct CuspBackward final : Node {
    Reduction how;
    SavedVariable cotangent, point, lengths;
    std::vector<SavedVariable> vectors;
    bool derived;
    static const SavedField fields[4];

    CuspBackward(const Near& near, const TensorList& given)
        : how(near.how), cotangent(near.c, false), point(near.x, false), lengths(near.r, false), derived(near.derived) {
        save(vectors, given);
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
            const Tensor psi = functional(near, with(given, grads[0]));
            grad_inputs[n + 1] = psi;
            if (grad_inputs[0].defined()) grad_inputs[0] = grad_inputs[0] - through_cotangent(near, psi);
        }
        return grad_inputs;
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, point, lengths, vectors); }
    std::string name() const override { return "CuspBackward"; }
};
const SavedField CuspBackward::fields[] = {
    saved_field<&CuspBackward::cotangent>("cotangent"), saved_field<&CuspBackward::point>("point"),
    saved_field<&CuspBackward::lengths>("lengths"), saved_field<&CuspBackward::vectors>("vectors")};

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
            change.c = c_t - chain_rule(functional(near, {x_t * near.how.metric}), slope_near(primal, near.c, true));
        add_tangent(tangent, vanishing(change, vectors));
    }
    return tangent;
}

// What `derivative` is beyond its value at the point: it has the derivatives that this has.
Tensor vanishing(const Near& near, const TensorList& vectors) {
    Tensor zero = zeros(near.x.sizes(), near.x.dtype());
    if (records(near.x) || records(vectors)) {
        Ref<Node> node = Ref<Node>::adopt(new CuspBackward(near, vectors));
        EdgeList edges = edges_of(near, vectors);
        append_edge(edges, near.c);
        node->set_next_edges(std::move(edges));
        set_history(zero, node);
    }
    const int32_t level = std::max({highest_level(near.x), highest_level(near.c), highest_level(vectors)});
    if (level >= 0)
        if (const Tensor tangent = tangent_of_vanishing(near, vectors, level); tangent.defined())
            set_tangent(zero, level, tangent);
    return zero;
}

// 0, with the derivatives of `functional`. They are known only if the cotangent is, as a function of r.
struct CuspTangentBackward final : Node, NeedsRecordedPass {
    Reduction how;
    SavedVariable point, lengths;
    std::vector<SavedVariable> vectors;
    static const SavedField fields[3];

    CuspTangentBackward(const Near& near, const TensorList& given)
        : how(near.how), point(near.x, false), lengths(near.r, false) {
        save(vectors, given);
        need_recorded_pass(true);
    }
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grads[0].defined()) return grad_inputs;
        const bool recorded = GradMode::is_enabled();
        const Near near{how, grads[0], point.unpack(this), lengths.unpack(this), recorded};
        const TensorList given = unpacked(vectors, this);
        const size_t last = given.size() - 1;
        if ((recorded || last % 2 == 0) && task_should_compute_output(0))
            grad_inputs[0] = change_along(near, without(given, last), given[last], Mode::Reverse);
        if (!recorded) return grad_inputs;
        if (grad_inputs[0].defined())
            grad_inputs[0] = grad_inputs[0] - through_cotangent(near, functional(near, given));
        for (size_t i = 0; i < given.size(); ++i)
            if (task_should_compute_output(i + 1)) grad_inputs[i + 1] = vanishing(near, without(given, i));
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

Tensor functional(const Near& near, const TensorList& vectors) {
    Tensor zero = zeros(near.r.sizes(), near.r.dtype());
    if (records(near.x) || records(vectors)) {
        Ref<Node> node = Ref<Node>::adopt(new CuspTangentBackward(near, vectors));
        node->set_next_edges(edges_of(near, vectors));
        set_history(zero, node);
    }
    const int32_t level = std::max(highest_level(near.x), highest_level(vectors));
    if (level < 0) return zero;
    const Tensor x_t = tangent_at(near.x, level);
    TensorList tangents;
    for (const Tensor& v : vectors) tangents.push_back(tangent_at(v, level));
    const LevelGuard hide(level);
    Tensor tangent;
    if (x_t.defined()) {
        const TensorList all = with(vectors, x_t);  // of an even number: a derivative of c, not a number times c
        add_tangent(tangent, all.size() % 2 ? functional(near, all) : ops::abs(paired(near.how, all)) / 0.0);
    }
    for (size_t i = 0; i < vectors.size(); ++i)
        if (tangents[i].defined()) add_tangent(tangent, functional(near, replaced(vectors, i, tangents[i])));
    if (tangent.defined()) set_tangent(zero, level, tangent);
    return zero;
}

}  // namespace wengert::ops::formulas::cusps
