#include "ops/formulas/direction.h"

#include <limits>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "graph/same_operation.h"
#include "kernels/reduce.h"
#include "ops/formulas/common.h"
#include "ops/formulas/reductions.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool any(const Tensor& mask) { return *kernels::any(mask).data_as<bool>(); }
Tensor zero_mask(const Tensor& r) { return ops::eq(r, 0); }

// What lengths were made of, and how.
struct Reduction {
    Ref<Node> maker;  // of the lengths; null if that was not recorded
    Dims sizes;       // of x
    std::optional<Dims> dim;
    bool keepdim, isotropic;
    bool elementwise = false;

    Reduction(const Tensor& x, const Lengths& r)
        : maker(gradient_edge(r.value).function),
          sizes(x.sizes()),
          dim(r.dim),
          keepdim(r.keepdim),
          isotropic(r.isotropic) {}
    Reduction(const Tensor& x, Ref<Node> maker)
        : maker(std::move(maker)), sizes(x.sizes()), keepdim(false), isotropic(true), elementwise(true) {}

    Tensor wide(const Tensor& t) const { return elementwise ? t : restored(t, sizes, dim, keepdim); }
    Tensor length(const Tensor& x) const {
        return elementwise ? ops::abs(x) : ops::linalg_vector_norm(x, 1, dim, keepdim);
    }
};

// How c changes with the lengths that `maker` made; undefined if it does not.
struct Slope {
    Tensor value;
    bool is_known;
};
Slope slope_of(const Tensor& c, const Ref<Node>& maker) {
    if (!requires_grad(c)) return {Tensor(), false};
    if (!maker) return {Tensor(), false};
    const Repetitions lengths = repetitions_of(*maker, gradient_edge(c).function);
    if (lengths.edges.empty()) return {Tensor(), !lengths.others};
    const Tensor one = full(c.sizes(), 1, c.dtype());
    Tensor sum;
    for (const Tensor& slope : derivatives_of(c, lengths.edges, one, GradMode::is_enabled()))
        if (slope.defined()) sum = sum.defined() ? sum + slope : slope;
    if (sum.defined() && sum.sizes() != c.sizes()) return {Tensor(), false};  // written through a view
    return {sum, sum.defined() || !lengths.others};
}

// The limit of c / r at r = 0, in the shape of r. `is_constant`: a c that was not recorded does not depend on anything.
Tensor limit_of_quotient(const Tensor& c, const Tensor& r, const Reduction& how, bool is_constant) {
    auto [slope, is_known] = slope_of(c, how.maker);
    is_known |= is_constant && !requires_grad(c);
    if (!slope.defined()) slope = is_known ? zeros_like(r) : full(r.sizes(), kNaN, r.dtype());
    if (!how.isotropic) slope = ops::where(ops::eq(slope, 0), 0, kNaN);
    return ops::where(ops::eq(c, 0), slope, detach(c) / 0.0);
}

// 0 with the derivative that c(r) x / r has at r = 0.
struct DirectionBackward final : Node {
    Reduction reduction;
    SavedVariable cotangent, lengths;
    static const SavedField fields[2];

    DirectionBackward(Reduction how, const Tensor& c, const Tensor& r)
        : reduction(std::move(how)), cotangent(c, false), lengths(r, false) {}
    TensorList apply(TensorList&& grads) override {
        if (!grads[0].defined()) return TensorList(1);
        const Tensor c = cotangent.unpack(this), r = lengths.unpack(this);
        const Tensor limit = reduction.wide(limit_of_quotient(c, r, reduction, true));
        return {ops::where(zero_mask(reduction.wide(r)), chain_rule(grads[0], limit), 0)};
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(cotangent, lengths); }
    std::string name() const override { return "DirectionBackward"; }
};
const SavedField DirectionBackward::fields[] = {saved_field<&DirectionBackward::cotangent>("cotangent"),
                                                saved_field<&DirectionBackward::lengths>("lengths")};

// 0 with the derivative that the sum of t * x / r has at r = 0.
struct DirectionTangentBackward final : Node {
    Reduction reduction;
    SavedVariable tangent, lengths;
    static const SavedField fields[2];

