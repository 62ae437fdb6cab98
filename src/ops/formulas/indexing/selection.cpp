#include "generated/ops/formulas/indexing/selection.h"

#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/complex.h"
#include "generated/ops/exponential.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "tensor/dtype_limits.h"

namespace wengert::ops::formulas {

namespace {

void check_bounds(bool any) {
    check(any, ErrorKind::Runtime, "[clamp] At least one of 'min' or 'max' must not be None");
}

}  // namespace

Tensor clamp_optional(const Tensor& self, std::optional<Operand> min, std::optional<Operand> max) {
    check_bounds(min || max);
    if (min && max) return ops::clamp_between(self, *min, *max);
    return min ? ops::clamp_min(self, *min) : ops::clamp_max(self, *max);
}
void clamp_optional_(const Tensor& self, std::optional<Operand> min, std::optional<Operand> max) {
    check_bounds(min || max);
    if (min && max)
        ops::clamp_between_(self, *min, *max);
    else
        min ? ops::clamp_min_(self, *min) : ops::clamp_max_(self, *max);
}

Tensor divide_rounded(const Operand& self, const Operand& other, std::optional<std::string_view> rounding_mode) {
    if (!rounding_mode) return ops::div(self, other);
    if (*rounding_mode == "floor") return ops::floor_divide(self, other);
    check(*rounding_mode == "trunc", ErrorKind::Runtime,
          "[div] div expected rounding_mode to be one of None, 'trunc', or ", "'floor' but found '", *rounding_mode,
          "'");
    return ops::trunc_divide(self, other);
}

Tensor logit_optional(const Tensor& self, std::optional<double> eps) {
    return ops::logit(eps ? ops::clamp_between(self, *eps, 1 - *eps) : self);
}

Tensor replace_nonfinite_optional(const Tensor& self, double for_nan, std::optional<double> for_inf,
                                  std::optional<double> for_neg_inf) {
    if (!is_differentiable(self.dtype())) return ops::clone(self);  // integers have nothing to replace
    if (is_complex(self.dtype()))
        return ops::complex(replace_nonfinite_optional(ops::real(self), for_nan, for_inf, for_neg_inf),
                            replace_nonfinite_optional(ops::imag(self), for_nan, for_inf, for_neg_inf));
    const double greatest = limits_of(self.dtype()).max;
    return ops::replace_nonfinite(self, for_nan, for_inf.value_or(greatest), for_neg_inf.value_or(-greatest));
}

}  // namespace wengert::ops::formulas
