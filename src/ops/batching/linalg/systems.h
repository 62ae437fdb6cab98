// Batching rules of linear systems whose right-hand side may be vectors.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// The solution and for each matrix whether it is singular.
std::tuple<Tensor, Tensor> solved_system(const Batch& batch, const Tensor& A, const Tensor& B, bool left,
                                         bool check_errors);
// Solution, residuals, rank and singular values.
std::tuple<Tensor, Tensor, Tensor, Tensor> least_squares(const Batch& batch, const Tensor& A, const Tensor& B,
                                                         std::optional<double> rcond,
                                                         std::optional<std::string_view> driver);

}  // namespace wengert::ops::batching
