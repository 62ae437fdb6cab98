// Reductions over any set of dimensions.
//
// On the CPU all of them are one driver and one kind of inner loop (backends/cpu/reductions/reduce_table.h): the dimensions are
// split into reduced and kept ones, each group is coalesced, and the loop over the innermost of both runs as a tile. Read
// `Reduction` there first. Shapes, dtypes, NaN, ties and errors are PyTorch's; sums are accurate to a few ulp whatever the
// length, because lanes of the element type are folded into double every few hundred elements.
//
// `dim`: none or empty means all dimensions (for all, any: an empty list means none). Negative dimensions count
// from the end. Integral sums and products are computed and returned in int64 unless `dtype` says otherwise.
#pragma once

#include <limits>
#include <optional>
#include <tuple>

#include "kernels/reductions/reduced_shape.h"

namespace wengert::kernels {

using ValuesIndices = std::tuple<Tensor, Tensor>;

// --- Sums and products
Tensor sum(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor nansum(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor mean(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor prod(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor count_nonzero(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false);
Tensor all(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false);
Tensor any(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false);

// --- Extremes. NaN wins; of equal elements the first gives the index.
Tensor amax(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false);
Tensor amin(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false);
std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
ValuesIndices max_dim(const Tensor& self, int64_t dim, bool keepdim = false);
ValuesIndices min_dim(const Tensor& self, int64_t dim, bool keepdim = false);
Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);

// --- Moments. Divided by max(0, n - correction); complex input has real variance.
Tensor var(const Tensor& self, const OptionalDims& dim = {}, double correction = 1, bool keepdim = false);
Tensor std(const Tensor& self, const OptionalDims& dim = {}, double correction = 1, bool keepdim = false);
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalDims& dim = {}, double correction = 1,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalDims& dim = {}, double correction = 1,
                                    bool keepdim = false);

// --- Norms. ord: any real number, 0 (count of nonzeros), inf, -inf. The 2-norm neither overflows nor underflows where
// the result does not.
Tensor vector_norm(const Tensor& self, double ord = 2, const OptionalDims& dim = {}, bool keepdim = false,
                   std::optional<DType> dtype = {});
Tensor logsumexp(const Tensor& self, const OptionalDims& dim = {}, bool keepdim = false);

// --- Medians: the lower one of an even number; NaN if there is any (median), or ignored (nanmedian).
Tensor median(const Tensor& self);
Tensor nanmedian(const Tensor& self);
ValuesIndices median_dim(const Tensor& self, int64_t dim, bool keepdim = false);
ValuesIndices nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim = false);
ValuesIndices mode(const Tensor& self, int64_t dim = -1, bool keepdim = false);

}  // namespace wengert::kernels
