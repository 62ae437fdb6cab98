// Medians and modes on the CPU (kernels/reductions/reduce.h): selection among the keys of a line (ordered_key.h), then a search
// for the position.
#include <algorithm>
#include <vector>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

// Calls pick(keys, scratch, nan_key) -> index for each line of `in` along `dim`; nan_key is 0 for dtypes without NaN.
template <class Pick>
void select_per_line(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim, const char* op,
                     Pick pick) {
    const int64_t n = line_size(in, dim), stride = line_stride(in, dim);
    dispatch_ordered(in.dtype(), op, [&]<class T> {
        using U = Unsigned<sizeof(T)>;
        for_each_line<2>(in.sizes(), {in.strides(), values.strides()}, dim, [&] {
            return [&, keys = std::vector<U>(n), scratch = std::vector<U>()](const std::array<int64_t, 2>& at) mutable {
                const T* line = in.data_as<T>() + at[0];
                for (int64_t i = 0; i < n; ++i) keys[i] = ordered_key(line[i * stride]);
                scratch = keys;
                int64_t index = pick(keys, scratch, std::is_floating_point_v<T> ? static_cast<U>(~U{0}) : U{0});
                values.data_as<T>()[at[1]] = line[index * stride];
                indices.data_as<int64_t>()[at[1]] = index;
            };
        });
    });
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

void median(Result values, Result indices, const Tensor& in, int64_t dim, bool ignore_nan) {
    select_per_line(values, indices, in, dim, "median", [=](auto& keys, auto& scratch, auto nan_key) {
        return pick_median(keys, scratch, nan_key, ignore_nan);
    });
}

// Up to here each is compared with all.
constexpr size_t kShortLine = 8;

template <class U>
int64_t mode_of_few(const std::vector<U>& keys) {
    size_t best = 0, best_count = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
        size_t count = 0;
        for (const U key : keys) count += key == keys[i];
        const bool better = (count > best_count) | ((count == best_count) & (keys[i] <= keys[best]));
        best = better ? i : best;
        best_count = better ? count : best_count;
    }
    return static_cast<int64_t>(best);
}

// The smallest of the most frequent values, at its last position.
void mode(Result values, Result indices, const Tensor& in, int64_t dim) {
    select_per_line(values, indices, in, dim, "mode", [](auto& keys, auto& sorted, auto) {
        if (keys.size() <= kShortLine) return mode_of_few(keys);
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

}  // namespace

constinit DeviceKernel<void(Result, Result, const Tensor&, int64_t, bool)> median_kernel{"median", median};
constinit DeviceKernel<void(Result, Result, const Tensor&, int64_t)> mode_kernel{"mode", mode};

}  // namespace wengert::kernels
