#include "ops/formulas/special.h"

#include <cmath>
#include <numbers>

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

Tensor multivariate_lgamma(const Tensor& self, int64_t p) {
    check(p >= 1, ErrorKind::Runtime, "[mvlgamma] p has to be greater than or equal to 1, got ", p);
    Tensor sum = ops::lgamma(self);
    for (int64_t j = 1; j < p; ++j) sum = sum + ops::lgamma(self - 0.5 * static_cast<double>(j));
    return sum + 0.25 * static_cast<double>(p * (p - 1)) * std::log(std::numbers::pi);
}

}  // namespace wengert::ops::formulas
