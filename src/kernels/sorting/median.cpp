// Medians and modes: selection among the keys of a line (backends/cpu/sorting/ordered_key.h), then a search for the position.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"

namespace wengert::kernels {
namespace {

// Calls pick(keys, scratch, nan_key) -> index for each line of `self` along `dim`; nan_key is 0 for dtypes without NaN.
template <class Pick>
ValuesIndices select_per_line(const Tensor& self, int64_t dim, bool keepdim, const char* op, Pick pick) {
    dim = wrap_dim(dim, self.dim(), op);
    const int64_t n = line_size(self, dim), stride = line_stride(self, dim);
    check(n > 0, ErrorKind::Index, op, "(): Expected reduction dim ", dim, " to have non-zero size.");
    Dims sizes = self.sizes();
    if (self.dim() > 0) sizes[dim] = 1;
    Tensor values = empty(sizes, self.dtype()), indices = empty(sizes, DType::Int64);
    dispatch_ordered(self.dtype(), op, [&]<class T> {
        using U = Unsigned<sizeof(T)>;
        for_each_line<2>(self.sizes(), {self.strides(), values.strides()}, dim, [&] {
            return [&, keys = std::vector<U>(n), scratch = std::vector<U>()](const std::array<int64_t, 2>& at) mutable {
                const T* line = self.data_as<T>() + at[0];
                for (int64_t i = 0; i < n; ++i) keys[i] = ordered_key(line[i * stride]);
                scratch = keys;
                int64_t index = pick(keys, scratch, std::is_floating_point_v<T> ? static_cast<U>(~U{0}) : U{0});
                values.data_as<T>()[at[1]] = line[index * stride];
                indices.data_as<int64_t>()[at[1]] = index;
            };
        });
    });
    if (!keepdim && self.dim() > 0) {
        sizes.erase(dim);
        values = alias(values, sizes, contiguous_strides(sizes), 0);
        indices = alias(indices, sizes, contiguous_strides(sizes), 0);
    }
    return {values, indices};
}

// The first position of the median.
template <class U>
int64_t pick_median(const std::vector<U>& keys, std::vector<U>& scratch, U nan_key, bool ignore_nan) {
    auto end = scratch.end();
    if (nan_key != 0) {
        auto first = std::find(keys.begin(), keys.end(), nan_key);
        if (first != keys.end()) {
            if (!ignore_nan) return first - keys.begin();
            end = std::remove(scratch.begin(), scratch.end(), nan_key);
            if (end == scratch.begin()) return first - keys.begin();
        }
    }
    auto middle = scratch.begin() + (end - scratch.begin() - 1) / 2;
    std::nth_element(scratch.begin(), middle, end);
    return std::find(keys.begin(), keys.end(), *middle) - keys.begin();
}

ValuesIndices median_of(const Tensor& self, int64_t dim, bool keepdim, bool ignore_nan, const char* op) {
    return select_per_line(self, dim, keepdim, op, [=](auto& keys, auto& scratch, auto nan_key) {
        return pick_median(keys, scratch, nan_key, ignore_nan);
    });
}

Tensor median_of_all(const Tensor& self, bool ignore_nan, const char* op) {
    if (self.numel() == 0) {
        bool floating = is_floating(self.dtype());
        return scalar_tensor(floating ? Scalar(std::numeric_limits<double>::quiet_NaN()) : Scalar(int64_t{0}),
                             self.dtype());
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

// The smallest of the most frequent values, at its last position.
ValuesIndices mode(const Tensor& self, int64_t dim, bool keepdim) {
    return select_per_line(self, dim, keepdim, "mode", [](auto& keys, auto& sorted, auto) {
        std::sort(sorted.begin(), sorted.end());
        auto best = sorted[0];
        size_t best_length = 0;
        for (size_t begin = 0, i = 1; i <= sorted.size(); ++i) {
            if (i < sorted.size() && sorted[i] == sorted[begin]) continue;
            if (i - begin > best_length) {
                best_length = i - begin;
                best = sorted[begin];
            }
            begin = i;
        }
        return static_cast<int64_t>(keys.rend() - std::find(keys.rbegin(), keys.rend(), best)) - 1;
    });
}

}  // namespace wengert::kernels
