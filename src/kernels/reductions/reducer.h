// The driver of reductions: splits a tensor into tiles (kernels/reductions/reduce_table.h) and hands out chunks of
// results.
//
//     Reducer reducer(self, dims, keepdim);
//     Tensor out = empty(reducer.out_sizes(), dtype);
//     reducer.chunks([&](const Reducer::Chunk& chunk) {          // a run of at most kChunk results
//         double acc[Reducer::kChunk];
//         std::fill_n(acc, chunk.cols, 0.0);
//         reducer.accumulate(chunk, loop, acc);
//         chunk.write(out.data_as<float>(), [&](int64_t i) { return float(acc[i]); });
//     });
//
// Several loops may run over one chunk (mean, then deviations from it) while it is in the cache.
#pragma once

#include <algorithm>
#include <memory>

#include "kernels/reductions/reduce.h"
#include "kernels/reductions/reduce_table.h"

namespace wengert::kernels {

// The dimensions to reduce, wrapped, checked and sorted; all of them when `dim` is none or empty.
Dims reduced_dims(const OptionalDims& dim, int64_t ndim, const char* op);
Dims reduced_sizes(IntSpan sizes, const Dims& dims, bool keepdim);

class Reducer {
public:
    static constexpr int64_t kChunk = 2048;

    Reducer(const Tensor& self, const Dims& dims, bool keepdim);

    const Dims& out_sizes() const { return out_sizes_; }
    int64_t count() const { return count_; }  // elements behind each result

    struct Chunk {
        const std::byte* in;
        int64_t cols, col_stride;  // results of this chunk; stride in the input
        int64_t out, out_stride;   // where they go in a contiguous result
        template <class T, class F>
        void write(T* to, F f) const {
            for (int64_t i = 0; i < cols; ++i) to[out + i * out_stride] = f(i);
        }
    };

    template <class F>
    void chunks(F&& f) const {
        if (empty_) return;
        size_t outer = kept_.size() - 1;
        SmallVector<int64_t, 4> index(outer, 0);
        Chunk row{data_, 0, kept_.back().stride, 0, kept_.back().out_stride};
        for (;;) {
            Chunk c = row;
            for (int64_t done = 0; done < kept_.back().size; done += kChunk) {
                c.cols = std::min(kChunk, kept_.back().size - done);
                f(static_cast<const Chunk&>(c));
                c.in += kChunk * c.col_stride * item_;
                c.out += kChunk * c.out_stride;
            }
            size_t d = outer;
            for (;; --d) {
                if (d == 0) return;
                const Axis& axis = kept_[d - 1];
                row.in += axis.stride * item_;
                row.out += axis.out_stride;
                if (++index[d - 1] < axis.size) break;
                row.in -= axis.stride * axis.size * item_;
                row.out -= axis.out_stride * axis.size;
                index[d - 1] = 0;
            }
        }
    }

    void accumulate(const Chunk& chunk, TileLoop loop, void* acc, double parameter = 0) const;
    // For loops over one reduced dimension.
    Tile tile(const Chunk& chunk) const {
        return {reduced_.back().size, reduced_.back().stride, chunk.cols, chunk.col_stride};
    }

private:
    struct Axis {
        int64_t size, stride, out_stride;
    };
    using Axes = SmallVector<Axis, 4>;
    static void put_innermost_last(Axes& axes);

    Axes kept_, reduced_;  // never empty; the last is the inner one
    Dims out_sizes_;
    const std::byte* data_;
    int64_t item_, count_ = 1;
    bool empty_ = false;
};

// The loop for elements of `dtype`; an error that names the operation where there is none.
TileLoop tile_loop(Reduction reduction, DType dtype, const char* op);

// One accumulator of type Acc per result, started at `start`, turned into a result element by finish(acc).
template <class Acc, class Out, class Finish>
void fill_results(const Reducer& reducer, const Tensor& out, TileLoop loop, Acc start, double parameter,
                  Finish finish) {
    Out* data = out.data_as<Out>();
    reducer.chunks([&](const Reducer::Chunk& chunk) {
        alignas(64) std::byte memory[Reducer::kChunk * sizeof(Acc)];
        Acc* acc = reinterpret_cast<Acc*>(memory);
        std::uninitialized_fill_n(acc, chunk.cols, start);
        reducer.accumulate(chunk, loop, acc, parameter);
        chunk.write(data, [&](int64_t i) { return finish(acc[i]); });
    });
}

}  // namespace wengert::kernels
