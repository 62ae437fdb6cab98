#include "generated/ops/formulas/reductions/reductions.h"

#include <cmath>
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/elementwise/singular.h"
#include "generated/ops/formulas/reductions/scans.h"
#include "generated/ops/indexing.h"
#include "generated/ops/normalization.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "graph/strict_singular.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "kernels/reductions/scan.h"
#include "kernels/shape/shape.h"
#include "ops/formulas/elementwise/singular.h"
#include "ops/known_values.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

namespace {

bool is_reduced(int64_t d, int64_t n, const std::optional<Dims>& dim) {
    if (!dim || dim->empty()) return true;
    for (int64_t r : *dim)
        if (wrap_dim(r, n, "reduction") == d) return true;
    return false;
}

Tensor conj_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }
Tensor real_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::real(t) : t; }

}  // namespace

std::optional<Dims> optional_dims(std::optional<int64_t> dim) {
    return dim ? std::optional<Dims>(Dims{*dim}) : std::nullopt;
}

int64_t reduced_count(IntSpan sizes, const std::optional<Dims>& dim) {
    const auto n = static_cast<int64_t>(sizes.size());
    int64_t count = 1;
    for (int64_t d = 0; d < n; ++d)
        if (is_reduced(d, n, dim)) count *= sizes[static_cast<size_t>(d)];
    return count;
}

Tensor restored(const Tensor& result, IntSpan sizes, const std::optional<Dims>& dim, bool keepdim) {
    if (keepdim || sizes.empty()) return result;
    const auto n = static_cast<int64_t>(sizes.size());
    Dims kept(sizes);
    for (int64_t d = 0; d < n; ++d)
        if (is_reduced(d, n, dim)) kept[static_cast<size_t>(d)] = 1;
    return ops::reshape(result, kept);
}

// --- Products

namespace {

// All reduced dimensions as one, the last: [kept..., reduced].
Tensor products_last(const Tensor& self, const std::optional<Dims>& dim, Dims* order, Dims* shape) {
    const int64_t n = self.dim();
    for (bool reduced : {false, true})
        for (int64_t d = 0; d < n; ++d)
            if (is_reduced(d, n, dim) == reduced) order->push_back(d);
    Tensor moved = ops::permute(self, *order);
    *shape = moved.sizes();
    Dims flat;
    for (int64_t d = 0; d < n; ++d)
        if (!is_reduced(d, n, dim)) flat.push_back(self.sizes()[static_cast<size_t>(d)]);
    flat.push_back(reduced_count(self.sizes(), dim));
    return ops::reshape(moved, flat);
}

}  // namespace

Tensor product_of_others(const Tensor& self, const Tensor& result, const std::optional<Dims>& dim, bool keepdim) {
    Tensor x = ops::to_dtype(self, result.dtype());
    if (all_normal(result)) return restored(result, x.sizes(), dim, keepdim) / x;
    if (x.dim() == 0) return full(x.sizes(), 1, x.dtype(), x.device());
    // Something is zero (or too big or small to divide by): the product before an element times that behind it.
    Dims order, shape, inverse(static_cast<size_t>(x.dim()));
    Tensor line = products_last(x, dim, &order, &shape);
    for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    const auto in_shape = [&](const Tensor& others) { return ops::permute(ops::reshape(others, shape), inverse); };
    const bool computed = x.dtype() == DType::Float32 || x.dtype() == DType::Float64;  // as they are
    if (computed && !asks_more_than_values(line)) return in_shape(kernels::products_of_others(line));
    const Dims last{-1};
    Tensor before = shifted_cumprod(line, -1);
    Tensor behind = ops::flip(shifted_cumprod(ops::flip(line, last), -1), last);
    return in_shape(chain_rule(before, behind));
}

// --- Extremes and medians

namespace {

struct Equals {
    Tensor mask;   // [self]
    Tensor count;  // [result]
};

Equals equals(const Tensor& self, const Tensor& result, const std::optional<Dims>& dim, bool keepdim) {
    Tensor wide = restored(result, self.sizes(), dim, keepdim);
    Tensor mask = ops::logical_or(ops::eq(self, wide), ops::logical_and(ops::isnan(self), ops::isnan(wide)));
    return {mask, ops::to_dtype(ops::sum(mask, dim, keepdim), result.dtype())};
}

}  // namespace

Tensor share_among_equals(const Tensor& grad, const Tensor& self, const Tensor& result, const std::optional<Dims>& dim,
                          bool keepdim) {
    const Equals e = equals(self, result, dim, keepdim);
    return ops::where(e.mask, restored(grad / e.count, self.sizes(), dim, keepdim), 0);
}

Tensor mean_of_equals(const Tensor& tangent, const Tensor& self, const Tensor& result, const std::optional<Dims>& dim,
                      bool keepdim) {
    const Equals e = equals(self, result, dim, keepdim);
    return ops::sum(ops::where(e.mask, tangent, 0), dim, keepdim) / e.count;
}

