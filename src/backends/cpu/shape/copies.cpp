// Copies that rearrange elements, on the CPU: those that are not copies of views (kernels/shape/shape.h).
#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/shape/shape_kernels.h"

namespace wengert::kernels {
namespace {

int64_t total_of_repeats(const Tensor& counts) {
    const int64_t* n = counts.data_as<int64_t>();
    int64_t total = 0;
    for (int64_t i = 0; i < counts.numel(); ++i) {
        check(n[i] >= 0, ErrorKind::Runtime, "repeats can not be negative, got ", n[i], " at position ", i);
        total = checked_add(total, n[i], "repeat_interleave");
    }
    return total;
}

// Keeps [first, last) of each matrix row, given by range(row, columns), and puts zeros elsewhere.
template <class Range>
void keep_in_rows(const Tensor& out, const Tensor& self, Range range) {
    const int64_t rows = self.sizes()[self.dim() - 2], cols = self.sizes()[self.dim() - 1];
    const size_t item = static_cast<size_t>(item_size(self.dtype()));
    const std::byte* from = self.data();
    std::byte* to = out.data();
    for (int64_t line = 0; line < out.numel() / cols; ++line, from += cols * item, to += cols * item) {
        auto [first, last] = range(line % rows, cols);
        std::memset(to, 0, first * item);
        std::memcpy(to + first * item, from + first * item, (last - first) * item);
        std::memset(to + last * item, 0, (cols - last) * item);
    }
}

void keep_triangle(const Tensor& out, const Tensor& self, int64_t diagonal, bool lower) {
    if (lower)
        keep_in_rows(out, self, [=](int64_t row, int64_t cols) {
            return std::pair(int64_t{0}, std::clamp<int64_t>(row + diagonal + 1, 0, cols));
        });
    else
        keep_in_rows(out, self, [=](int64_t row, int64_t cols) {
            return std::pair(std::clamp<int64_t>(row + diagonal, 0, cols), cols);
        });
}

}  // namespace

constinit DeviceKernel<int64_t(const Tensor&)> total_of_repeats_kernel{"repeat_interleave", total_of_repeats};
constinit DeviceKernel<void(Result, const Tensor&)> repeated_positions_kernel{
    "repeat_interleave", [](Result out, const Tensor& counts) {
        const int64_t* n = counts.data_as<int64_t>();
        int64_t* p = out->data_as<int64_t>();
        for (int64_t i = 0; i < counts.numel(); ++i) p = std::fill_n(p, n[i], i);
    }};
constinit DeviceKernel<void(Result, const Tensor&, int64_t, bool)> triangle_kernel{
    "triangle",
    [](Result out, const Tensor& self, int64_t diagonal, bool lower) { keep_triangle(out, self, diagonal, lower); },
    Elements::Stored};

}  // namespace wengert::kernels
