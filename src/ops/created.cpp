#include "ops/created.h"

#include "graph/batched.h"
#include "kernels/shape/shape.h"
#include "ops/recording.h"

namespace wengert::ops {

Tensor created(Tensor t, const TensorOptions& options) {
    if (options.memory_format && !is_batched(t) && !is_laid_out(t, *options.memory_format))
        t = kernels::clone_in(t, options.memory_format);
    mark_inference(t);
    if (options.requires_grad) set_requires_grad(unbatched(t), true);
    return t;
}

TensorOptions options_of_out(const TensorOptions& options, const Tensor& out) {
    if (options.dtype)
        check(*options.dtype == out.dtype(), ErrorKind::Runtime, "dtype ", *options.dtype,
              " does not match dtype of out parameter (", out.dtype(), ")");
    if (options.device)
        check(*options.device == out.device(), ErrorKind::Runtime, "device ", *options.device,
              " does not match device of out parameter (", out.device(), ")");
    TensorOptions result = options;
    result.dtype = out.dtype();
    result.device = out.device();
    return result;
}

}  // namespace wengert::ops
