// The geometry of one indexing operation.
//
// Whatever the index looks like, the elements it names form a block with three groups of dimensions, in this order:
// `before` and `after`, which are plain dimensions of self, around the broadcast shape B of the index tensors. An
// element lies at  self.offset + before . strides + offsets[b] + after . strides. `other` is the tensor at the
// other end: the result of a read, the values of a write, seen in the shape before x B x after.
#pragma once

#include <vector>

#include "backends/cpu/elementwise/strided.h"
#include "tensor/tensor_list.h"

namespace wengert::kernels {

struct IndexPlan {
    Dims before_sizes, before_strides;
    Dims index_sizes;
    std::vector<int64_t> offsets;  // one per element of B, in elements of self
    Dims after_sizes, after_strides;

    Dims result_sizes() const {
        Dims sizes = before_sizes;
        for (int64_t s : index_sizes) sizes.push_back(s);
        for (int64_t s : after_sizes) sizes.push_back(s);
        return sizes;
    }

    // As `runs`, on several threads: for functions that write where no other run reads or writes.
    template <class F>
    void runs_in_parallel(IntSpan other_strides, F f) const {
        const auto n = static_cast<int64_t>(offsets.size());
        if (numel_of(before_sizes) != 1 || index_sizes.size() != 1) return runs(other_strides, f);
        const IntSpan after = other_strides.last(after_sizes.size());
        const int64_t step = other_strides[before_sizes.size()], run = numel_of(after_sizes);
        const StridedWalk<2> inner(after_sizes, {after_strides, after});
        parallel_for(
            n, std::max<int64_t>(1, kParallelBlock / std::max<int64_t>(run, 1)), [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    const int64_t from = offsets[static_cast<size_t>(i)];
                    if (run == 1) {
                        f(from, i * step, 1, 1, 1);
                        continue;
                    }
                    inner.rows(
                        [&](const std::array<int64_t, 2>& at, int64_t length, const std::array<int64_t, 2>& strides) {
                            f(from + at[0], i * step + at[1], length, strides[0], strides[1]);
                        });
                }
            });
    }

    // Calls f(self_offset, other_offset, n, self_stride, other_stride) for runs of elements, in order. Offsets are
    // relative to the first elements.
    template <class F>
    void runs(IntSpan other_strides, F f) const {
        IntSpan before = other_strides.first(before_sizes.size());
        IntSpan middle = other_strides.subspan(before_sizes.size(), index_sizes.size());
        IntSpan after = other_strides.last(after_sizes.size());
        StridedWalk<2> outer(before_sizes, {before_strides, before}), inner(after_sizes, {after_strides, after});
        StridedWalk<1> indexed(index_sizes, {middle});
        const bool single = numel_of(after_sizes) == 1;
        outer.elements([&](const std::array<int64_t, 2>& o) {
            const int64_t* next = offsets.data();
            if (single) {
                indexed.rows([&](const std::array<int64_t, 1>& at, int64_t n, const std::array<int64_t, 1>& step) {
                    for (int64_t i = 0; i < n; ++i) f(o[0] + *next++, o[1] + at[0] + i * step[0], 1, 1, 1);
                });
                return;
            }
            indexed.elements([&](const std::array<int64_t, 1>& b) {
                const int64_t self_base = o[0] + *next++, other_base = o[1] + b[0];
                inner.rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                    f(self_base + at[0], other_base + at[1], n, step[0], step[1]);
                });
            });
        });
    }
};

// `self` is replaced by a view with one more dimension for each 0-dimensional mask.
IndexPlan plan_index(Tensor& self, TensorSpan indices);
// index: a vector or a single number.
IndexPlan plan_index_select(const Tensor& self, int64_t dim, const Tensor& index, bool wrap_negative, const char* op);

// The elements of an index tensor (int64 or int32) as dense int64.
Tensor dense_index(const Tensor& index, const char* op);

}  // namespace wengert::kernels
