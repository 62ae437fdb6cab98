#include "generated/ops/formulas/reductions/norms.h"

#include <cmath>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/decompositions.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/elementwise/singular.h"
#include "generated/ops/formulas/reductions/reductions.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "ops/formulas/elementwise/singular.h"

namespace wengert::ops::formulas {

namespace {

Tensor conj_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }
Tensor real_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::real(t) : t; }

// The gradient of the norm in the shape of self: sgn(x) (|x| / norm) ** (ord - 1).
Tensor norm_partial(const Tensor& self, const Tensor& result, double ord, const std::optional<Dims>& dim,
                    bool keepdim) {
    if (ord == 0) return zeros_like(self);
    if (ord == 1) return ops::sgn(self);
    Tensor norm = restored(result, self.sizes(), dim, keepdim);
    if (std::isinf(ord)) {
        Tensor one = full(result.sizes(), 1, result.dtype(), result.device());
        return ops::sgn(self) * share_among_equals(one, ops::abs(self), result, dim, keepdim);
    }
    Tensor is_zero = ops::eq(norm, 0);
    Tensor divisor = ops::where(is_zero, 1, norm);
    if (ord == 2) return ops::where(is_zero, 0, self / divisor);
    Tensor ratio = ops::abs(self) / divisor;
    // At x = 0 the power is not finite for ord < 1; by symmetry the derivative is 0.
    Tensor skipped = ops::logical_or(is_zero, ops::eq(ratio, 0));
    return ops::where(skipped, 0, ops::sgn(self) * ops::pow(ops::where(skipped, 1, ratio), ord - 1));
}

// Norms that are linear on either side of zero: nothing is hidden by a derivative of 0.
bool has_corner(double ord) { return ord == 0 || ord == 1 || std::isinf(ord); }

}  // namespace

Tensor norm_grad(const Tensor& grad, const Tensor& self, const Tensor& result, double ord,
                 const std::optional<Dims>& dim, bool keepdim) {
    Tensor wide = expand_reduced(grad, self.sizes(), dim, keepdim);
    Tensor product = chain_rule(wide, norm_partial(self, result, ord, dim, keepdim));
    return has_corner(ord) ? product : length_gradient(product, grad, self, {result, dim, keepdim, ord == 2});
}

Tensor norm_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, double ord,
                    const std::optional<Dims>& dim, bool keepdim) {
    Tensor product = chain_rule(tangent, conj_of(norm_partial(self, result, ord, dim, keepdim)));
    Tensor sum = ops::sum(real_of(product), dim, keepdim);
    return has_corner(ord) ? sum : length_tangent(sum, tangent, self, {result, dim, keepdim, ord == 2});
}

// --- Choosing a norm

namespace {

Tensor in_dtype(const Tensor& self, std::optional<DType> dtype) { return dtype ? ops::to_dtype(self, *dtype) : self; }

// The two dimensions of the matrices as the last ones.
Tensor matrices_last(const Tensor& self, IntSpan dim) {
    check(dim.size() == 2, ErrorKind::Runtime, "linalg.matrix_norm: dim must be a 2-tuple. Got ", ShapeOf{dim});
    check(self.dim() >= 2, ErrorKind::Runtime,
          "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
    check(wrap_dim(dim[0], self.dim(), "matrix_norm") != wrap_dim(dim[1], self.dim(), "matrix_norm"),
          ErrorKind::Runtime, "linalg.matrix_norm: dims must be different. Got ", ShapeOf{dim});
    return ops::movedim(self, dim, Dims{-2, -1});
}

Tensor with_kept_dims(const Tensor& norm, const Tensor& self, IntSpan dim, bool keepdim) {
    if (!keepdim) return norm;
    Dims shape = self.sizes();
    for (int64_t d : dim) shape[static_cast<size_t>(wrap_dim(d, self.dim(), "matrix_norm"))] = 1;
    return ops::reshape(norm, shape);
}

}  // namespace

Tensor matrix_norm(const Tensor& self, double ord, IntSpan dim, bool keepdim, std::optional<DType> dtype) {
    Tensor a = matrices_last(in_dtype(self, dtype), dim), values;  // [..., m, n]
    const double order = std::abs(ord);
    if (order == 2)
        values = ops::linalg_svdvals(a);
    else if (order == 1)
        values = ops::sum(ops::abs(a), Dims{-2});
    else if (std::isinf(order))
        values = ops::sum(ops::abs(a), Dims{-1});
    else
        fail(ErrorKind::Runtime, "linalg.matrix_norm: Order ", ord,
             " not supported; use 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2");
    Tensor norm = ord > 0 ? ops::amax(values, Dims{-1}) : ops::amin(values, Dims{-1});
    return with_kept_dims(norm, self, dim, keepdim);
}

Tensor named_matrix_norm(const Tensor& self, std::string_view name, IntSpan dim, bool keepdim,
                         std::optional<DType> dtype) {
    return matrix_norm_of_name(self, name, Dims(dim), keepdim, dtype);
}

Tensor matrix_norm_of_name(const Tensor& self, std::string_view name, const std::optional<Dims>& dim, bool keepdim,
                           std::optional<DType> dtype) {
    const Dims all = dim ? *dim : Dims{-2, -1};
    check(dim || self.dim() == 2, ErrorKind::Runtime, "linalg.norm: If dim=None and ord is '", name,
          "', the input must be a matrix, but got shape ", ShapeOf{self.sizes()});
    check(all.size() == 2, ErrorKind::Runtime, "linalg.norm: norm '", name,
          "' needs two dimensions, but got dim=", ShapeOf{all});
    if (name == "fro") return ops::linalg_vector_norm(self, 2, all, keepdim, dtype);
    check(name == "nuc", ErrorKind::Runtime, "linalg.matrix_norm: Order ", name, " not supported; use 'fro' or 'nuc'");
    Tensor norm = ops::sum(ops::linalg_svdvals(matrices_last(in_dtype(self, dtype), all)), Dims{-1});
    return with_kept_dims(norm, self, all, keepdim);
}

Tensor vector_or_matrix_norm(const Tensor& self, std::optional<double> ord, const std::optional<Dims>& dim,
                             bool keepdim, std::optional<DType> dtype) {
    if (!ord) return ops::linalg_vector_norm(self, 2, dim, keepdim, dtype);
    const size_t n = dim ? dim->size() : self.sizes().size();
    check(n == 1 || n == 2, ErrorKind::Runtime,
          "linalg.norm: If ord is given, vectors or matrices are needed: dim must have ",
          "one or two elements, or the input so many dimensions, but got ", n);
    if (n == 1) return ops::linalg_vector_norm(self, *ord, dim, keepdim, dtype);
    return matrix_norm(self, *ord, dim ? *dim : Dims{-2, -1}, keepdim, dtype);
}

Tensor norm_of_order(const Tensor& self, std::optional<double> p, const std::optional<Dims>& dim, bool keepdim,
                     std::optional<DType> dtype) {
    return ops::linalg_vector_norm(self, p.value_or(2), dim, keepdim, dtype);
}

Tensor norm_of_name(const Tensor& self, std::string_view name, const std::optional<Dims>& dim, bool keepdim,
                    std::optional<DType> dtype) {
    if (name == "fro") return ops::linalg_vector_norm(self, 2, dim, keepdim, dtype);
    return matrix_norm_of_name(self, name, dim, keepdim, dtype);
}

}  // namespace wengert::ops::formulas
