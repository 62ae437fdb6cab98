// How several arrays of one shape are walked together, in the order in which they lie in memory.
//
// An elementwise result does not depend on the order of its elements, so the iteration is free to choose: dimensions are
// sorted by the strides of the arrays, the smallest innermost, and neighbours that are dense with respect to each other in
// every array are merged. A pair of transposed matrices becomes one row; a matrix and its transpose two dimensions with
// the first array's rows innermost. (backends/cpu/elementwise/strided.h walks in row-major order, for kernels whose order
// matters.)
//
//     StridedIteration it(shape);
//     it.add(data, strides of `shape` in bytes);   ...once per array
//     it.order(leading);                           sorts; permuted_strides() now tells how to lay out a result
//     it.coalesce();
//     it.for_each_row([&](char** pointers, int64_t n, const int64_t* steps) { ... });
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

class StridedIteration {
public:
    static constexpr int kMaxArrays = 10;
    static constexpr int kMaxDims = 64;

    explicit StridedIteration(IntSpan shape);

    // An array that can be broadcast to the shape, strides in elements. It is repeated along dimensions that it lacks or
    // in which its size is 1; one without dimensions is a number. Not after coalesce().
    void add(void* data, IntSpan sizes, IntSpan strides, int64_t item_size);

    // Sorts the dimensions by the strides of array `leading`; the others decide, as they were added, where it does not.
    void order(int leading = 0);
    // Strides, in elements, of a dense array of this shape that lies in memory in the order chosen.
    Dims permuted_strides() const;
    void coalesce();

    void exchange(int d, int e);  // their places in the order

    // Elements that lie side by side in every array along the innermost dimension become one: for what only moves them. Not
    // where no dimension would be left, or where the new elements would have another alignment or more bytes than `largest`.
    void join_innermost(int64_t largest);

    // Of dimension d only [begin, end).
    StridedIteration part(int d, int64_t begin, int64_t end) const;

    int arrays() const noexcept { return arrays_; }
    int dims() const noexcept { return dims_; }
    int64_t size(int d) const noexcept { return sizes_[d]; }          // d = 0 is the innermost
    const int64_t* steps(int d) const noexcept { return steps_[d]; }  // bytes, one per array
    int64_t item_size(int a) const noexcept { return items_[a]; }
    char* const* data() const noexcept { return data_; }
    bool empty() const noexcept { return empty_; }

    // f(pointers, n, steps) for every row of the innermost dimension; it may change the pointers.
    template <class F>
    void for_each_row(F&& f) const {
        walk(1, [&](char** pointers) { f(pointers, sizes_[0], steps_[0]); });
    }

    // f(pointers, n, steps, outer n, outer steps) for every pair of the two innermost dimensions; there must be two.
    template <class F>
    void for_each_plane(F&& f) const {
        walk(2, [&](char** pointers) { f(pointers, sizes_[0], steps_[0], sizes_[1], steps_[1]); });
    }

private:
    // The usual numbers of arrays are known when this is compiled: a row of a small tensor costs little else.
    template <class F>
    void walk(int first, F&& f) const {
        if (empty_) return;
        if (arrays_ == 2) return walk_arrays(2, first, f);
        if (arrays_ == 3) return walk_arrays(3, first, f);
        walk_arrays(arrays_, first, f);
    }

    // An odometer over the dimensions from `first` on.
    template <class F>
    [[gnu::always_inline]] void walk_arrays(const int arrays, int first, F&& f) const {
        char *pointers[kMaxArrays], *start[kMaxArrays];
        for (int a = 0; a < arrays; ++a) start[a] = pointers[a] = data_[a];
        if (dims_ <= first) return f(pointers);
        int64_t index[kMaxDims];
        for (int d = first; d < dims_; ++d) index[d] = 0;
        for (;;) {
            for (int a = 0; a < arrays; ++a) pointers[a] = start[a];
            f(pointers);
            int d = first;
            for (; d < dims_; ++d) {
                for (int a = 0; a < arrays; ++a) start[a] += steps_[d][a];
                if (++index[d] < sizes_[d]) break;
                for (int a = 0; a < arrays; ++a) start[a] -= steps_[d][a] * sizes_[d];
                index[d] = 0;
            }
            if (d == dims_) return;
        }
    }
    int compare(int inner, int outer, int leading) const noexcept;
    bool merges(int inner, int outer) const noexcept;

    int arrays_ = 0;
    int dims_;
    bool empty_ = false;
    char* data_[kMaxArrays];
    int64_t items_[kMaxArrays];  // bytes of an element
    int64_t sizes_[kMaxDims];    // from the innermost
    int64_t steps_[kMaxDims][kMaxArrays];
    uint8_t dimension_[kMaxDims];  // which dimension of the shape each one was
};

}  // namespace wengert::kernels
