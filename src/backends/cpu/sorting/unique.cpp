// Groups of equal rows on the CPU (kernels/sorting/sort.h, unique).
#include <algorithm>
#include <numeric>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

void sort_rows(Result order, const Tensor& rows) {
    const int64_t n = rows.sizes()[0], width = rows.numel() / n;
    int64_t* at = order->data_as<int64_t>();
    std::iota(at, at + n, 0);
    dispatch_ordered(rows.dtype(), "unique", [&]<class T> {
        const T* p = rows.data_as<T>();
        std::stable_sort(at, at + n, [=](int64_t a, int64_t b) {
            return std::lexicographical_compare(p + a * width, p + (a + 1) * width, p + b * width, p + (b + 1) * width,
                                                [](T x, T y) { return ordered_key(x) < ordered_key(y); });
        });
    });
}

// The row at a position of the order.
struct Order {
    const int64_t* rows;

    explicit Order(const Tensor& order) : rows(order.defined() ? order.data_as<int64_t>() : nullptr) {}
    int64_t operator[](int64_t i) const noexcept { return rows ? rows[i] : i; }
};

int64_t find_groups(Result starts, const Tensor& rows, const Tensor& order) {
    const int64_t n = rows.sizes()[0], width = rows.numel() / n;
    const Order row(order);
    int64_t *first = starts->data_as<int64_t>(), *next = first;
    dispatch_ordered(rows.dtype(), "unique", [&]<class T> {
        const T* p = rows.data_as<T>();
        const auto each = [&](auto equal) {
            for (int64_t i = 0; i < n; ++i)
                if (i == 0 || !equal(row[i - 1], row[i])) *next++ = i;
        };
        if (width == 1)
            each([=](int64_t a, int64_t b) { return p[a] == p[b]; });
        else
            each([=](int64_t a, int64_t b) { return std::equal(p + a * width, p + (a + 1) * width, p + b * width); });
    });
    return next - first;
}

void fill_groups(Result first, Result inverse, Result counts, const Tensor& starts, const Tensor& order, int64_t n) {
    const int64_t* start = starts.data_as<int64_t>();
    const int64_t groups = starts.numel();
    const Order row(order);
    for (int64_t g = 0; g < groups; ++g) {
        const int64_t begin = start[g], end = g + 1 < groups ? start[g + 1] : n;
        first->data_as<int64_t>()[g] = row[begin];
        if (counts->defined()) counts->data_as<int64_t>()[g] = end - begin;
        for (int64_t i = begin; inverse->defined() && i < end; ++i) inverse->data_as<int64_t>()[row[i]] = g;
    }
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&)> sort_rows_kernel{"unique", sort_rows};
constinit DeviceKernel<int64_t(Result, const Tensor&, const Tensor&)> find_groups_kernel{"unique", find_groups};
constinit DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&, int64_t)> fill_groups_kernel{
    "unique", fill_groups};

}  // namespace wengert::kernels
