// Derivative formulas of indexing.
//
// Where several values were written to one element only the last one survived, and only that one gets a gradient. Which
// it was is found by writing the numbers of the values the same way and reading them back.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor index_put_grad_self(const Tensor& grad, TensorSpan indices, bool accumulate);
Tensor index_put_grad_values(const Tensor& grad, IntSpan self_sizes, TensorSpan indices, IntSpan values_sizes,
                             bool accumulate);

// Of a source of shape `sizes`, all of it or the part that survived.
Tensor slices_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes);
Tensor scaled_slices_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes, const Scalar& alpha);
Tensor surviving_slices_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes);
Tensor elements_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes);
Tensor surviving_elements_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes);

// The sum of `grad` over what index_fill fills.
Tensor filled_sum(const Tensor& grad, int64_t dim, const Tensor& index);
Tensor scatter_with(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce);
Tensor taken_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim);

Tensor scatter_reduce_grad_self(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& src, const Tensor& result, std::string_view reduce, bool include_self);
Tensor scatter_reduce_grad_src(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& src, const Tensor& result, std::string_view reduce, bool include_self);
Tensor scatter_reduce_tangent(const Tensor& self_t, const Tensor& src_t, const Tensor& self, int64_t dim,
                              const Tensor& index, const Tensor& src, const Tensor& result, std::string_view reduce,
                              bool include_self);

Tensor embedding_regrad(const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq);

}  // namespace wengert::ops::formulas
