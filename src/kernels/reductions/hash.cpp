#include "kernels/reductions/hash.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {

Tensor hash_tensor(const Tensor& self, const OptionalDims& dim, bool keepdim, int64_t mode) {
    check(mode == 0, ErrorKind::Runtime, "[hash_tensor] Unknown hash_tensor mode: ", mode, "; only 0 (xor) is known");
    check(!is_complex(self.dtype()), ErrorKind::NotImplemented, "[hash_tensor] not implemented for dtype ",
          self.dtype(), "; hash view_as_real of it");
    const Dims reduced = reduced_dims(dim, self.dim(), "hash_tensor");
    Dims order;
    for (int64_t d = 0; d < self.dim(); ++d)
        if (std::ranges::find(reduced, d) == reduced.end()) order.push_back(d);
    for (const int64_t d : reduced) order.push_back(d);
    const Tensor wide = to_dtype(self, is_floating(self.dtype()) ? DType::Float64 : DType::Int64);
    const Tensor rows = contiguous(permute(wide, order));  // the reduced dimensions last
    Tensor out = empty(reduced_sizes(self.sizes(), reduced, keepdim), DType::Int64, self.device());
    if (out.numel() > 0) hash_kernel(out, view_dtype(rows.dim() > 0 ? rows : view(rows, Dims{1}), DType::Int64));
    return out;
}

}  // namespace wengert::kernels
