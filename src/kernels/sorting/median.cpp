// Medians and modes (kernels/reductions/reduce.h).
#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "kernels/sorting/lines.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

// One element of each line, which select(values, indices, dim) finds.
template <class Select>
ValuesIndices select_per_line(const Tensor& self, int64_t dim, bool keepdim, const char* op, Select select) {
    dim = wrap_dim(dim, self.dim(), op);
    check(line_size(self, dim) > 0, ErrorKind::Index, op, "(): Expected reduction dim ", dim,
          " to have non-zero size.");
    check_ordered(self.dtype(), op);
    Dims sizes = self.sizes();
    if (self.dim() > 0) sizes[dim] = 1;
    Tensor values = empty(sizes, self.dtype(), self.device()), indices = empty(sizes, DType::Int64, self.device());
    if (values.numel() > 0) select(values, indices, dim);
    if (!keepdim && self.dim() > 0) {
        sizes.erase(dim);
        values = alias(values, sizes, contiguous_strides(sizes), 0);
        indices = alias(indices, sizes, contiguous_strides(sizes), 0);
    }
    return {values, indices};
}

ValuesIndices median_of(const Tensor& self, int64_t dim, bool keepdim, bool ignore_nan, const char* op) {
    return select_per_line(self, dim, keepdim, op, [&](Result values, Result indices, int64_t d) {
        median_kernel(values, indices, self, d, ignore_nan);
    });
}

Tensor median_of_all(const Tensor& self, bool ignore_nan, const char* op) {
    if (self.numel() == 0) {
        bool floating = is_floating(self.dtype());
        return scalar_tensor(floating ? Scalar(std::numeric_limits<double>::quiet_NaN()) : Scalar(int64_t{0}),
                             self.dtype(), self.device());
    }
    Tensor dense = contiguous(self);
    Tensor line = alias(dense, Dims{dense.numel()}, Dims{1}, dense.offset());
    return std::get<0>(median_of(line, 0, false, ignore_nan, op));
}

}  // namespace

Tensor median(const Tensor& self) { return median_of_all(self, false, "median"); }
Tensor nanmedian(const Tensor& self) { return median_of_all(self, true, "nanmedian"); }
ValuesIndices median_dim(const Tensor& self, int64_t dim, bool keepdim) {
    return median_of(self, dim, keepdim, false, "median");
}
ValuesIndices nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
    return median_of(self, dim, keepdim, true, "nanmedian");
}

ValuesIndices mode(const Tensor& self, int64_t dim, bool keepdim) {
    return select_per_line(self, dim, keepdim, "mode",
                           [&](Result values, Result indices, int64_t d) { mode_kernel(values, indices, self, d); });
}

}  // namespace wengert::kernels
