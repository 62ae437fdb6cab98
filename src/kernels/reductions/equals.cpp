#include "kernels/reductions/equals.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

// The dimensions that stay, then those that are reduced.
Dims reduced_last(int64_t ndim, IntSpan dims) {
    Dims order;
    for (int64_t d = 0; d < ndim; ++d)
        if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
    for (int64_t d : dims) order.push_back(d);
    return order;
}

Tensor share_back(const Tensor& grad, const Tensor& self, const Tensor& result, IntSpan dims) {
    const Tensor in = contiguous(self);
    Tensor out = empty(in.sizes(), in.dtype(), in.device());
    EqualsLayout layout;
    for (int64_t d = 0; d < in.dim(); ++d) {
        const int64_t size = in.size(d);
        (dims.empty() || d < dims.front() ? layout.outer : d > dims.back() ? layout.inner : layout.reduced) *= size;
    }
    if (out.numel() > 0)
        share_among_equals_kernel(out, contiguous(to_dtype(grad, in.dtype())), in, contiguous(result), layout);
    return out;
}

}  // namespace

Tensor share_among_equals(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                          bool keepdim) {
    check_floating(self.dtype(), "share_among_equals");
    const int64_t ndim = self.dim();
    const Dims dims = reduced_dims(dim, ndim, "share_among_equals");
    check(result.dtype() == self.dtype() && result.sizes() == reduced_sizes(self.sizes(), dims, keepdim) &&
              same_shape(grad, result),
          ErrorKind::Runtime, "[share_among_equals] grad ", ShapeOf{grad.sizes()}, " and result ",
          ShapeOf{result.sizes()}, " are none of a reduction of ", ShapeOf{self.sizes()});
    if (dims.empty() || dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size()))
        return share_back(grad, self, result, dims);
    const Dims order = reduced_last(ndim, dims);
    Dims inverse(order.size()), last;
    for (int64_t i = 0; i < ndim; ++i) inverse[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
    for (int64_t d = ndim - static_cast<int64_t>(dims.size()); d < ndim; ++d) last.push_back(d);
    return permute(share_back(grad, permute(self, order), result, last), inverse);
}

}  // namespace wengert::kernels