Tensor aminmax_grad(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min,
                    const Tensor& max, std::optional<int64_t> dim, bool keepdim) {
    const std::optional<Dims> dims = optional_dims(dim);
    Tensor of_min = grad_min.defined() ? share_among_equals(grad_min, self, min, dims, keepdim) : Tensor();
    if (!grad_max.defined()) return of_min;
    Tensor of_max = share_among_equals(grad_max, self, max, dims, keepdim);
    return of_min.defined() ? of_min + of_max : of_max;
}

// --- What an index chose

Tensor gather_grad(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& indices, bool keepdim) {
    if (sizes.empty()) return ops::reshape(grad, sizes);
    if (keepdim) return ops::gather_backward(grad, sizes, dim, indices);
    return ops::gather_backward(ops::unsqueeze(grad, dim), sizes, dim, ops::unsqueeze(indices, dim));
}

Tensor value_at(const Tensor& tangent, int64_t dim, const Tensor& indices, bool keepdim) {
    if (tangent.dim() == 0) return ops::clone(tangent);
    if (keepdim) return ops::gather(tangent, dim, indices);
    return ops::squeeze_dim(ops::gather(tangent, dim, ops::unsqueeze(indices, dim)), dim);
}

// --- Moments

namespace {

// The partial derivative of the variance is 2 (x - mean) / (n - correction): times `of` in the shape of a result, which is
// divided first, being shorter. Without elements to spare it is 0 / 0.
Tensor by_divisor(const Tensor& of, const Tensor& self, const std::optional<Dims>& dim, double correction) {
    const double divisor = std::max(0.0, static_cast<double>(reduced_count(self.sizes(), dim)) - correction);
    return chain_rule(of, 2 / divisor);
}
Tensor from_mean(const Tensor& self, const std::optional<Dims>& dim) { return self - ops::mean(self, dim, true); }
// The chain-rule product of that and a factor, which has the shape of the mean, in one pass.
Tensor times_standardized(const Tensor& factor, const Tensor& self, const std::optional<Dims>& dim,
                          const Operand& deviation) {
    if (strict_singular()) return factor * (from_mean(self, dim) / deviation);
    return ops::times_standardized(factor, self, ops::mean(self, dim, true), deviation);
}

// (x - mean) / (n - correction): what the partial derivative of the standard deviation is times that deviation.
Tensor std_direction(const Tensor& self, const std::optional<Dims>& dim, double correction) {
    const double divisor = std::max(0.0, static_cast<double>(reduced_count(self.sizes(), dim)) - correction);
    return (self - ops::mean(self, dim, true)) * (1 / divisor);
}

// It is not differentiable where it is 0: of its subgradients 0 is taken.
Tensor std_partial(const Tensor& direction, const Tensor& deviation) {
    Tensor flat = ops::eq(deviation, 0);
    return ops::where(flat, 0, direction / ops::where(flat, 1, deviation));
}

}  // namespace

Tensor var_grad(const Tensor& grad, const Tensor& self, const std::optional<Dims>& dim, double correction,
                bool keepdim) {
    const Tensor each = by_divisor(grad, self, dim, correction);
    return times_standardized(restored(each, self.sizes(), dim, keepdim), self, dim, 1);
}
Tensor var_tangent(const Tensor& tangent, const Tensor& self, const std::optional<Dims>& dim, double correction,
                   bool keepdim) {
    const Tensor sum = ops::sum(real_of(chain_rule(tangent, conj_of(from_mean(self, dim)))), dim, keepdim);
    return by_divisor(sum, self, dim, correction);
}
Tensor std_grad(const Tensor& grad, const Tensor& self, const Tensor& result, const std::optional<Dims>& dim,
                double correction, bool keepdim) {
    if (!asks_more_than_values(grad, self,
                               result)) {  // the quotient comes first: it is in range whatever the deviation
        const Tensor deviation = restored(result, self.sizes(), dim, keepdim), flat = ops::eq(deviation, 0);
        const Tensor each = by_divisor(restored(grad, self.sizes(), dim, keepdim), self, dim, correction) * 0.5;
        return times_standardized(ops::where(flat, 0, each), self, dim, ops::where(flat, 1, deviation));
    }
    Tensor wide = expand_reduced(grad, self.sizes(), dim, keepdim),
           deviation = restored(result, self.sizes(), dim, keepdim), direction = std_direction(self, dim, correction);
    return length_gradient(chain_rule(wide, std_partial(direction, deviation)), grad, direction,
                           {result, dim, keepdim});
}
Tensor std_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, const std::optional<Dims>& dim,
                   double correction, bool keepdim) {
    Tensor deviation = restored(result, self.sizes(), dim, keepdim), direction = std_direction(self, dim, correction);
    Tensor product = chain_rule(tangent, conj_of(std_partial(direction, deviation)));
    Tensor sum = ops::sum(real_of(product), dim, keepdim);
    return length_tangent(sum, tangent, direction, {result, dim, keepdim});
}

