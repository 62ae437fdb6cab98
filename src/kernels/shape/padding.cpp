#include "kernels/shape/padding.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

constexpr int64_t kLargestPad = int64_t{1} << 60;

}  // namespace

int64_t padded_dims(const char* op, const Tensor& self, IntSpan pad) {
    const int64_t count = static_cast<int64_t>(pad.size()) / 2;
    check(pad.size() % 2 == 0, ErrorKind::Runtime, "[", op, "] Padding length must be divisible by 2, but is ",
          pad.size());
    check(count <= self.dim(), ErrorKind::Runtime, "[", op,
          "] Padding length should be less than or equal to two times the input dimension but got padding length ",
          pad.size(), " and input of dimension ", self.dim());
    for (int64_t p : pad)
        check(p >= -kLargestPad && p <= kLargestPad, ErrorKind::Runtime, "[", op, "] padding ", p,
              " is more than a tensor can have");
    return count;
}

Tensor constant_pad_nd(const Tensor& self, IntSpan pad, const Scalar& value) {
    const int64_t count = padded_dims("constant_pad_nd", self, pad);
    Tensor from = self;  // what stays, and where in the result it begins
    Dims sizes = self.sizes(), start(sizes.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t dim = self.dim() - 1 - i, before = pad[2 * static_cast<size_t>(i)],
                      after = pad[2 * static_cast<size_t>(i) + 1], length = self.size(dim);
        const auto d = static_cast<size_t>(dim);
        check(length + before + after >= 0, ErrorKind::Runtime, "[constant_pad_nd] The input size ", length,
              ", plus negative padding ", before, " and ", after, " resulted in a negative output size");
        sizes[d] = length + before + after;
        start[d] = std::max<int64_t>(before, 0);
        const int64_t first = std::clamp<int64_t>(-before, 0, length), end = length + std::min<int64_t>(after, 0);
        from = slice(from, dim, first, std::max(first, end));
    }
    if (std::ranges::all_of(pad, [](int64_t p) { return p == 0; })) return clone(self);
    Tensor out = value == Scalar(0) ? zeros(sizes, self.dtype(), self.device())
                                    : full(sizes, value, self.dtype(), self.device());
    int64_t offset = 0;
    for (size_t d = 0; d < start.size(); ++d) offset += start[d] * out.strides()[d];
    if (from.numel() > 0) copy_into(alias(out, from.sizes(), out.strides(), offset), from);
    return out;
}

}  // namespace wengert::kernels
