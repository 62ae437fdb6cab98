// The elements of the block that an IndexPlan describes (kernels/indexing/index_plan.h).
#pragma once

#include <vector>

#include "backends/cpu/elementwise/strided.h"
#include "kernels/indexing/index_plan.h"

namespace wengert::kernels {

class IndexRuns {
public:
    // Reads all indices; an error where one is out of bounds.
    IndexRuns(const Tensor& self, const IndexPlan& plan, TensorSpan indices);

    // As `runs`, on several threads: for functions that write where no other run reads or writes.
    template <class F>
    void runs_in_parallel(IntSpan other_strides, F f) const {
        if (numel_of(plan_.after_sizes) == 1 && numel_of(plan_.before_sizes) > 1)
            return each_in_parallel(other_strides, f);
        if (numel_of(plan_.before_sizes) != 1 || plan_.index_sizes.size() != 1) return runs(other_strides, f);
        const IntSpan after = other_strides.last(plan_.after_sizes.size());
        const int64_t n = plan_.index_sizes[0], step = other_strides[plan_.before_sizes.size()],
                      run = numel_of(plan_.after_sizes);
        const StridedWalk<2> inner(plan_.after_sizes, {plan_.after_strides, after});
        parallel_for(
            n, std::max<int64_t>(1, kParallelBlock / std::max<int64_t>(run, 1)), [&](int64_t begin, int64_t end) {
                if (run == 1) return each_of(begin, end, step, f);
                for (int64_t i = begin; i < end; ++i) {
                    const int64_t from = offsets_[static_cast<size_t>(i)];
                    inner.rows(
                        [&](const std::array<int64_t, 2>& at, int64_t length, const std::array<int64_t, 2>& strides) {
                            f(from + at[0], i * step + at[1], length, strides[0], strides[1]);
                        });
                }
            });
    }

    // Calls f(self_offset, other_offset, n, self_stride, other_stride) for runs of elements, in order. Offsets are
    // relative to the first elements. `other` is the tensor at the other end, in the shape of the block.
    template <class F>
    void runs(IntSpan other_strides, F f) const {
        const StridedWalk<2> outer = outer_walk(other_strides);
        const StridedWalk<1> indexed = index_walk(other_strides);
        if (numel_of(plan_.after_sizes) == 1)
            return outer.elements([&](const std::array<int64_t, 2>& o) { each(o, indexed, f); });
        const StridedWalk<2> inner(plan_.after_sizes,
                                   {plan_.after_strides, other_strides.last(plan_.after_sizes.size())});
        outer.elements([&](const std::array<int64_t, 2>& o) {
            const int64_t* next = offsets_.data();
            indexed.elements([&](const std::array<int64_t, 1>& b) {
                const int64_t self_base = o[0] + *next++, other_base = o[1] + b[0];
                inner.rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                    f(self_base + at[0], other_base + at[1], n, step[0], step[1]);
                });
            });
        });
    }

    // Which elements of the index name a place that none behind them names; self is contiguous.
    std::vector<uint8_t> lasts(int64_t numel) const;

    bool has_elements() const { return numel_of(plan_.result_sizes()) > 0; }

private:
    StridedWalk<2> outer_walk(IntSpan other_strides) const {
        return {plan_.before_sizes, {plan_.before_strides, other_strides.first(plan_.before_sizes.size())}};
    }
    StridedWalk<1> index_walk(IntSpan other_strides) const {
        return {plan_.index_sizes, {other_strides.subspan(plan_.before_sizes.size(), plan_.index_sizes.size())}};
    }

    // Some elements of a one-dimensional index, of which each names one element.
    template <class F>
    void each_of(int64_t begin, int64_t end, const int64_t step,
                 const F f) const {  // copies: what f writes may alias the rest
        const int64_t* offset = offsets_.data();
        for (int64_t i = begin; i < end; ++i) f(offset[i], i * step, 1, 1, 1);
    }

    // The elements of the index, of which each names one element.
    template <class F>
    void each(const std::array<int64_t, 2>& start, const StridedWalk<1>& indexed, F f) const {
        const int64_t* next = offsets_.data();
        indexed.rows([&](const std::array<int64_t, 1>& at, int64_t n, const std::array<int64_t, 1>& step) {
            const int64_t self = start[0], other = start[1] + at[0], of_other = step[0], *offset = next;
            for (int64_t i = 0; i < n; ++i) f(self + offset[i], other + i * of_other, 1, 1, 1);
            next += n;
        });
    }

    // Elements of the index whose offsets are one after the other, forwards, backwards or with any step: of a range, or of what a
    // padding repeats.
    struct Series {
        int64_t first, count, offset, step;
    };
    // All of them, if they are long and used often enough to be worth looking for.
    std::vector<Series> series() const;

    template <class F>
    void each_in_parallel(IntSpan other_strides, F f) const {
        const StridedWalk<2> outer = outer_walk(other_strides);
        const StridedWalk<1> indexed = index_walk(other_strides);
        const std::vector<Series> all = plan_.index_sizes.size() == 1 ? series() : std::vector<Series>();
        const auto n = static_cast<int64_t>(offsets_.size());
        const int64_t step = all.empty() ? 0 : other_strides[plan_.before_sizes.size()];
        parallel_for(outer.numel(), std::max<int64_t>(1, kParallelBlock / n), [&](int64_t begin, int64_t end) {
            outer.elements_of(begin, end, [&](const std::array<int64_t, 2>& at) {
                if (all.empty()) return each(at, indexed, f);
                for (const Series& s : all) f(at[0] + s.offset, at[1] + s.first * step, s.count, s.step, step);
            });
        });
    }

    void add_offsets(const Tensor& index, int64_t dim, int64_t size, int64_t stride);
    // Takes the dimensions after the index into it.
    void take_after();

    IndexPlan plan_;
    std::vector<int64_t> offsets_;  // one per element of the index, in elements of self
};

}  // namespace wengert::kernels
