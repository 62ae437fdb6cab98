#include "kernels/nn/softmax.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/normalize_kernels.h"
#include "kernels/on_host.h"

namespace wengert::kernels {
namespace {

using Forward = DeviceKernel<void(Result, const Tensor&, int64_t)>;
using Backward = DeviceKernel<bool(Result, const Tensor&, const Tensor&, int64_t)>;

Tensor forward(const Forward& kernel, const Tensor& self, int64_t dim, std::optional<DType> dtype, const char* op) {
    const Tensor in = contiguous(dtype ? to_dtype(self, *dtype) : self);
    check(is_floating(in.dtype()), ErrorKind::NotImplemented, "[", op, "] not implemented for dtype ", in.dtype(),
          "; pass a floating dtype");
    dim = wrap_dim(dim, in.dim(), op);
    Tensor out = empty(in.sizes(), in.dtype(), in.device());
    if (out.numel() > 0) kernel(out, in, dim);
    return out;
}

Tensor backward(const Backward& kernel, const Tensor& grad, const Tensor& result, int64_t dim, const char* op) {
    check(same_shape(grad, result), ErrorKind::Runtime, "[", op, "] grad of shape ", ShapeOf{grad.sizes()},
          " for a result of shape ", ShapeOf{result.sizes()});
    const Tensor g = contiguous(to_dtype(grad, result.dtype())), r = contiguous(result);
    Tensor out = empty(r.sizes(), r.dtype(), r.device());
    dim = wrap_dim(dim, r.dim(), op);
    if (out.numel() == 0) return out;
    check_floating(r.dtype(), op);
    return !has_values(out) || kernel(out, g, r, dim) ? out : Tensor();
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    return forward(softmax_kernel, self, dim, dtype, "softmax");
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    return forward(log_softmax_kernel, self, dim, dtype, "log_softmax");
}
Tensor softmax_backward(const Tensor& grad, const Tensor& result, int64_t dim) {
    return backward(softmax_backward_kernel, grad, result, dim, "softmax_backward");
}
Tensor log_softmax_backward(const Tensor& grad, const Tensor& result, int64_t dim) {
    return backward(log_softmax_backward_kernel, grad, result, dim, "log_softmax_backward");
}

}  // namespace wengert::kernels
