// Histograms: how often elements fall between edges.
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

}  // namespace wengert::kernels
