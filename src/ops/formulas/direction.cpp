#include "ops/formulas/direction.h"

#include <limits>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "kernels/reduce.h"
#include "ops/formulas/common.h"
#include "ops/formulas/reductions.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool any(const Tensor& mask) { return *kernels::any(mask).data_as<bool>(); }
Tensor zero_mask(const Tensor& r) { return ops::eq(r, 0); }

// The limit of c / r at r = 0, in the shape of r.
Tensor limit_of_quotient(const Tensor& c, const Tensor& r, bool isotropic, bool known) {
    Tensor slope = requires_grad(c) && requires_grad(r)
                       ? derivative_of(c, r, full(c.sizes(), 1, c.dtype()), GradMode::is_enabled())
                       : Tensor();
    if (!slope.defined()) slope = known && !requires_grad(c) ? zeros_like(r) : full(r.sizes(), kNaN, r.dtype());
    if (!isotropic) slope = ops::where(ops::eq(slope, 0), 0, kNaN);
    return ops::where(ops::eq(c, 0), slope, detach(c) / 0.0);
}

struct Reduction {
    Dims sizes;  // of x
    std::optional<Dims> dim;
    bool keepdim, isotropic;

    Reduction(const Tensor& x, const Lengths& r)
        : sizes(x.sizes()), dim(r.dim), keepdim(r.keepdim), isotropic(r.isotropic) {}
    Tensor wide(const Tensor& t) const { return restored(t, sizes, dim, keepdim); }
};

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
        const Tensor limit = reduction.wide(limit_of_quotient(c, r, reduction.isotropic, true));
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
        const Tensor limit = limit_of_quotient(grads[0], r, reduction.isotropic, requires_grad(grads[0]));
        return {ops::where(zero_mask(reduction.wide(r)), chain_rule(t, reduction.wide(limit)), 0)};
    }
    std::span<const SavedField> saved_fields() const override { return fields; }
    void release_variables() override { release_fields(tangent, lengths); }
    std::string name() const override { return "DirectionTangentBackward"; }
};
const SavedField DirectionTangentBackward::fields[] = {saved_field<&DirectionTangentBackward::tangent>("tangent"),
                                                       saved_field<&DirectionTangentBackward::lengths>("lengths")};

template <class N>
Tensor zero_with(IntSpan sizes, DType dtype, const Tensor& x, const Tensor& saved, const Lengths& r) {
    Tensor zero = zeros(sizes, dtype);
    if (records(x)) {
        Ref<Node> node = Ref<Node>::adopt(new N(Reduction(x, r), saved, r.value));
        node->set_next_edges(collect_next_edges(x));
        set_history(zero, node);
    }
    return zero;
}

}  // namespace

Tensor along_direction(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Lengths& r) {
    const int32_t level = highest_level(x);
    if (level < 0 && !records(x)) return product;
    const Tensor is_zero = zero_mask(r.value);
    if (!any(is_zero)) return product;
    Tensor zero = zero_with<DirectionBackward>(product.sizes(), product.dtype(), x, cotangent, r);
    if (level >= 0) {
        const Tensor x_t = tangent_at(x, level);
        const bool is_constant = !tangent_at(cotangent, level).defined();
        const LevelGuard hide(level);
        const Reduction reduction(x, r);
        const Tensor limit =
            limit_of_quotient(cotangent, r.value, r.isotropic, requires_grad(cotangent) || is_constant);
        set_tangent(zero, level, ops::where(reduction.wide(is_zero), chain_rule(x_t, reduction.wide(limit)), 0));
    }
    return ops::where(Reduction(x, r).wide(is_zero), zero, product);
}

Tensor across_direction(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Lengths& r) {
    const int32_t level = highest_level(x);
    if (level < 0 && !records(x)) return sum;
    const Tensor is_zero = zero_mask(r.value);
    if (!any(is_zero)) return sum;
    Tensor zero = zero_with<DirectionTangentBackward>(sum.sizes(), sum.dtype(), x, tangent, r);
    if (level >= 0) {
        const Tensor x_t = tangent_at(x, level);
        const LevelGuard hide(level);
        set_tangent(zero, level, ops::linalg_vector_norm(x_t * tangent, 1, r.dim, r.keepdim) / 0.0);
    }
    return ops::where(is_zero, zero, sum);
}

}  // namespace wengert::ops::formulas