namespace {

Tensor plus_mean_grad(Tensor total, const Tensor& grad_mean, const Tensor& self, const std::optional<Dims>& dim,
                      bool keepdim) {
    if (!grad_mean.defined()) return total;
    Tensor part = expand_reduced(grad_mean / reduced_count(self.sizes(), dim), self.sizes(), dim, keepdim);
    return total.defined() ? total + part : part;
}

}  // namespace

Tensor var_mean_grad(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self,
                     const std::optional<Dims>& dim, double correction, bool keepdim) {
    Tensor total = grad_var.defined() ? var_grad(grad_var, self, dim, correction, keepdim) : Tensor();
    return plus_mean_grad(total, grad_mean, self, dim, keepdim);
}
Tensor std_mean_grad(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std,
                     const std::optional<Dims>& dim, double correction, bool keepdim) {
    Tensor total = grad_std.defined() ? std_grad(grad_std, self, std, dim, correction, keepdim) : Tensor();
    return plus_mean_grad(total, grad_mean, self, dim, keepdim);
}

// --- logsumexp

namespace {

Tensor softmax_over(const Tensor& self, const std::optional<Dims>& dim) {
    if (self.dim() == 0) return full(self.sizes(), 1, self.dtype(), self.device());
    if (dim && dim->size() == 1) return ops::softmax_along(self, (*dim)[0]);
    Dims order, shape, inverse(static_cast<size_t>(self.dim()));
    const Tensor line = ops::softmax_along(products_last(self, dim, &order, &shape), -1);
    for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return ops::permute(ops::reshape(line, shape), inverse);
}

// The derivative is the softmax, whose own derivatives keep their digits. Where the result is infinite it is that of the
// limit: of one infinite element 1, and 0 where no element is known to be greater than another.
Tensor logsumexp_weights(const Tensor& self, const Tensor& result, const std::optional<Dims>& dim, bool keepdim) {
    const Tensor log_sum = restored(result, self.sizes(), dim, keepdim);
    if (is_complex(self.dtype())) return exp_difference(self, log_sum);
    const Tensor infinite = ops::isinf(detach(log_sum));
    if (!ops::is_any_true(infinite)) return softmax_over(self, dim);
    const Tensor greatest = ops::eq(self, std::numeric_limits<double>::infinity());
    const Tensor alone = ops::eq(ops::sum(greatest, dim, true), 1);
    const Tensor limit = ops::to_dtype(ops::logical_and(greatest, alone), self.dtype());
    return ops::where(infinite, limit, softmax_over(ops::where(infinite, 0, self), dim));
}

}  // namespace

Tensor logsumexp_grad(const Tensor& grad, const Tensor& self, const Tensor& result, const std::optional<Dims>& dim,
                      bool keepdim) {
    return chain_rule(expand_reduced(grad, self.sizes(), dim, keepdim),
                      conj_of(logsumexp_weights(self, result, dim, keepdim)));
}
Tensor logsumexp_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result,
                         const std::optional<Dims>& dim, bool keepdim) {
    return ops::sum(chain_rule(tangent, logsumexp_weights(self, result, dim, keepdim)), dim, keepdim);
}

// --- Quantiles

