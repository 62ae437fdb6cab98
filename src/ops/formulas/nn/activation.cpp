#include "generated/ops/formulas/nn/activation.h"

#include "generated/ops/activation.h"
#include "generated/ops/exponential.h"
#include "generated/ops/operators.h"
#include "generated/ops/views.h"

namespace wengert::ops::formulas {

Tensor gelu_by_name(const Tensor& self, std::string_view approximate) {
    if (approximate == "tanh") return ops::gelu_tanh(self);
    check(approximate == "none", ErrorKind::Runtime,
          "[gelu] approximate argument must be either 'none' or 'tanh', got '", approximate, "'");
    return ops::gelu_erf(self);
}

Tensor gated_halves(const Tensor& self, int64_t dim) {
    const int64_t rank = self.dim();
    check(dim >= -rank && dim < rank, ErrorKind::Index, "[glu] Dimension out of range: got ", dim,
          " for a tensor with ", rank, " dimensions");
    const int64_t length = self.sizes()[dim < 0 ? dim + rank : dim];
    check(length % 2 == 0, ErrorKind::Runtime, "[glu] Halving dimension must be even, but dimension ", dim, " is size ",
          length);
    if (length == 0) return ops::sigmoid(self);                   // nothing
    const TensorList halves = ops::split(self, length / 2, dim);  // whose gradient is written once
    return halves[0] * ops::sigmoid(halves[1]);
}

Tensor prelu_by_channel(const Tensor& self, const Tensor& weight) {
    if (weight.numel() == 1) return ops::prelu_elementwise(self, ops::reshape(weight, {}));
    const int64_t channels = self.dim() < 2 ? 1 : self.sizes()[1];
    check(weight.dim() == 1 && weight.numel() == channels, ErrorKind::Runtime,
          "[prelu] Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
          " and channel size = ", channels);
    Dims shape(self.sizes().size(), 1);
    shape[1] = channels;
    return ops::prelu_elementwise(self, ops::reshape(weight, shape));
}

}  // namespace wengert::ops::formulas
