// unique, unique_dim, unique_consecutive (see sort.h): groups of equal neighbours in an order.
#include <algorithm>
#include <numeric>
#include <vector>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/shape/shape.h"
#include "kernels/sorting/sort.h"

namespace wengert::kernels {
namespace {

// The groups that `order` falls into, where equal(a, b) compares neighbours.
struct Groups {
    std::vector<int64_t> first;  // the position in `order` at which each group starts
    Tensor inverse, counts;

    template <class Equal>
    Groups(const std::vector<int64_t>& order, IntSpan inverse_sizes, bool want_inverse, bool want_counts, Equal equal)
        : inverse(empty(want_inverse ? inverse_sizes : IntSpan(kNone), DType::Int64)) {
        const auto n = static_cast<int64_t>(order.size());
        for (int64_t i = 0; i < n; ++i) {
            if (i == 0 || !equal(order[i - 1], order[i])) first.push_back(i);
            if (want_inverse) inverse.data_as<int64_t>()[order[i]] = static_cast<int64_t>(first.size()) - 1;
        }
        const auto groups = static_cast<int64_t>(first.size());
        counts = empty(Dims{want_counts ? groups : 0}, DType::Int64);
        for (int64_t g = 0; want_counts && g < groups; ++g)
            counts.data_as<int64_t>()[g] = (g + 1 < groups ? first[g + 1] : n) - first[g];
    }

private:
    static constexpr int64_t kNone[] = {0};
};

std::vector<int64_t> natural_order(int64_t n) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

template <class T>
Unique unique_of(const Tensor& dense, const std::vector<int64_t>& order, IntSpan sizes, bool want_inverse,
                 bool want_counts) {
    const T* p = dense.data_as<T>();
    Groups groups(order, sizes, want_inverse, want_counts, [=](int64_t a, int64_t b) { return p[a] == p[b]; });
    Tensor values = empty(Dims{static_cast<int64_t>(groups.first.size())}, dense.dtype());
    for (size_t g = 0; g < groups.first.size(); ++g) values.data_as<T>()[g] = p[order[groups.first[g]]];
    return {values, groups.inverse, groups.counts};
}

// self as rows [n, rest], where n is the size of `dim`.
Tensor rows_of(const Tensor& self, int64_t dim) { return contiguous(movedim(self, IntSpan(&dim, 1), Dims{0})); }

Unique unique_rows(const Tensor& self, int64_t dim, bool sort_rows, bool want_inverse, bool want_counts,
                   const char* op) {
    dim = wrap_dim(dim, self.dim(), op);
    check(self.dim() > 0, ErrorKind::Runtime, "[", op, "] needs a tensor with dimensions when dim is given");
    Tensor rows = rows_of(self, dim);
    const int64_t n = rows.sizes()[0], width = n ? rows.numel() / n : 0;
    std::vector<int64_t> order = natural_order(n);
    return dispatch_ordered(self.dtype(), op, [&]<class T> {
        const T* p = rows.data_as<T>();
        if (sort_rows)
            std::stable_sort(order.begin(), order.end(), [=](int64_t a, int64_t b) {
                return std::lexicographical_compare(p + a * width, p + (a + 1) * width, p + b * width,
                                                    p + (b + 1) * width,
                                                    [](T x, T y) { return ordered_key(x) < ordered_key(y); });
            });
        Groups groups(order, Dims{n}, want_inverse, want_counts, [=](int64_t a, int64_t b) {
            return std::equal(p + a * width, p + (a + 1) * width, p + b * width);
        });
        Tensor kept = empty(Dims{static_cast<int64_t>(groups.first.size())}, DType::Int64);
        for (size_t g = 0; g < groups.first.size(); ++g) kept.data_as<int64_t>()[g] = order[groups.first[g]];
        return Unique{index_select(self, dim, kept), groups.inverse, groups.counts};
    });
}

}  // namespace

Unique unique(const Tensor& self, bool, bool return_inverse, bool return_counts) {
    Tensor dense = contiguous(self);
    Tensor order = argsort(alias(dense, Dims{dense.numel()}, Dims{1}, dense.offset()), 0);
    std::vector<int64_t> sorted(order.data_as<int64_t>(), order.data_as<int64_t>() + order.numel());
    return dispatch_ordered(self.dtype(), "unique", [&]<class T> {
        return unique_of<T>(dense, sorted, self.sizes(), return_inverse, return_counts);
    });
}

Unique unique_dim(const Tensor& self, int64_t dim, bool, bool return_inverse, bool return_counts) {
    return unique_rows(self, dim, true, return_inverse, return_counts, "unique_dim");
}

Unique unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
    if (dim) return unique_rows(self, *dim, false, return_inverse, return_counts, "unique_consecutive");
    Tensor dense = contiguous(self);
    std::vector<int64_t> order = natural_order(dense.numel());
    return dispatch_ordered(self.dtype(), "unique_consecutive", [&]<class T> {
        return unique_of<T>(dense, order, self.sizes(), return_inverse, return_counts);
    });
}

}  // namespace wengert::kernels
