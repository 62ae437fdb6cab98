#include "generated/ops/formulas/reductions/scans.h"

#include <algorithm>
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/resize.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/reductions/nan_check.h"
#include "kernels/reductions/reduce.h"
#include "ops/known_values.h"
#include "tensor/dtype_limits.h"

namespace wengert::ops::formulas {

namespace {

Tensor before(const Tensor& t, int64_t dim, int64_t n) { return ops::slice(t, dim, 0, n); }
Tensor from(const Tensor& t, int64_t dim, int64_t n) { return ops::slice(t, dim, n, t.size(dim)); }
Tensor reversed(const Tensor& t, int64_t dim) { return ops::flip(t, Dims{dim}); }
Tensor joined(const Tensor& a, const Tensor& b, int64_t dim) {
    const Tensor parts[] = {a, b};
    return ops::cat(parts, dim);
}
Tensor conj_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }

// One element of `value` before the elements of t without the last.
Tensor shifted(const Tensor& t, int64_t dim, const Scalar& value) {
    Dims one = t.sizes();
    one[static_cast<size_t>(dim)] = 1;
    return joined(full(one, value, t.dtype(), t.device()), before(t, dim, t.size(dim) - 1), dim);
}

// Likewise behind the elements without the first.
Tensor shifted_back(const Tensor& t, int64_t dim, const Scalar& value) {
    Dims one = t.sizes();
    one[static_cast<size_t>(dim)] = 1;
    return joined(from(t, dim, 1), full(one, value, t.dtype(), t.device()), dim);
}

bool is_trivial(const Tensor& t) { return t.dim() == 0 || t.numel() == 0; }

}  // namespace

Tensor linear_scan(const Tensor& a, const Tensor& b, int64_t dim) {
    // After the step with `reach` s: y holds the scan over the last s elements, factor the product of their a.
    Tensor y = b, factor = a;
    const int64_t n = b.size(dim);
    for (int64_t s = 1; s < n; s *= 2) {
        y = joined(before(y, dim, s), from(y, dim, s) + chain_rule(before(y, dim, n - s), from(factor, dim, s)), dim);
        if (2 * s < n)
            factor = joined(before(factor, dim, s), chain_rule(before(factor, dim, n - s), from(factor, dim, s)), dim);
    }
    return y;
}

Tensor shifted_cumprod(const Tensor& x, int64_t dim) {
    if (x.size(dim) == 0) return x;
    dim = wrap_dim(dim, x.dim(), "cumprod");
    const Tensor whole = ops::cumprod(x, dim);
    if (ops::all_finite(unbatched(whole))) return shifted(whole, dim, 1);
    // A product that has overflowed stays there when a zero follows: here factors that are zero win.
    Tensor y = shifted(x, dim, 1);
    for (int64_t s = 1, n = x.size(dim); s < n; s *= 2)
        y = joined(before(y, dim, s), chain_rule(before(y, dim, n - s), from(y, dim, s)), dim);
    return y;
}

bool all_normal(const Tensor& t) {
    if (t.numel() == 0) return true;
    const double least = limits_of(t.dtype()).min;
    Tensor size = ops::abs(detach(t));
    Tensor normal = ops::logical_and(ops::ge(size, least), ops::lt(size, std::numeric_limits<double>::infinity()));
    return ops::are_all_true(unbatched(normal));
}

Tensor exp_difference(const Tensor& x, const Tensor& log_sum) {
    if (is_complex(x.dtype())) return ops::exp(x - log_sum);
    Tensor weight = ops::exp(x - ops::where(ops::eq(log_sum, -std::numeric_limits<double>::infinity()), 0, log_sum));
    return ops::where(ops::eq(x, std::numeric_limits<double>::infinity()), 1, weight);
}

Tensor reversed_cumsum(const Tensor& grad, int64_t dim) {
    if (is_trivial(grad)) return grad;
    return reversed(ops::cumsum(reversed(grad, dim), dim), dim);
}

