#include "kernels/reductions/nan_check.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce_kernels.h"

namespace wengert::kernels {

bool any_nan(const Tensor& t) {
    return is_differentiable(t.dtype()) && t.numel() > 0 && t.storage()->has_memory() && has_values(t) &&
           any_nan_kernel(contiguous(t));
}

bool all_finite(const Tensor& t) {
    return t.numel() == 0 || !has_values(t) ||
           (t.is_contiguous() ? all_finite_kernel(t) : all_finite_kernel(contiguous(t)));
}

}  // namespace wengert::kernels
