#include "ops/formulas/cusps/near.h"

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "graph/same_operation.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/shape.h"
#include "ops/formulas/common.h"
#include "ops/formulas/reductions.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas::cusps {

bool any(const Tensor& mask) { return *kernels::any(mask).data_as<bool>(); }
Tensor zero_mask(const Tensor& r) { return ops::eq(r, 0); }

Tensor Reduction::wide(const Tensor& t) const { return elementwise ? t : restored(t, sizes, dim, keepdim); }
Tensor Reduction::inner(const Tensor& a, const Tensor& b) const {
    const Tensor product = is_complex(a.dtype()) ? ops::real(ops::conj(a) * b) : a * b;
    const Tensor sum = elementwise ? product : ops::sum(product, dim, keepdim);
    return metric == 1 ? sum : sum * metric;
}

namespace {

// How c changes with the lengths that `maker` made; undefined if it does not.
struct Slope {
    Tensor value;
    bool is_known;
};
Slope slope_of(const Tensor& c, const Ref<Node>& maker, const Tensor& weights, bool record) {
    const Edge edge = requires_grad(c) ? gradient_edge(c) : Edge();
    if (!edge.is_valid() || !maker) return {Tensor(), false};
    const Repetitions lengths = repetitions_of(*maker, edge.function);
    if (lengths.edges.empty()) return {Tensor(), lengths.others.empty()};
    EdgeList edges = lengths.edges;
    for (const Edge& other : lengths.others) edges.push_back(other);
    const TensorList slopes = derivatives_of(c, edges, weights, record);
    Tensor sum;
    bool is_entangled = false;  // c changes in proportion to a length that may be one of the same vector
    for (size_t i = 0; i < edges.size(); ++i) {
        if (!slopes[i].defined()) continue;
        if (i < lengths.edges.size())
            sum = sum.defined() ? sum + slopes[i] : slopes[i];
        else
            is_entangled |= any(ops::ne(detach(slopes[i]), 0));
    }
    if (is_entangled || (sum.defined() && sum.sizes() != c.sizes()))
        return {Tensor(), false};  // or written through a view
    return {sum, sum.defined() || lengths.others.empty()};
}

}  // namespace

// One pass adds up what lengths have to do with each other, which is 0 there for c itself. For its derivatives it need not
// be: a pass with other signs tells.
Tensor slope_near(const Near& near, const Tensor& c, bool record) {
    const Tensor is_zero = zero_mask(near.r);
    const Tensor ones = ops::to_dtype(is_zero, c.dtype());
    auto [slope, is_known] = slope_of(c, near.how.maker, ones, record);
    is_known |= near.is_constant && !requires_grad(c);
    if (!slope.defined()) return is_known ? zeros_like(near.r) : full(near.r.sizes(), kNaN, near.r.dtype());
    if (near.derived && near.r.numel() > 1) {
        const Tensor count = kernels::cumsum(kernels::reshape(ones, Dims{-1}), 0);
        const Tensor signs = ops::reshape(ops::sin(count * count), c.sizes()) * ones;  // no two products agree
        const Tensor crossed = slope_of(c, near.how.maker, signs, record).value;
        const Tensor apart = ops::abs(detach(crossed) - detach(slope) * signs);
        slope = ops::where(ops::le(apart, ops::abs(detach(slope)) * 1e-9 + 1e-300), slope, kNaN);
    }
    return slope;
}

Edge edge_of_cotangent(const Near& near) {
    const Edge edge = requires_grad(near.c) ? gradient_edge(near.c) : Edge();
    if (!edge.is_valid()) return {};
    return near.how.maker && !leads_past(*near.how.maker, edge.function) ? Edge() : edge;
}

// Infinite weights reach whatever a partial derivative that happens to be 0 would hide.
Tensor is_flat(const Near& near) {
    const Tensor is_zero = zero_mask(near.r);
    const Tensor weights = ops::where(is_zero, full(near.r.sizes(), kInfinity, near.c.dtype()), 0);
    const auto [slope, is_known] = slope_of(near.c, near.how.maker, weights, false);
    if (slope.defined()) return ops::eq(slope, 0);
    return full(near.r.sizes(), is_known || !requires_grad(near.c), DType::Bool);
}

Tensor coefficient(const Near& near, size_t m, bool record) {
    const AutoGradMode recording(record || m > 1 || GradMode::is_enabled());
    Tensor c = near.c, pole = zeros_like(near.r);
    Near next = near;
    for (size_t order = 1; order < 2 * m; ++order) {
        if (order % 2 == 1) pole = ops::where(ops::eq(c, 0), pole, c / 0.0);
        const bool last = order + 1 == 2 * m;
        if (order % 2 == 1 && order > 1) c = c / static_cast<double>(order);
        next.is_constant |= requires_grad(c);  // of what was recorded, what is not is constant
        c = slope_near(next, c, record || !last);
        next.derived = true;
    }
    if (!near.how.isotropic) c = ops::where(ops::eq(c, 0), 0, kNaN);
    return ops::where(ops::eq(pole, 0), c, pole);
}

}  // namespace wengert::ops::formulas::cusps
