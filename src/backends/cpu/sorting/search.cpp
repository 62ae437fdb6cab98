// searchsorted and isin on the CPU (kernels/sorting/sort.h): bisection.
#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

// The first position of n for which is_before(position) does not hold. Which half it is in cannot be predicted, so the loop
// selects instead of branching.
template <class F>
int64_t first_not(int64_t n, F is_before) {
    int64_t low = 0;
    while (n > 1) {
        const int64_t half = n / 2;
        low = is_before(low + half - 1) ? low + half : low;
        n -= half;
    }
    return low + (n == 1 && is_before(low));
}

// The first position in a sorted line of n elements that is not below (right: is above) x. NaN is above all numbers.
template <class T>
int64_t bound(const T* line, const int64_t* sorter, int64_t n, T x, bool right) {
    auto at = [=](int64_t i) { return line[sorter ? sorter[i] : i]; };
    if (x != x) return right ? n : first_not(n, [=](int64_t i) { return at(i) == at(i); });
    if (sorter) return first_not(n, [=](int64_t i) { return right ? at(i) <= x : at(i) < x; });
    return right ? first_not(n, [=](int64_t i) { return line[i] <= x; })
                 : first_not(n, [=](int64_t i) { return line[i] < x; });
}

// The same of kTogether numbers at once, none of them NaN: their loads do not wait for each other.
constexpr int64_t kTogether = 8;
constexpr int64_t kSearches = 1 << 11;  // of a thread, at least

template <bool kRight, class T>
void bounds(const T* line, int64_t n, const T* x, int64_t* at) {
    const T* low[kTogether];  // in registers, if the loops over them are unrolled
    auto is_before = [](T element, T number) { return kRight ? element <= number : element < number; };
#pragma GCC unroll 8
    for (int k = 0; k < kTogether; ++k) low[k] = line;
    for (; n > 1; n -= n / 2) {
        const int64_t half = n / 2;
#pragma GCC unroll 8
        for (int k = 0; k < kTogether; ++k) {
            const T* const upper = low[k] + half;
            low[k] = is_before(upper[-1], x[k]) ? upper : low[k];
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < kTogether; ++k) at[k] = low[k] - line + (n == 1 && is_before(*low[k], x[k]));
}

// Where each of `count` numbers belongs, as f(number, place).
template <class T, class F>
void for_each_bound(const T* line, const int64_t* sorter, int64_t n, const T* x, int64_t count, bool right, F f) {
    int64_t i = 0;
    for (int64_t at[kTogether]; !sorter && i + kTogether <= count; i += kTogether) {
        bool any_nan = false;
        for (int64_t k = i; k < i + kTogether; ++k) any_nan |= x[k] != x[k];
        if (!any_nan) (right ? bounds<true, T> : bounds<false, T>)(line, n, x + i, at);
        for (int64_t k = 0; k < kTogether; ++k) f(i + k, any_nan ? bound(line, sorter, n, x[i + k], right) : at[k]);
    }
    for (; i < count; ++i) f(i, bound(line, sorter, n, x[i], right));
}

void check_sorter(const Tensor& sorter, int64_t n) {
    const int64_t* at = sorter.data_as<int64_t>();
    for (int64_t i = 0; i < sorter.numel(); ++i)
        check(at[i] >= 0 && at[i] < n, ErrorKind::Index, "wengert.searchsorted(): sorter index ", at[i],
              " out of range for size ", n);
}

void searchsorted(Result out, const Tensor& lines, const Tensor& in, const Tensor& sorter, bool right) {
    const bool batched = lines.dim() > 1;
    const int64_t n = lines.sizes().back(), per_line = batched ? in.sizes().back() : in.numel();
    const int64_t count = in.numel() / per_line;
    dispatch_ordered(lines.dtype(), "searchsorted", [&]<class T> {
        const auto search = [&]<class Place>(Place* places) {
            for (int64_t l = 0; l < count; ++l) {
                const T* line = lines.data_as<T>() + (batched ? l * n : 0);
                const int64_t* by = sorter.defined() ? sorter.data_as<int64_t>() + (batched ? l * n : 0) : nullptr;
                parallel_for(per_line, kSearches, [&](int64_t begin, int64_t end) {
                    const int64_t first = l * per_line + begin;
                    for_each_bound(line, by, n, in.data_as<T>() + first, end - begin, right,
                                   [=](int64_t i, int64_t at) { places[first + i] = static_cast<Place>(at); });
                });
            }
        };
        out->dtype() == DType::Int32 ? search(out->data_as<int32_t>()) : search(out->data_as<int64_t>());
    });
}

void isin(Result out, const Tensor& in, const Tensor& sorted, bool invert) {
    dispatch_ordered(in.dtype(), "isin", [&]<class T> {
        const T *x = in.data_as<T>(), *line = sorted.data_as<T>();
        const int64_t n = sorted.numel();
        bool* found = out->data_as<bool>();
        parallel_for(in.numel(), kSearches, [=](int64_t begin, int64_t end) {
            for_each_bound<T>(line, nullptr, n, x + begin, end - begin, false, [=](int64_t i, int64_t at) {
                found[begin + i] = (at < n && line[at] == x[begin + i]) != invert;
            });
        });
    });
}

}  // namespace

constinit DeviceKernel<void(const Tensor&, int64_t)> check_sorter_kernel{"searchsorted", check_sorter,
                                                                         HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, bool)> searchsorted_kernel{
    "searchsorted", searchsorted};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> isin_kernel{"isin", isin};

}  // namespace wengert::kernels
