#include "kernels/elementwise/overlap.h"

#include <algorithm>

namespace wengert::kernels {
namespace {

struct Range {
    const std::byte *begin, *end;  // empty: begin == end
};

Range range_of(const std::byte* data, IntSpan sizes, IntSpan strides, DType dtype) noexcept {
    int64_t low = 0, high = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == 0) return {data, data};
        int64_t reach = (sizes[d] - 1) * strides[d];
        (reach < 0 ? low : high) += reach;
    }
    return {data + low * item_size(dtype), data + high * item_size(dtype)};
}

}  // namespace

Overlap overlap(const std::byte* data, IntSpan sizes, IntSpan strides, DType dtype, const Tensor& out) noexcept {
    if (!data || !out.data()) return Overlap::None;  // without memory
    Range a = range_of(data, sizes, strides, dtype);
    Range b = range_of(out.data(), out.sizes(), out.strides(), out.dtype());
    if (a.begin >= b.end || b.begin >= a.end) return Overlap::None;
    bool same = data == out.data() && dtype == out.dtype() && std::ranges::equal(sizes, out.sizes()) &&
                std::ranges::equal(strides, out.strides());
    return same ? Overlap::Exact : Overlap::Partial;
}

void check_no_internal_overlap(const Tensor& out, const char* op) {
    if (out.numel() == 0) return;
    for (size_t d = 0; d < out.sizes().size(); ++d)
        check(out.sizes()[d] <= 1 || out.strides()[d] != 0, ErrorKind::Runtime, "[", op,
              "] unsupported operation: more than one element of the written-to tensor refers to a single memory "
              "location. Please clone() the tensor before performing the operation.");
}

}  // namespace wengert::kernels