namespace {

// Where in a sorted line of n elements the quantiles are: [..., q], whole numbers unless they are interpolated.
Tensor positions(const Tensor& q, const Operand& n, std::string_view interpolation) {
    Tensor at = ops::mul(ops::to_dtype(ops::reshape(q, Dims{-1}), DType::Float64), ops::sub(n, 1));
    if (interpolation == "linear") return at;
    if (interpolation == "lower") return ops::floor(at);
    if (interpolation == "higher") return ops::ceil(at);
    if (interpolation == "nearest") return ops::round(at);
    check(interpolation == "midpoint", ErrorKind::Runtime,
          "quantile() interpolation must be one of linear, lower, higher, "
          "midpoint or nearest, but got ",
          interpolation);
    return (ops::floor(at) + ops::ceil(at)) / 2;
}

// The elements of sorted lines at whole positions, which may differ from line to line.
Tensor elements_at(const Tensor& lines, const Tensor& at) {
    const Tensor index = ops::to_dtype(at, DType::Int64);
    if (index.dim() == 1 && !is_batched(index)) return ops::index_select(lines, -1, index);
    Dims sizes = lines.sizes();
    sizes[sizes.size() - 1] = index.size(-1);
    return ops::gather(lines, -1, index.sizes() == sizes ? index : ops::expand(index, sizes));
}

Tensor quantiles(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool without_nan) {
    check(self.numel() > 0, ErrorKind::Runtime, "quantile() input tensor must be non-empty");
    check(q.dim() <= 1, ErrorKind::Runtime, "quantile() q must be a scalar or 1D tensor");
    if (!is_batched(q)) {  // samples are checked where elements are looked up
        const Tensor within = ops::logical_and(ops::ge(detach(q), 0), ops::le(detach(q), 1));  // NaN is not
        check(ops::are_all_true(within), ErrorKind::Runtime, "quantile() q values must be in the range [0, 1]");
    }
    check(is_floating(self.dtype()), ErrorKind::Runtime,
          "quantile() input tensor must be either float or double dtype");
    // The dimension goes last, quantiles take its place and then go first.
    Tensor lines = dim ? ops::movedim(self.dim() ? self : ops::reshape(self, Dims{1}), Dims{*dim}, Dims{-1})
                       : ops::reshape(self, Dims{-1});
    lines = std::get<0>(ops::sort(lines, -1));
    const int64_t n = lines.size(-1);
    // NaN comes last. A line of nothing else has a first element, which is NaN.
    Tensor at = without_nan
                    ? positions(q, ops::clamp_min(ops::sum(ops::logical_not(ops::isnan(lines)), Dims{-1}, true), 1),
                                interpolation)
                    : positions(q, n, interpolation);
    Tensor below = ops::floor(at), above = ops::ceil(at);
    Tensor low = elements_at(lines, below), high = elements_at(lines, above);
    Tensor value = ops::where(ops::eq(at, below), low, low + (high - low) * ops::to_dtype(at - below, self.dtype()));
    if (!without_nan) {
        Tensor greatest = ops::slice(lines, -1, n - 1, n);  // NaN if there is any
        value = ops::where(ops::isnan(greatest), greatest, value);
    }
    if (keepdim && self.dim() > 0) {  // [kept..., q] -> [kept with 1, q]
        Dims shape = dim ? self.sizes() : Dims(static_cast<size_t>(self.dim()), 1);
        if (dim) shape[static_cast<size_t>(wrap_dim(*dim, self.dim(), "quantile"))] = 1;
        shape.push_back(value.size(-1));
        value = ops::reshape(value, shape);
    } else if (self.dim() == 0) {
        value = ops::reshape(value, Dims{value.size(-1)});
    }
    return q.dim() == 0 ? ops::squeeze_dim(value, -1) : ops::movedim(value, Dims{-1}, Dims{0});
}

}  // namespace

Tensor quantiles_at(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                    std::string_view interpolation) {
    return quantiles(self, q, dim, keepdim, interpolation, false);
}
Tensor quantile_at(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
    return quantiles(self, scalar_tensor(q, DType::Float64, self.device()), dim, keepdim, interpolation, false);
}
Tensor nanquantiles_at(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
    return quantiles(self, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile_at(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                      std::string_view interpolation) {
    return quantiles(self, scalar_tensor(q, DType::Float64, self.device()), dim, keepdim, interpolation, true);
}

// --- Integrals

Tensor trapezoids(const Tensor& y, const Tensor& x, double dx, int64_t dim) {
    dim = wrap_dim(dim, y.dim(), "trapezoid");
    const int64_t n = y.size(dim);
    if (n < 2) return ops::slice(y, dim, 0, 0) * dx;
    Tensor twice = ops::slice(y, dim, 1, n) + ops::slice(y, dim, 0, n - 1);
    if (!x.defined()) return twice * (dx / 2);
    Tensor points = x;
    if (x.dim() == 1) {  // along `dim`
        Dims shape(static_cast<size_t>(y.dim()), 1);
        shape[static_cast<size_t>(dim)] = x.numel();
        points = ops::reshape(x, shape);
    } else {
        dim += x.dim() - y.dim();
    }
    check(points.size(dim) == n, ErrorKind::Runtime, "[trapezoid] ", n, " values need as many points, got shape ",
          ShapeOf{x.sizes()});
    return twice * (ops::slice(points, dim, 1, n) - ops::slice(points, dim, 0, n - 1)) / 2;
}

// At equal distances all values but the first and the last belong to two areas.
Tensor trapezoidal_integral(const Tensor& y, const Tensor& x, double dx, int64_t dim) {
    dim = wrap_dim(dim, y.dim(), "trapezoid");
    const int64_t n = y.dim() > 0 ? y.size(dim) : 0;
    if (x.defined() || n < 2) return ops::sum(trapezoids(y, x, dx, dim), Dims{dim});
    const Tensor ends = ops::select(y, dim, 0) + ops::select(y, dim, n - 1);
    return (ops::sum(ops::slice(y, dim, 1, n - 1), Dims{dim}) + ends * 0.5) * dx;
}

}  // namespace wengert::ops::formulas
