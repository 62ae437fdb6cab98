#include "kernels/indexing/take_out.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {

Tensor take_out(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t offset) {
    if (is_contiguous(sizes, strides)) {
        Tensor out = empty(sizes, t.dtype(), t.device());
        const int64_t item = item_size(t.dtype()), size = out.numel() * item, begin = offset * item;
        if (begin >= 0 && size <= t.storage()->bytes() - begin) [[likely]] {
            take_out_kernel(out, t, offset);
            return out;
        }
    }
    const Tensor region = as_strided(t, sizes, strides, offset);
    Tensor out = clone(region);
    fill_(region, 0);
    return out;
}

}  // namespace wengert::kernels
