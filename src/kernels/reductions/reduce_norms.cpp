// vector_norm and logsumexp (see reduce.h).
#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "kernels/reductions/reduce_kernels.h"

namespace wengert::kernels {
namespace {

Tensor magnitude(const Tensor& self) {  // of a complex tensor
    Tensor out = empty(self.sizes(), real_dtype(self.dtype()), self.device());
    if (out.numel() > 0) magnitude_kernel(out, contiguous(self));
    return out;
}

}  // namespace

Tensor vector_norm(const Tensor& self, double ord, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    const char* op = "linalg.vector_norm";
    check(is_differentiable(self.dtype()), ErrorKind::Runtime, op,
          ": Expected a floating point or complex tensor as input. Got ", self.dtype());
    Tensor in = dtype ? to_dtype(self, *dtype) : self;
    Dims dims = reduced_dims(dim, in.dim(), op);
    if (ord == std::numeric_limits<double>::infinity() || ord < 0) {
        check(in.numel() > 0 || (dim && !dim->empty()), ErrorKind::Runtime, op, " cannot compute the ", ord,
              " norm on an empty tensor because the operation does not have an identity");
        for (int64_t d : dims)
            check(in.sizes()[d] != 0, ErrorKind::Runtime, op, " cannot compute the ", ord, " norm on the dimension ", d,
                  " because this dimension is empty and the operation does not have an identity");
    }
    if (ord == 2 || ord == 0)
        check_floating(real_dtype(in.dtype()), op);
    else
        check(is_differentiable(in.dtype()), ErrorKind::NotImplemented, "[", op, "] not implemented for dtype ",
              in.dtype());
    if (ord != 2 && is_complex(in.dtype())) in = magnitude(in);
    Tensor out = empty(reduced_sizes(in.sizes(), dims, keepdim), real_dtype(in.dtype()), in.device());
    if (out.numel() > 0) vector_norm_kernel(out, in, dims, ord);
    return out;
}

Tensor logsumexp(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    const Tensor in = is_integral(self.dtype()) ? to_dtype(self, default_dtype()) : self;
    const Dims dims = reduced_dims(dim, in.dim(), "logsumexp"), sizes = reduced_sizes(in.sizes(), dims, keepdim);
    if (reduced_count(in.sizes(), dims) == 0)
        return full(sizes, -std::numeric_limits<double>::infinity(), in.dtype(), in.device());
    Tensor out = empty(sizes, in.dtype(), in.device());
    if (out.numel() > 0) logsumexp_kernel(out, in, dims);
    return out;
}

}  // namespace wengert::kernels
