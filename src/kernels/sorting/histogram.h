// Histograms: how often elements fall between edges, or are a number.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "tensor/tensor_list.h"

namespace wengert::kernels {

// (counts or sums of weights, edges). All intervals but the last are open at the right.
std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight = {},
                                     bool density = false);
// Of `bins` equal intervals over `range`, or over the data; half a unit to both sides of data that are all equal.
std::tuple<Tensor, Tensor> histogram_bin_ct(const Tensor& self, int64_t bins = 100,
                                            const std::optional<std::vector<double>>& range = {},
                                            const Tensor& weight = {}, bool density = false);

// Points in the last dimension of `self`, counted in the boxes between the edges along each coordinate.
Tensor histogramdd_of(const Tensor& self, TensorSpan edges, const Tensor& weight, bool density);

// `bins` equal bins between min and max (of the data where both are 0), the last one closed.
Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0);
Tensor bincount(const Tensor& self, const Tensor& weights = {}, int64_t minlength = 0);
Tensor counts_of(const Tensor& index,
                 int64_t n);  // how often 0, 1, ... n - 1 occur among int64 numbers that are all below n

}  // namespace wengert::kernels
