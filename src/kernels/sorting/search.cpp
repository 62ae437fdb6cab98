// searchsorted, bucketize, isin (see sort.h).
#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/sorting/sort.h"
#include "kernels/sorting/sort_kernels.h"
#include "tensor/promotion.h"

namespace wengert::kernels {

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
    check(sorted_sequence.dim() > 0, ErrorKind::Runtime,
          "wengert.searchsorted(): boundaries tensor should have positive dimension");
    check(!side || *side == "left" || *side == "right", ErrorKind::Runtime,
          "wengert.searchsorted(): side can only be 'left' or 'right' but got ", side.value_or(""));
    check(!side || *side == "right" || !right, ErrorKind::Runtime,
          "wengert.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
    if (side) right = *side == "right";
    if (sorted_sequence.dim() > 1)
        check(
            self.dim() == sorted_sequence.dim() &&
                std::equal(self.sizes().begin(), self.sizes().end() - 1, sorted_sequence.sizes().begin()),
            ErrorKind::Runtime,
            "wengert.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            "tensor and input value tensor must match, but we got boundaries tensor ",
            ShapeOf{sorted_sequence.sizes()}, " and input value tensor ", ShapeOf{self.sizes()});
    check(!sorter.defined() || (sorter.sizes() == sorted_sequence.sizes() && sorter.dtype() == DType::Int64),
          ErrorKind::Runtime,
          "wengert.searchsorted(): boundary and sorter must have the same size, and sorter dtype int64");
    DType dtype = promote(sorted_sequence.dtype(), self.dtype());
    Tensor lines = contiguous(to_dtype(sorted_sequence, dtype)), values = contiguous(to_dtype(self, dtype));
    Tensor order = sorter.defined() ? contiguous(sorter) : Tensor();
    if (order.defined() && order.numel() > 0) check_sorter_kernel(order, lines.sizes().back());
    check_ordered(dtype, "searchsorted");
    Tensor out = empty(self.sizes(), out_int32 ? DType::Int32 : DType::Int64, self.device());
    if (out.numel() > 0) searchsorted_kernel(out, lines, values, order, right);
    return out;
}

Tensor searchsorted_scalar(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                           std::optional<std::string_view> side, const Tensor& sorter) {
    check(sorted_sequence.dim() == 1, ErrorKind::Runtime,
          "wengert.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
    DType dtype = result_type({Operand(sorted_sequence), Operand(self)});
    return searchsorted(sorted_sequence, scalar_tensor(self, dtype, sorted_sequence.device()), out_int32, right, side,
                        sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
    check(boundaries.dim() == 1, ErrorKind::Runtime, "[bucketize] boundaries tensor must be 1 dimension, but got dim(",
          boundaries.dim(), ")");
    return searchsorted(boundaries, self, out_int32, right);
}

Tensor isin(const Operand& elements, const Operand& test_elements, bool, bool invert) {
    const DType dtype = result_type({elements, test_elements});
    const Device device = elements.is_tensor()        ? elements.tensor().device()
                          : test_elements.is_tensor() ? test_elements.tensor().device()
                                                      : Device{};
    auto dense = [&](const Operand& o) {
        return contiguous(o.is_tensor() ? to_dtype(o.tensor(), dtype) : scalar_tensor(o.scalar(), dtype, device));
    };
    const Tensor in = dense(elements), tests = dense(test_elements), out = empty(in.sizes(), DType::Bool, device);
    const Tensor sorted = std::get<0>(sort(alias(tests, Dims{tests.numel()}, Dims{1}, tests.offset())));
    if (out.numel() > 0) isin_kernel(out, in, sorted, invert);
    return out;
}

}  // namespace wengert::kernels
