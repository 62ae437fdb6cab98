// Sorting, selecting and searching. One order for all dtypes: NaN above everything, -0.0 equal to 0.0
// (backends/cpu/sorting/ordered_key.h); complex numbers have none. Sorts are always stable; long lines are sorted by radix.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "tensor/operand.h"

namespace wengert::kernels {

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false, bool stable = false);
Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false, bool stable = false);
// Of equal elements the first are taken; the result is always sorted.
std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true,
                                bool sorted = true);
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false);

// (values, inverse, counts); what is not asked for is an empty tensor. Every NaN is its own value.
using Unique = std::tuple<Tensor, Tensor, Tensor>;
Unique unique(const Tensor& self, bool sorted = true, bool return_inverse = false, bool return_counts = false);
Unique unique_dim(const Tensor& self, int64_t dim, bool sorted = true, bool return_inverse = false,
                  bool return_counts = false);
Unique unique_consecutive(const Tensor& self, bool return_inverse = false, bool return_counts = false,
                          std::optional<int64_t> dim = {});

// Positions at which values keep the last dimension of sorted_sequence sorted: before equal elements, or behind them
// (right, or side "right"). sorter: argsort of an unsorted sequence.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false, bool right = false,
                    std::optional<std::string_view> side = {}, const Tensor& sorter = {});
Tensor searchsorted_scalar(const Tensor& sorted_sequence, const Scalar& self, bool out_int32 = false,
                           bool right = false, std::optional<std::string_view> side = {}, const Tensor& sorter = {});
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);

// Whether each element is one of the others; NaN is none.
Tensor isin(const Operand& elements, const Operand& test_elements, bool assume_unique = false, bool invert = false);

}  // namespace wengert::kernels
