// Bags of rows on the CPU (kernels/indexing/bags.h).
//
// Sums, dots and maxima go bag by bag, which threads share. What is added to the rows of a table is shared by columns, so that
// a row gets its parts in the order of the indices whatever the number of threads.
#include <algorithm>
#include <cmath>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/indexing/bag_loops.h"
#include "backends/cpu/indexing/bounds.h"
#include "kernels/indexing/bags_kernels.h"
#include "kernels/reductions/nan_check.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(BagTable, bag_table)

namespace {

template <class T>
const BagLoops<T>& loops_of() {
    if constexpr (std::is_same_v<T, float>)
        return bag_table().of_float;
    else
        return bag_table().of_double;
}

// Where the bags lie. An error for offsets that do not rise from 0, and for an index that is no row of the table.
struct Bags {
    const int64_t *indices, *offsets;
    int64_t count, elements, padding_idx;

    Bags(const Tensor& indices_, const Tensor& offsets_, int64_t padding_idx_, int64_t rows)
        : indices(indices_.data_as<int64_t>()),
          offsets(offsets_.data_as<int64_t>()),
          count(offsets_.numel() - 1),
          elements(indices_.numel()),
          padding_idx(padding_idx_) {
        check(offsets[0] == 0, ErrorKind::Value,
              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
              "However, got ",
              offsets[0]);
        for (int64_t b = 0; b < count; ++b)
            check(offsets[b] <= offsets[b + 1] && offsets[b + 1] <= elements, ErrorKind::Value,
                  "offsets have to rise and can not be greater than input's length ", elements, ", but got ",
                  offsets[b + 1], " after ", offsets[b]);
        if (all_within(indices, elements, 0, rows)) [[likely]]
            return;
        for (int64_t k = 0; k < elements; ++k)
            check(indices[k] >= 0 && indices[k] < rows, ErrorKind::Index, "index ", indices[k],
                  " is out of bounds for dimension 0 with size ", rows);
    }

    template <class T>
    Bag<T> bag(int64_t b, const T* factors, int64_t step) const {
        const int64_t first = offsets[b];
        return {indices + first, factors + first * step, step, offsets[b + 1] - first, padding_idx};
    }
    int64_t in_a_bag() const { return count == 0 ? 0 : elements / count + 1; }

    // f(b) for all bags of rows that are `width` long.
    template <class F>
    void in_parallel(int64_t width, F f) const {
        parallel_for(count, units_of(in_a_bag() * width), [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; ++b) f(b);
        });
    }
};

// All of them without those that are left out, one element of the table after the other: f(element of the bag's row, element
// of the table's row, k).
template <class T, class X, class Y, class F>
void each_product(const Bags& bags, int64_t width, X* of_bags, Y* rows, F f) {
    for (int64_t b = 0; b < bags.count; ++b)
        for (int64_t k = bags.offsets[b]; k < bags.offsets[b + 1]; ++k)
            for (int64_t j = 0; j < width && bags.indices[k] != bags.padding_idx; ++j)
                f(of_bags[b * width + j], rows[bags.indices[k] * width + j], k);
}

// The rule of the chain: zero times anything is zero.
template <class T>
T product(T a, T b) {
    return a == 0 || b == 0 ? T(0) : a * b;
}

int64_t step_of(const Tensor& factors) { return factors.strides()[0]; }
bool are_finite(const Tensor& factors) {
    return factors.numel() == 0 ||
           all_finite(step_of(factors) ? factors : alias(factors, Dims{1}, Dims{1}, factors.offset()));
}

void sums(Result out, const Tensor& weight, const Tensor& factors, const Tensor& indices, const Tensor& offsets,
          int64_t padding_idx, bool chain) {
    const Bags bags(indices, offsets, padding_idx, weight.size(0));
    const int64_t width = weight.size(1), step = step_of(factors);
    dispatch_floating(weight.dtype(), "embedding_bag", [&]<class T> {
        const T *rows = weight.data_as<T>(), *factor = factors.data_as<T>();
        T* to = out->data_as<T>();
        if (chain && !(all_finite(weight) && are_finite(factors))) {
            std::fill(to, to + out->numel(), T(0));
            return each_product<T>(bags, width, to, rows,
                                   [=](T& sum, T x, int64_t k) { sum += product(factor[k * step], x); });
        }
        bags.in_parallel(width, [=, sum = loops_of<T>().sum](int64_t b) {
            sum(bags.bag(b, factor, step), rows, width, width, to + b * width);
        });
    });
}