// dy[k]/dx[i] = (product before i) (product between i and k): the scan goes from the end.
Tensor cumprod_grad(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
    Tensor x = ops::to_dtype(self, result.dtype());
    if (is_trivial(x)) return grad;
    dim = wrap_dim(dim, x.dim(), "cumprod");
    if (all_normal(result)) return reversed_cumsum(grad * conj_of(result), dim) / conj_of(x);
    Tensor next = shifted_back(conj_of(x), dim, 0);
    Tensor scan = reversed(linear_scan(reversed(next, dim), reversed(grad, dim), dim), dim);
    return chain_rule(scan, conj_of(shifted_cumprod(x, dim)));
}

Tensor cumprod_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim) {
    Tensor x = ops::to_dtype(self, result.dtype()), t = ops::to_dtype(tangent, result.dtype());
    if (is_trivial(x)) return t;
    dim = wrap_dim(dim, x.dim(), "cumprod");
    if (all_normal(result)) return ops::cumsum(t / x, dim) * result;
    return linear_scan(x, chain_rule(t, shifted_cumprod(x, dim)), dim);
}

// y[k] = log(exp(y[k-1]) + exp(x[k])): all factors are at most 1.
Tensor logcumsumexp_grad(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
    if (is_trivial(self)) return grad;
    dim = wrap_dim(dim, self.dim(), "logcumsumexp");
    Tensor factor = conj_of(exp_difference(result, shifted_back(result, dim, 0)));  // the last one is not used
    Tensor scan = reversed(linear_scan(reversed(factor, dim), reversed(grad, dim), dim), dim);
    return chain_rule(scan, conj_of(exp_difference(self, result)));
}

Tensor logcumsumexp_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim) {
    if (is_trivial(self)) return ops::clone(tangent);
    dim = wrap_dim(dim, self.dim(), "logcumsumexp");
    Tensor factor = exp_difference(shifted(result, dim, 0), result);  // the first one is not used
    return linear_scan(factor, chain_rule(tangent, exp_difference(self, result)), dim);
}

namespace {

// k x**(k-1) for all powers but the first, which is constant.
Tensor power_slopes(const Tensor& powers) {
    const int64_t n = std::max<int64_t>(powers.size(-1) - 1, 0);
    return before(powers, -1, n) * kernels::arange(1, n + 1, 1, as_of({}, powers));
}

}  // namespace

Tensor powers_grad(const Tensor& grad, const Tensor& result) {
    if (result.size(-1) == 2) return ops::select(grad, -1, 1);  // of x alone
    return ops::sum(chain_rule(from(grad, -1, 1), conj_of(power_slopes(result))), Dims{-1});
}

Tensor powers_tangent(const Tensor& tangent, const Tensor& result) {
    const Tensor others = chain_rule(ops::unsqueeze(tangent, -1), power_slopes(result));
    return before(ops::constant_pad_nd(others, Dims{1, 0}), -1, result.size(-1));
}

Tensor differences(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
    check(self.dim() > 0, ErrorKind::Runtime, "diff expects input to be at least one-dimensional");
    check(n >= 0, ErrorKind::Runtime, "order must be non-negative but got ", n);
    dim = wrap_dim(dim, self.dim(), "diff");
    if (n == 0) return ops::clone(self);
    Tensor t = self;
    if (prepend.defined()) t = joined(prepend, t, dim);
    if (append.defined()) t = joined(t, append, dim);
    for (n = std::min(n, t.size(dim)); n > 0; --n) {
        const int64_t size = t.size(dim);
        if (size == 0) break;
        Tensor later = from(t, dim, 1), earlier = before(t, dim, size - 1);
        t = t.dtype() == DType::Bool ? ops::logical_xor(later, earlier) : later - earlier;
    }
    return t;
}

TensorList nonzero_as_tuple(const Tensor& self, bool as_tuple) {
    check(as_tuple, ErrorKind::Value, "[nonzero] as_tuple=False: leave the argument out");
    return ops::nonzero_numpy(self);
}

}  // namespace wengert::ops::formulas
