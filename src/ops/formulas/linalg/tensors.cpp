#include "generated/ops/formulas/linalg/tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/decompositions.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/linalg.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "tensor/dtype_limits.h"

namespace wengert::ops::formulas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The norm of a matrix times that of its inverse; infinite for a singular one.
template <class Norm>
Tensor of_norms(const Tensor& A, Norm&& norm) {
    // The number does not change with the scale, but powers of that would leave the range of the dtype.
    const Tensor matrix = A / scale_of(A, Dims{-2, -1});
    const auto [inverse, info] = ops::linalg_inv_ex(matrix);
    return ops::where(ops::ne(info, 0), kInfinity, norm(matrix) * norm(inverse));
}

template <class P>
void check_square(const Tensor& A, const P& p) {
    check(A.dim() >= 2 && A.size(-1) == A.size(-2), ErrorKind::Runtime, "linalg.cond with p=", p,
          " supports only square matrices, got shape ", ShapeOf{A.sizes()});
}

}  // namespace

Tensor condition_number(const Tensor& A, std::optional<double> p) {
    if (p && std::abs(*p) != 2) {
        check_square(A, *p);
        return of_norms(A, [&](const Tensor& t) { return ops::linalg_matrix_norm(t, *p); });
    }
    const Tensor values = ops::linalg_svdvals(A);
    const Tensor largest = ops::select(values, -1, 0), least = ops::select(values, -1, -1);
    return p == -2.0 ? least / largest : largest / least;
}

Tensor condition_number_of_name(const Tensor& A, std::string_view p) {
    check_square(A, p);
    return of_norms(A, [&](const Tensor& t) { return ops::linalg_matrix_norm_name(t, p); });
}

Tensor rank_of_matrix(const Tensor& A, std::optional<Operand> tol, bool hermitian, std::optional<Operand> atol,
                      std::optional<Operand> rtol) {
    const Tensor values = hermitian ? ops::abs(ops::linalg_eigvalsh(A)) : ops::linalg_svdvals(A);
    Dims batch = values.sizes();
    if (batch.back() == 0) {
        batch.pop_back();
        return zeros(batch, DType::Int64, values.device());
    }
    const double usual = static_cast<double>(std::max(A.size(-1), A.size(-2))) * limits_of(values.dtype()).epsilon;
    const Operand absolute = tol ? *tol : atol ? *atol : Operand(0.0);
    const Operand relative = tol ? Operand(0.0) : rtol ? *rtol : Operand(atol ? 0.0 : usual);
    const Tensor bound = ops::maximum(ops::amax(values, Dims{-1}) * relative, absolute);
    return ops::sum(ops::gt(values, ops::unsqueeze(bound, -1)), Dims{-1});
}

Tensor inverse_of_tensor(const Tensor& A, int64_t ind) {
    check(ind > 0, ErrorKind::Runtime, "Expected a strictly positive integer for 'ind', got ", ind);
    const IntSpan sizes = A.sizes();
    const size_t rows = std::min(static_cast<size_t>(ind), sizes.size());
    const IntSpan first = sizes.first(rows), rest = sizes.subspan(rows);
    check(numel_of(first) == numel_of(rest), ErrorKind::Runtime,
          "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ",
          numel_of(rest), " != ", numel_of(first));
    Dims turned(rest);
    for (const int64_t size : first) turned.push_back(size);
    return ops::reshape(ops::linalg_inv(ops::reshape(A, Dims{numel_of(first), numel_of(first)})), turned);
}

Tensor tensor_solution(const Tensor& A, const Tensor& B, const std::optional<Dims>& dims) {
    Tensor matrix = A;
    if (dims) {
        Dims order, last;
        for (const int64_t d : *dims) last.push_back(wrap_dim(d, A.dim(), "tensorsolve"));
        for (int64_t d = 0; d < A.dim(); ++d)
            if (std::ranges::find(last, d) == last.end()) order.push_back(d);
        for (const int64_t d : last) order.push_back(d);
        matrix = ops::permute(A, order);
    }
    const Dims sizes = matrix.sizes();
    const Dims shape(IntSpan(sizes).subspan(std::min(static_cast<size_t>(B.dim()), sizes.size())));
    const int64_t n = B.numel();
    check(n == numel_of(shape), ErrorKind::Runtime,
          "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
          "but got ",
          numel_of(shape), " != ", n);
    const Tensor solution = ops::linalg_solve(ops::reshape(matrix, Dims{n, n}), ops::reshape(B, Dims{n}));
    return ops::reshape(solution, shape);
}

}  // namespace wengert::ops::formulas
