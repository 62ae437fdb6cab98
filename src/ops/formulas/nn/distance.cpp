#include "generated/ops/formulas/nn/distance.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/formulas/reductions/norms.h"
#include "generated/ops/indexing.h"
#include "generated/ops/linalg.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "kernels/creation.h"
#include "kernels/shape/shape.h"

namespace wengert::ops::formulas {

namespace {

const Dims kLast{-1};

Tensor as_rows_of_pairs(const Tensor& x1) { return ops::unsqueeze(x1, -2); }     // [..., m, 1, d]
Tensor as_columns_of_pairs(const Tensor& x2) { return ops::unsqueeze(x2, -3); }  // [..., 1, n, d]
Tensor differences(const Tensor& x1, const Tensor& x2) { return as_rows_of_pairs(x1) - as_columns_of_pairs(x2); }

// The places of rows i < j.
struct Pairs {
    Tensor first, second;
    Pairs(int64_t n, const Tensor& x) {
        const Tensor both = kernels::triu_indices(n, n, 1, beside(x));
        first = kernels::select(both, 0, 0);
        second = kernels::select(both, 0, 1);
    }
    Tensor differences(const Tensor& x) const {
        return ops::index_select(x, 0, first) - ops::index_select(x, 0, second);
    }
};

}  // namespace

Tensor distances(const Tensor& x1, const Tensor& x2, double p) {
    check(x1.dim() >= 2 && x2.dim() >= 2, ErrorKind::Runtime,
          "[cdist] cdist only supports at least 2D tensors, got: ", x1.dim(), "D and ", x2.dim(), "D");
    check(x1.size(-1) == x2.size(-1), ErrorKind::Runtime,
          "[cdist] X1 and X2 must have the same number of columns. X1: ", x1.size(-1), " X2: ", x2.size(-1));
    auto batch = [](const Tensor& t) { return IntSpan(t.sizes()).first(t.sizes().size() - 2); };
    const Dims common = broadcast_shapes(batch(x1), batch(x2), "cdist");
    auto in_batch = [&](const Tensor& t) {
        Dims sizes = common;
        sizes.push_back(t.size(-2));
        sizes.push_back(t.size(-1));
        return sizes == t.sizes() ? t : ops::expand(t, sizes);
    };
    return ops::cdist_of(in_batch(x1), in_batch(x2), p);
}

std::tuple<Tensor, Tensor> cdist_grads(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                                       const Tensor& result, const std::array<bool, 2>& mask) {
    const Tensor g = norm_grad(grad, differences(x1, x2), result, p, kLast, false);
    std::tuple<Tensor, Tensor> out;
    if (mask[0]) std::get<0>(out) = ops::sum(g, Dims{-2});
    if (mask[1]) std::get<1>(out) = ops::neg(ops::sum(g, Dims{-3}));
    return out;
}

Tensor cdist_tangent(const Tensor& tangent, int64_t which, const Tensor& x1, const Tensor& x2, double p,
                     const Tensor& result) {
    const Tensor pairs = differences(x1, x2);
    const Tensor t = which == 0 ? as_rows_of_pairs(tangent) : as_columns_of_pairs(tangent);
    return norm_tangent(ops::expand(t, pairs.sizes()), pairs, result, p, kLast, false);
}

Tensor pdist_grad(const Tensor& grad, const Tensor& self, double p, const Tensor& result) {
    const Pairs pairs(self.sizes()[0], self);
    const Tensor g = norm_grad(grad, pairs.differences(self), result, p, kLast, false);
    return ops::index_select_backward(g, self.sizes(), 0, pairs.first) -
           ops::index_select_backward(g, self.sizes(), 0, pairs.second);
}

Tensor pdist_tangent(const Tensor& tangent, const Tensor& self, double p, const Tensor& result) {
    const Pairs pairs(self.sizes()[0], self);
    return norm_tangent(pairs.differences(tangent), pairs.differences(self), result, p, kLast, false);
}

}  // namespace wengert::ops::formulas
