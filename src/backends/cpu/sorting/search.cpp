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
        for (int64_t l = 0; l < count; ++l) {
            const T* line = lines.data_as<T>() + (batched ? l * n : 0);
            const int64_t* by = sorter.defined() ? sorter.data_as<int64_t>() + (batched ? l * n : 0) : nullptr;
            for (int64_t i = l * per_line; i < (l + 1) * per_line; ++i) {
                const int64_t at = bound(line, by, n, in.data_as<T>()[i], right);
                if (out->dtype() == DType::Int32)
                    out->data_as<int32_t>()[i] = static_cast<int32_t>(at);
                else
                    out->data_as<int64_t>()[i] = at;
            }
        }
    });
}

void isin(Result out, const Tensor& in, const Tensor& sorted, bool invert) {
    dispatch_ordered(in.dtype(), "isin", [&]<class T> {
        const T *x = in.data_as<T>(), *line = sorted.data_as<T>();
        const int64_t n = sorted.numel();
        for (int64_t i = 0; i < in.numel(); ++i) {
            const int64_t at = bound<T>(line, nullptr, n, x[i], false);
            out->data_as<bool>()[i] = (at < n && line[at] == x[i]) != invert;
        }
    });
}

}  // namespace

constinit DeviceKernel<void(const Tensor&, int64_t)> check_sorter_kernel{"searchsorted", check_sorter,
                                                                         HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, bool)> searchsorted_kernel{
    "searchsorted", searchsorted};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> isin_kernel{"isin", isin};

}  // namespace wengert::kernels
