#include "kernels/reductions/hash.h"

#include "backends/cpu/reductions/reducer.h"
#include "kernels/elementwise/elementwise.h"
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
    Tensor out = zeros(reduced_sizes(self.sizes(), reduced, keepdim), DType::Int64);
    const int64_t results = out.numel(), count = results > 0 ? self.numel() / results : 0;
    const int64_t* bits = view_dtype(rows.dim() > 0 ? rows : view(rows, Dims{1}), DType::Int64).data_as<int64_t>();
    for (int64_t i = 0; i < results; ++i)
        for (int64_t k = 0; k < count; ++k) out.data_as<int64_t>()[i] ^= bits[i * count + k];
    return out;
}

}  // namespace wengert::kernels
