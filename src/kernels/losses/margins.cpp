#include "kernels/losses/margins.h"

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

std::tuple<Tensor, Tensor> multilabel_margin(const Tensor& input, const Tensor& target) {
    check_floating(input.dtype(), "multilabel_margin_loss");
    check(is_integral(target.dtype()), ErrorKind::Runtime,
          "[multilabel_margin_loss] expected scalar type Long but found ", dtype_name(target.dtype()),
          "; targets are class indices, convert them with .long()");
    check(input.dim() > 0 && same_shape(input, target), ErrorKind::Runtime,
          "[multilabel_margin_loss] inconsistent target size: ", ShapeOf{target.sizes()},
          " for input of size: ", ShapeOf{input.sizes()});
    Tensor loss = zeros(IntSpan(input.sizes()).first(input.sizes().size() - 1), input.dtype(), input.device());
    Tensor slopes = empty(input.sizes(), input.dtype(), input.device());
    if (input.numel() > 0)
        multilabel_margin_kernel(loss, slopes, contiguous(input), contiguous(to_dtype(target, DType::Int64)));
    return {loss, slopes};
}

}  // namespace wengert::kernels
