// The elements of the block that an IndexPlan describes (kernels/indexing/index_plan.h).
#pragma once

#include <optional>
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
        if (numel_of(plan_.after_sizes) == 1 && times_used() > 1) return each_in_parallel(other_strides, f);
        if (times_used() != 1 || plan_.index_sizes.size() != 1) return runs(other_strides, f);
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
        const StridedWalk<1> indexed = index_walk(other_strides);
        if (numel_of(plan_.after_sizes) == 1) {
            const std::vector<Series> all = series();
            const std::optional<int64_t> step = index_step(other_strides);
            return each_start(other_strides, 0, times_used(),
                              [&](const Start& start) { each_or_series(start, all, step, indexed, f); });
        }
        const StridedWalk<2> inner(plan_.after_sizes,
                                   {plan_.after_strides, other_strides.last(plan_.after_sizes.size())});
        each_start(other_strides, 0, times_used(), [&](const Start& start) {
            const int64_t* next = offsets_.data();
            indexed.elements([&](const std::array<int64_t, 1>& b) {
                const int64_t self_base = start[0] + *next++, other_base = start[1] + b[0];
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
    using Start = std::array<int64_t, 2>;  // in self, and in the tensor at the other end

    // Where the elements of the offsets are to be taken from: for each place before them, and for each of the leading offsets.
    int64_t times_used() const { return numel_of(plan_.before_sizes) * static_cast<int64_t>(leading_.size()); }
    template <class F>
    void each_start(IntSpan other_strides, int64_t begin, int64_t end, F f) const {
        const size_t before = plan_.before_sizes.size();
        const StridedWalk<2> outer(plan_.before_sizes, {plan_.before_strides, other_strides.first(before)});
        const StridedWalk<1> leads(leading_sizes_, {other_strides.subspan(before, leading_sizes_.size())});
        const auto count = static_cast<int64_t>(leading_.size());
        if (count == 1)
            return outer.elements_of(begin, end, [&](const Start& o) { f(Start{o[0] + leading_[0], o[1]}); });
        int64_t first = begin / count * count;
        outer.elements_of(begin / count, (end + count - 1) / count, [&](const std::array<int64_t, 2>& o) {
            const int64_t from = std::max<int64_t>(begin - first, 0);
            const int64_t* offset = leading_.data() + from;
            leads.elements_of(from, std::min(end - first, count),
                              [&](const std::array<int64_t, 1>& at) { f(Start{o[0] + *offset++, o[1] + at[0]}); });
            first += count;
        });
    }
    size_t index_place() const { return plan_.before_sizes.size() + leading_sizes_.size(); }
    StridedWalk<1> index_walk(IntSpan other_strides) const {
        return {plan_.index_sizes, {other_strides.subspan(index_place(), plan_.index_sizes.size())}};
    }

    // Some elements of a one-dimensional index, of which each names one element.
    template <class F>
    void each_of(int64_t begin, int64_t end, const int64_t step,
                 const F f) const {  // copies: what f writes may alias the rest
        const int64_t* offset = offsets_.data();
        for (int64_t i = begin; i < end; ++i) f(offset[i], i * step, 1, 1, 1);
    }

    // From an element of the index to the next at the other end, where it is the same everywhere.
    std::optional<int64_t> index_step(IntSpan other_strides) const {
        const IntSpan strides = other_strides.subspan(index_place(), plan_.index_sizes.size());
        for (size_t d = 0; d + 1 < strides.size(); ++d)
            if (strides[d] != strides[d + 1] * plan_.index_sizes[d + 1]) return std::nullopt;
        return strides.empty() ? 0 : strides.back();
    }

    template <class F>
    static void each_evenly(const int64_t* offset, const int64_t n, const int64_t self, const int64_t other,
                            const int64_t step, const F f) {
        for (int64_t i = 0; i < n; ++i) f(self + offset[i], other + i * step, 1, 1, 1);
    }

    // The elements of the index, of which each names one element.
    template <class F>
    void each(const Start& start, std::optional<int64_t> uniform, const StridedWalk<1>& indexed, F f) const {
        const int64_t* next = offsets_.data();
        if (uniform) return each_evenly(next, static_cast<int64_t>(offsets_.size()), start[0], start[1], *uniform, f);
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
    void each_or_series(const Start& start, const std::vector<Series>& all, std::optional<int64_t> step,
                        const StridedWalk<1>& indexed, F f) const {
        if (all.empty()) return each(start, step, indexed, f);
        for (const Series& s : all) f(start[0] + s.offset, start[1] + s.first * *step, s.count, s.step, *step);
    }

    template <class F>
    void each_in_parallel(IntSpan other_strides, F f) const {
        const std::vector<Series> all = series();
        const std::optional<int64_t> step = index_step(other_strides);
        const StridedWalk<1> indexed = index_walk(other_strides);
        const auto n = static_cast<int64_t>(offsets_.size());
        parallel_for(times_used(), std::max<int64_t>(1, kParallelBlock / n), [&](int64_t begin, int64_t end) {
            each_start(other_strides, begin, end,
                       [&](const Start& start) { each_or_series(start, all, step, indexed, f); });
        });
    }

    // Dimensions that only some indices have, before the last, which only the others have, as in self[rows[:, None], columns]: these
    // are an open mesh, whose offsets are sums of one of `leading_` and one of `offsets_`.
    void split_mesh(TensorSpan indices);
    void add_offsets(const Tensor& index, int64_t dim, int64_t size, int64_t stride, IntSpan sizes, int64_t* out) const;
    // Takes the dimensions after the index into it.
    void take_after();

    IndexPlan plan_;
    Dims leading_sizes_;
    std::vector<int64_t> leading_, offsets_;  // one per element of the index, in elements of self
};

}  // namespace wengert::kernels