void rows(Result out, const Tensor& grad, const Tensor& factors, const Tensor& indices, const Tensor& offsets,
          int64_t padding_idx, bool chain) {
    const Bags bags(indices, offsets, padding_idx, out->size(0));
    const int64_t width = grad.size(1), step = step_of(factors);
    dispatch_floating(grad.dtype(), "embedding_bag", [&]<class T> {
        const T *from = grad.data_as<T>(), *factor = factors.data_as<T>();
        T* to = out->data_as<T>();
        if (chain && !(all_finite(grad) && are_finite(factors)))
            return each_product<T>(bags, width, from, to,
                                   [=](T g, T& sum, int64_t k) { sum += product(factor[k * step], g); });
        // As many vectors at a time as a loop keeps in registers, at least.
        const int64_t at_a_time = std::max(kVectors, (units_of(bags.elements) + kVectors - 1) / kVectors * kVectors);
        parallel_for(width, at_a_time, [=, &bags, add = loops_of<T>().add](int64_t begin, int64_t end) {
            for (int64_t b = 0; b < bags.count; ++b)
                add(bags.bag(b, factor, step), from + b * width + begin, width, end - begin, to + begin);
        });
    });
}

void dots(Result out, const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
          int64_t padding_idx, bool chain) {
    const Bags bags(indices, offsets, padding_idx, weight.size(0));
    const int64_t width = grad.size(1);
    dispatch_floating(grad.dtype(), "embedding_bag", [&]<class T> {
        const T *from = grad.data_as<T>(), *rows = weight.data_as<T>();
        T* to = out->data_as<T>();
        std::fill(to + bags.offsets[bags.count], to + bags.elements, T(0));  // in no bag
        if (chain && !(all_finite(grad) && all_finite(weight))) {
            std::fill(to, to + bags.elements, T(0));
            return each_product<T>(bags, width, from, rows, [=](T g, T x, int64_t k) { to[k] += product(g, x); });
        }
        bags.in_parallel(width, [=, dots = loops_of<T>().dots](int64_t b) {
            dots(bags.bag<T>(b, nullptr, 0), from + b * width, rows, width, to + bags.offsets[b]);
        });
    });
}

void maxima(Result out, const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t padding_idx) {
    const Bags bags(indices, offsets, padding_idx, weight.size(0));
    const int64_t width = weight.size(1);
    dispatch_floating(weight.dtype(), "embedding_bag", [&]<class T> {
        const T* rows = weight.data_as<T>();
        int64_t* to = out->data_as<int64_t>();
        bags.in_parallel(width, [=, maxima = loops_of<T>().maxima](int64_t b) {
            maxima(bags.bag<T>(b, nullptr, 0), rows, width, width, to + b * width);
        });
    });
}

void sizes(Result out, const Tensor& indices, const Tensor& offsets, int64_t padding_idx) {
    const int64_t *index = indices.data_as<int64_t>(), *offset = offsets.data_as<int64_t>();
    for (int64_t b = 0; b < out->numel(); ++b) {
        const int64_t first = std::clamp<int64_t>(offset[b], 0, indices.numel()),
                      last = std::clamp(offset[b + 1], first, indices.numel());
        const auto left_out = padding_idx < 0 ? 0 : std::count(index + first, index + last, padding_idx);
        out->data_as<int64_t>()[b] = last - first - left_out;
    }
}

}  // namespace

using OfThree = void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t, bool);

constinit DeviceKernel<OfThree> bag_sums_kernel{"embedding_bag", sums, HostWaits::ForErrors};
constinit DeviceKernel<OfThree> bag_rows_kernel{"embedding_bag_backward", rows, HostWaits::ForErrors};
constinit DeviceKernel<OfThree> bag_dots_kernel{"embedding_bag_backward", dots, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, int64_t)> bag_maxima_kernel{
    "embedding_bag", maxima, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t)> bag_sizes_kernel{"embedding_bag", sizes};

}  // namespace wengert::kernels