    DirectionTangentBackward(Reduction how, const Tensor& t, const Tensor& r)
        : reduction(std::move(how)), tangent(t, false), lengths(r, false) {}
    TensorList apply(TensorList&& grads) override {
        if (!grads[0].defined()) return TensorList(1);
        const Tensor t = tangent.unpack(this), r = lengths.unpack(this);
        const Tensor limit = limit_of_quotient(grads[0], r, reduction, requires_grad(grads[0]));
        return {ops::where(zero_mask(reduction.wide(r)), chain_rule(t, reduction.wide(limit)), 0)};
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(tangent, lengths); }
    std::string name() const override { return "DirectionTangentBackward"; }
};
const SavedField DirectionTangentBackward::fields[] = {saved_field<&DirectionTangentBackward::tangent>("tangent"),
                                                       saved_field<&DirectionTangentBackward::lengths>("lengths")};

template <class N>
Tensor zero_with(IntSpan sizes, DType dtype, const Tensor& x, const Tensor& saved, const Tensor& r,
                 const Reduction& how) {
    Tensor zero = zeros(sizes, dtype);
    if (records(x)) {
        Ref<Node> node = Ref<Node>::adopt(new N(how, saved, r));
        node->set_next_edges(collect_next_edges(x));
        set_history(zero, node);
    }
    return zero;
}

Tensor along(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Tensor& r, const Reduction& how) {
    const int32_t level = highest_level(x);
    if (level < 0 && !records(x)) return product;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return product;
    Tensor zero = zero_with<DirectionBackward>(product.sizes(), product.dtype(), x, cotangent, r, how);
    if (level >= 0) {
        const Tensor x_t = tangent_at(x, level);
        const bool is_constant = !tangent_at(cotangent, level).defined();
        const LevelGuard hide(level);
        const Tensor limit = limit_of_quotient(cotangent, r, how, requires_grad(cotangent) || is_constant);
        set_tangent(zero, level, ops::where(how.wide(is_zero), chain_rule(x_t, how.wide(limit)), 0));
    }
    return ops::where(how.wide(is_zero), zero, product);
}

Tensor across(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Tensor& r, const Reduction& how) {
    const int32_t level = highest_level(x);
    if (level < 0 && !records(x)) return sum;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return sum;
    Tensor zero = zero_with<DirectionTangentBackward>(sum.sizes(), sum.dtype(), x, tangent, r, how);
    if (level >= 0) {
        const Tensor x_t = tangent_at(x, level);
        const LevelGuard hide(level);
        set_tangent(zero, level, how.length(x_t * tangent) / 0.0);
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
    return along(product, cotangent, component(x, r), r, Reduction(r, Ref<Node>::share(current_node())));
}
Tensor across_component(const Tensor& product, const Tensor& tangent, const Operand& x, const Tensor& r) {
    if (!x.is_tensor()) return product;
    return across(product, ops::expand(tangent, r.sizes()), component(x, r), r,
                  Reduction(r, gradient_edge(r).function));
}

Tensor along_phase(const Tensor& product, const Tensor& cotangent, const Tensor& x) {
    if (!is_complex(x.dtype())) return product;
    return along(product, cotangent, x, ops::abs(detach(x)), Reduction(x, Ref<Node>::share(current_node())));
}
Tensor across_phase(const Tensor& product, const Tensor& tangent, const Tensor& x, const Tensor& r) {
    if (!is_complex(x.dtype())) return product;
    return across(is_complex(product.dtype()) ? ops::real(product) : product, tangent, x, r,
                  Reduction(x, gradient_edge(r).function));
}

Tensor root_limit(const Tensor& product, const Tensor& cotangent, const Tensor& r) {
    if (!requires_grad(cotangent) || is_complex(r.dtype())) return product;
    const Tensor is_lost = ops::logical_and(zero_mask(r), ops::eq(cotangent, 0));
    if (!any(is_lost)) return product;
    const Tensor slope = slope_of(cotangent, Ref<Node>::share(current_node())).value;
    return slope.defined() ? ops::where(is_lost, slope * 0.5, product) : product;
}

}  // namespace wengert::ops::formulas
