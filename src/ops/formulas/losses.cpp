#include "ops/formulas/losses.h"

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

Tensor reduce_loss(const Tensor& loss, std::string_view reduction) {
    if (reduction == "none") return loss;
    if (reduction == "sum") return ops::sum(loss);
    check(reduction == "mean", ErrorKind::Value, reduction, " is not a valid value for reduction; use 'mean', 'sum' or 'none'");
    return ops::sum(loss) / loss.numel();
}

}  // namespace wengert::ops::formulas
