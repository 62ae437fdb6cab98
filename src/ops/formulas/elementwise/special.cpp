#include "generated/ops/formulas/elementwise/special.h"

#include <cmath>
#include <numbers>

#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/special.h"
#include "generated/ops/views.h"
#include "kernels/creation.h"

namespace wengert::ops::formulas {

constexpr int64_t kMostTerms = int64_t{1} << 20;

Tensor multivariate_lgamma(const Tensor& self, int64_t p) {
    check(p >= 1, ErrorKind::Runtime, "[mvlgamma] p has to be greater than or equal to 1, got ", p);
    check(p <= kMostTerms, ErrorKind::Runtime, "[mvlgamma] a sum of p = ", p, " terms is too long; p may be at most ",
          kMostTerms);
    if (p == 1) return ops::lgamma(self);
    const DType dtype = is_integral(self.dtype()) ? default_dtype() : self.dtype();
    const Tensor halves = kernels::arange(0, 0.5 * static_cast<double>(p), 0.5, beside(self, dtype));
    const double constant = 0.25 * static_cast<double>(p) * static_cast<double>(p - 1) * std::log(std::numbers::pi);
    return ops::sum(ops::lgamma(ops::unsqueeze(self, -1) - halves), Dims{-1}) + constant;
}

}  // namespace wengert::ops::formulas
