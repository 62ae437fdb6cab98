#include "ops/formulas/products.h"

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

Tensor outer_product(const Tensor& self, const Tensor& vec2) {
    check(self.dim() == 1 && vec2.dim() == 1, ErrorKind::Runtime, "[outer] expected 1-D tensors, but got shapes ",
          ShapeOf{self.sizes()}, " and ", ShapeOf{vec2.sizes()}, "; flatten them first");
    return ops::mul(ops::unsqueeze(self, -1), vec2);
}

}  // namespace wengert::ops::formulas
