// Gradients of elements that are equal to a result, on the CPU (kernels/reductions/equals.h).
#include <algorithm>
#include <atomic>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/reductions/equals_table.h"
#include "kernels/reductions/reduce_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(EqualsTable, equals_table)

namespace {

template <class T>
const EqualsLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return equals_table().of_float;
    else
        return equals_table().of_double;
}

// All elements have one result. Whole numbers are added: their order does not matter.
template <class T>
void share_row(const T* row, int64_t n, T result, T grad, T* to) {
    std::atomic<int64_t> count{0};
    parallel_for(n, kParallelBlock, [&](int64_t begin, int64_t end) {
        count.fetch_add(loops<T>().count(row + begin, end - begin, result), std::memory_order_relaxed);
    });
    const T share = grad / static_cast<T>(count.load(std::memory_order_relaxed));
    parallel_for(n, kParallelBlock, [&](int64_t begin, int64_t end) {
        loops<T>().write(row + begin, end - begin, result, share, to + begin);
    });
}

template <class T>
void share_rows(const T* rows, int64_t count, int64_t n, const T* results, const T* grad, T* to) {
    parallel_for(count, units_of(n), [&](int64_t begin, int64_t end) {
        loops<T>().rows(rows + begin * n, end - begin, n, results + begin, grad + begin, to + begin * n);
    });
}

// Blocks of columns of matrices [reduced, inner].
template <class T>
void share_columns(const T* from, EqualsLayout of, const T* results, const T* grad, T* to) {
    const int64_t width = std::min(of.inner, EqualsTable::kColumns), blocks = (of.inner + width - 1) / width;
    parallel_for(of.outer * blocks, units_of(of.reduced * width), [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
            const int64_t matrix = b / blocks, column = b % blocks * width, at = matrix * of.inner + column;
            const int64_t first = matrix * of.reduced * of.inner + column;
            loops<T>().columns(from + first, of.reduced, of.inner, std::min(width, of.inner - column), results + at,
                               grad + at, to + first);
        }
    });
}

void share_among_equals(const Tensor& out, const Tensor& grad, const Tensor& self, const Tensor& result,
                        EqualsLayout of) {
    dispatch_floating(self.dtype(), "share_among_equals", [&]<class T> {
        const T *from = self.data_as<T>(), *r = result.data_as<T>(), *g = grad.data_as<T>();
        T* to = out.data_as<T>();
        const int64_t size = of.reduced * of.inner;
        if (of.inner > 1 && of.inner < EqualsTable::kFewColumns)
            return parallel_for(of.outer, units_of(size), [&](int64_t begin, int64_t end) {
                loops<T>().matrices(from + begin * size, end - begin, of.reduced, of.inner, r + begin * of.inner,
                                    g + begin * of.inner, to + begin * size);
            });
        if (of.inner > 1) return share_columns(from, of, r, g, to);
        if (of.outer > 1) return share_rows(from, of.outer, of.reduced, r, g, to);
        share_row(from, of.reduced, *r, *g, to);
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, EqualsLayout)>
    share_among_equals_kernel{"share_among_equals",
                              [](Result out, const Tensor& grad, const Tensor& self, const Tensor& result,
                                 EqualsLayout layout) { share_among_equals(out, grad, self, result, layout); }};

}  // namespace wengert::kernels
