// Operations that are chosen by which optional arguments are given.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/operand.h"

namespace wengert::ops::formulas {

Tensor clamp_optional(const Tensor& self, const std::optional<Operand>& min, const std::optional<Operand>& max);
void clamp_optional_(const Tensor& self, const std::optional<Operand>& min, const std::optional<Operand>& max);
Tensor divide_rounded(const Operand& self, const Operand& other, std::optional<std::string_view> rounding_mode);
Tensor logit_optional(const Tensor& self, std::optional<double> eps);
Tensor replace_nonfinite_optional(const Tensor& self, double for_nan, std::optional<double> for_inf,
                                  std::optional<double> for_neg_inf);

}  // namespace wengert::ops::formulas
