// Derivative formulas of reductions.
//
// `dim`, `keepdim` and `result` are those of the reduction. Formulas come in pairs: x_grad, the VJP in the shape of `self`,
// and x_tangent, the JVP in the shape of `result`.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

using OptionalDims = std::optional<Dims>;

OptionalDims optional_dims(std::optional<int64_t> dim);
int64_t reduced_count(IntSpan sizes, const OptionalDims& dim);  // the number of elements that make one result
// What a reduction returned, in a shape that broadcasts against `self`.
Tensor restored(const Tensor& result, IntSpan sizes, const OptionalDims& dim, bool keepdim);

// The product of all elements but this one.
Tensor product_of_others(const Tensor& self, const Tensor& result, const OptionalDims& dim, bool keepdim);

// For results that are equal to one or more elements: these share the gradient.
Tensor share_among_equals(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                          bool keepdim);
Tensor mean_of_equals(const Tensor& tangent, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                      bool keepdim);
Tensor aminmax_grad(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min,
                    const Tensor& max, std::optional<int64_t> dim, bool keepdim);

// For results that came from an index along `dim`.
Tensor gather_grad(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& indices, bool keepdim);
Tensor value_at(const Tensor& tangent, int64_t dim, const Tensor& indices, bool keepdim);

Tensor var_grad(const Tensor& grad, const Tensor& self, const OptionalDims& dim, double correction, bool keepdim);
Tensor var_tangent(const Tensor& tangent, const Tensor& self, const OptionalDims& dim, double correction, bool keepdim);
Tensor std_grad(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                double correction, bool keepdim);
Tensor std_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                   double correction, bool keepdim);
Tensor var_mean_grad(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, const OptionalDims& dim,
                     double correction, bool keepdim);
Tensor std_mean_grad(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std,
                     const OptionalDims& dim, double correction, bool keepdim);

Tensor logsumexp_grad(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                      bool keepdim);
Tensor logsumexp_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                         bool keepdim);

Tensor quantile_at(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation);
Tensor quantiles_at(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                    std::string_view interpolation);
Tensor nanquantile_at(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                      std::string_view interpolation);
Tensor nanquantiles_at(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation);
// The areas between neighbours.
Tensor trapezoids(const Tensor& y, const Tensor& x, double dx, int64_t dim);

}  // namespace wengert::ops::formulas
