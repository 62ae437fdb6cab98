#include "generated/ops/formulas/linalg/householder.h"

#include <algorithm>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/formulas/products/matmul.h"
#include "generated/ops/linalg.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "kernels/linalg/linalg.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

namespace {

void check_reflections(const char* op, const Tensor& A, const Tensor& tau) {
    check(A.dim() >= 2 && tau.dim() == A.dim() - 1 && A.size(-2) >= tau.size(-1) && A.size(-1) >= tau.size(-1),
          ErrorKind::Runtime, "[", op,
          "] expected vectors [..., m, n] and factors tau [..., k] with k <= min(m, n), got ", ShapeOf{A.sizes()},
          " and ", ShapeOf{tau.sizes()});
    check(A.dtype() == tau.dtype(), ErrorKind::Runtime, "[", op, "] tau dtype ", tau.dtype(),
          " does not match input dtype ", A.dtype());
}

// Values alone come from LAPACK's products, where batches do not broadcast.
bool has_batch_of(const Tensor& A, const Tensor& t, int64_t dims) {
    return t.dim() == A.dim() - 2 + dims && std::equal(A.sizes().begin(), A.sizes().end() - 2, t.sizes().begin());
}

// V [m,k] and T [k,k]
struct Reflections {
    Tensor v, t;
    Reflections(const Tensor& A, const Tensor& tau) {
        const Tensor columns = ops::slice(A, -1, 0, tau.size(-1));
        v = ops::tril(columns, -1) + identity_like(columns);
        const Tensor scale = ops::unsqueeze(tau, -1);
        const Tensor crossing = ops::triu(ops::matmul(conjugate_transpose(v), v), 1);
        const Tensor system = scale * crossing + identity_like(crossing);
        t = ops::linalg_solve_triangular(system, ops::diag_embed(tau), true, true, true);
    }
};

}  // namespace

Tensor householder_columns(const Tensor& A, const Tensor& tau) {
    check_reflections("linalg.householder_product", A, tau);
    check(A.size(-2) >= A.size(-1), ErrorKind::Runtime,
          "[linalg.householder_product] input.shape[-2] must be greater than or equal to input.shape[-1], got ",
          ShapeOf{A.sizes()});
    if (!asks_more_than_values(A, tau) && has_batch_of(A, tau, 1)) return kernels::householder_product(A, tau);
    const Reflections r(A, tau);
    const Tensor top = conjugate_transpose(ops::slice(r.v, -2, 0, A.size(-1)));  // V^H of the first columns of I
    return identity_like(A) - ops::matmul(r.v, ops::matmul(r.t, top));
}

Tensor householder_multiplied(const Tensor& A, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
    check_reflections("ormqr", A, tau);
    check(other.dim() >= 2 && other.size(left ? -2 : -1) == A.size(-2), ErrorKind::Runtime, "[ormqr] other.shape[",
          left ? "-2" : "-1", "] must be equal to input.shape[-2], got ", ShapeOf{other.sizes()}, " and ",
          ShapeOf{A.sizes()});
    if (!asks_more_than_values(A, tau, other) && has_batch_of(A, tau, 1) && has_batch_of(A, other, 2) &&
        A.dtype() == other.dtype())
        return kernels::ormqr(A, tau, other, left, transpose);
    const Reflections r(A, tau);
    const Tensor vh = conjugate_transpose(r.v), t = transpose ? conjugate_transpose(r.t) : r.t;
    if (left) return other - ops::matmul(r.v, ops::matmul(t, ops::matmul(vh, other)));
    return other - ops::matmul(ops::matmul(ops::matmul(other, r.v), t), vh);
}

// The algorithm itself, column by column: a reflection takes x = (alpha, rest) to (beta, 0) with beta = -sign(Re alpha) |x|,
// tau = (beta - alpha) / beta and v = rest / (alpha - beta); where there is nothing to reflect, tau = 0.
std::tuple<Tensor, Tensor> householder_factors(const Tensor& A) {
    check(A.dim() >= 2, ErrorKind::Runtime, "[geqrf] expected matrices [..., m, n], got ", ShapeOf{A.sizes()});
    if (!asks_more_than_values(A)) return kernels::geqrf(A);
    const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
    Tensor rest = A;
    TensorList taus, tops, vs;  // tops: row j of R, from its diagonal on
    for (int64_t j = 0; j < k; ++j) {
        const Tensor x = ops::slice(rest, -1, 0, 1), alpha = ops::slice(x, -2, 0, 1);  // [m-j,1], [1,1]
        const Tensor below = ops::slice(x, -2, 1, m - j);
        const Tensor real_alpha = is_complex(A.dtype()) ? ops::real(alpha) : alpha;
        const Tensor length = ops::linalg_vector_norm(x, 2, Dims{-2}, true);
        Tensor nothing = ops::logical_not(ops::any(ops::ne(below, 0), Dims{-2}, true));
        if (is_complex(A.dtype())) nothing = ops::logical_and(nothing, ops::eq(ops::imag(alpha), 0));
        const Tensor signed_length = ops::where(ops::lt(real_alpha, 0), length, ops::neg(length));
        const Tensor beta = ops::to_dtype(ops::where(nothing, real_alpha, signed_length), A.dtype());
        const Tensor safe = ops::where(nothing, 1, beta), divisor = ops::where(nothing, 1, alpha - beta);
        const Tensor tau = ops::where(nothing, 0, (beta - alpha) / safe);
        const Tensor v = ops::where(nothing, 0, below / divisor);  // [m-j-1,1]
        taus.push_back(ops::select(tau, -1, 0));
        // H^H times what stands right of x: row j of R, and what is left.
        const Tensor right = ops::slice(rest, -1, 1, n - j), above = ops::slice(right, -2, 0, 1);
        const Tensor lower = ops::slice(right, -2, 1, m - j);
        const Tensor inner = conjugated(tau) * (above + ops::matmul(conjugate_transpose(v), lower));
        tops.push_back(ops::cat(TensorList{beta, above - inner}, -1));
        vs.push_back(v);
        rest = lower - ops::matmul(v, inner);
    }
    for (size_t j = vs.size(); j-- > 0;)
        rest = ops::cat(TensorList{tops[j], ops::cat(TensorList{vs[j], rest}, -1)}, -2);
    if (k == 0) return kernels::geqrf(detach(A));
    return {rest, ops::cat(taus, -1)};
}

}  // namespace wengert::ops::formulas
