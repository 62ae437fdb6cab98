// The driver of reductions: splits a tensor into tiles (backends/cpu/reductions/reduce_table.h) and hands out chunks of
// results.
//
//     Reducer reducer(in, dims);
//     reducer.chunks([&](const Reducer::Chunk& chunk) {          // a run of at most kChunk results
//         double acc[Reducer::kChunk];
//         std::fill_n(acc, chunk.cols, 0.0);
//         reducer.accumulate(chunk, loop, acc, 0, Added());
//         chunk.write(out.data_as<float>(), [&](int64_t i) { return float(acc[i]); });
//     });
//
// Several loops may run over one chunk (mean, then deviations from it) while it is in the cache.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/reductions/reduce_table.h"
#include "base/threads/parallel_for.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

class Reducer {
public:
    static constexpr int64_t kChunk = 2048;

    Reducer(const Tensor& in, IntSpan dims);  // dims: sorted

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

    // On several threads (base/threads/parallel_for.h), unless there is one chunk only.
    template <class F>
    void chunks(F&& f) const {
        if (empty_) return;
        const Axis& last = kept_.back();
        const int64_t of_a_row = (last.size + width_ - 1) / width_;
        int64_t rows = 1;
        for (size_t d = 0; d + 1 < kept_.size(); ++d) rows *= kept_[d].size;
        const int64_t of_a_block = kBlock / std::max<int64_t>(1, count_ * std::min(width_, last.size));
        parallel_for(rows * of_a_row, std::max<int64_t>(1, of_a_block), [&](int64_t begin, int64_t end) {
            for (int64_t row = begin / of_a_row, at = begin % of_a_row; begin < end; ++row, at = 0) {
                Chunk c = first_of_row(row);
                c.in += at * width_ * c.col_stride * item_;
                c.out += at * width_ * c.out_stride;
                for (; at < of_a_row && begin < end; ++at, ++begin) {
                    c.cols = std::min(width_, last.size - at * width_);
                    f(static_cast<const Chunk&>(c));
                    c.in += width_ * c.col_stride * item_;
                    c.out += width_ * c.out_stride;
                }
            }
        });
    }

    // Merges the elements behind each result of the chunk into acc[0 .. cols), which start as neutral elements. Many elements
    // for few results are merged in blocks, each by itself, and `merge(acc, other)` puts these together in their order.
    template <class Acc, class Merge>
    void accumulate(const Chunk& chunk, TileLoop loop, Acc* acc, double parameter, Merge merge) const {
        const int64_t blocks = blocks_of(chunk);
        if (blocks < 2) return accumulate_all(chunk, loop, acc, sizeof(Acc), parameter);
        const auto cols = static_cast<size_t>(chunk.cols);
        const std::unique_ptr<Acc[]> parts(new Acc[cols * static_cast<size_t>(blocks)]);
        parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; ++b) {
                Acc* part = parts.get() + static_cast<size_t>(b) * cols;
                std::copy_n(acc, cols, part);
                accumulate_block(chunk, b, blocks, loop, part, sizeof(Acc), parameter);
            }
        });
        for (int64_t b = 0; b < blocks; ++b)
            for (size_t i = 0; i < cols; ++i) merge(acc[i], parts[static_cast<size_t>(b) * cols + i]);
    }
    // f(in, tile, first result) over the one reduced dimension of a chunk.
    template <class F>
    void in_tiles(const Chunk& chunk, F f) const {
        in_dense_tiles(chunk.in, {reduced_.back().size, reduced_.back().stride, chunk.cols, chunk.col_stride}, f);
    }

private:
    struct Axis {
        int64_t size, stride, out_stride;
    };
    using Axes = SmallVector<Axis, 4>;
    static constexpr int64_t kBlock = 1 << 16;  // elements that one thread merges at once
    static constexpr int64_t kFew = 16, kShort = 16;
    static void put_innermost_last(Axes& axes);
    void put_longest_last();
    void choose_width();
    Chunk first_of_row(int64_t row) const;
    int64_t blocks_of(const Chunk& chunk) const;
    // Accumulators are `acc_size` bytes each.
    void accumulate_all(const Chunk& chunk, TileLoop loop, void* acc, size_t acc_size, double parameter) const;
    void accumulate_block(const Chunk& chunk, int64_t block, int64_t blocks, TileLoop loop, void* acc, size_t acc_size,
                          double parameter) const;
    void accumulate_axes(const Axes& reduced, const Chunk& chunk, TileLoop loop, void* acc, size_t acc_size,
                         double parameter) const;
    // f(in, tile, first result) for a tile, or for parts of it: short columns of which neither direction is dense are put side
    // by side first, some results at a time.
    template <class F>
    void in_dense_tiles(const std::byte* in, const Tile& t, F f) const {
        if (t.row_stride == 1 || t.col_stride == 1 || t.rows > kFew || t.cols < kShort) return f(in, t, 0);
        dispatch_size(item_, [&]<class Word> {
            constexpr int64_t kWidth = 128;
            alignas(64) Word block[kFew * kWidth];
            const Word* from = reinterpret_cast<const Word*>(in);
            for (int64_t first = 0; first < t.cols; first += kWidth) {
                const int64_t width = std::min(kWidth, t.cols - first);
                for (int64_t r = 0; r < t.rows; ++r)
                    for (int64_t c = 0; c < width; ++c)
                        block[r * kWidth + c] = from[r * t.row_stride + (first + c) * t.col_stride];
                f(block, Tile{t.rows, kWidth, width, 1}, first);
            }
        });
    }
    void run(TileLoop loop, const std::byte* in, const Tile& tile, void* acc, size_t acc_size, double parameter) const;

    Axes kept_, reduced_;  // never empty; the last is the inner one
    const std::byte* data_;
    int64_t item_, count_ = 1;
    int64_t width_ = kChunk;  // results of a chunk
    bool empty_ = false;
};

// The loop for elements of `dtype`; an error that names the operation where there is none.
TileLoop tile_loop(Reduction reduction, DType dtype, const char* op);

// How two accumulators become one: those of sums, and of extremes, which are what their loop reads itself.
struct Added {
    template <class Acc>
    void operator()(Acc& acc, const Acc& other) const {
        acc += other;
    }
    void operator()(Centered& acc, const Centered& other) const { acc.total += other.total; }
    void operator()(Spread& acc, const Spread& other) const { acc.sum += other.sum, acc.squares += other.squares; }
};
struct ByLoop {
    TileLoop loop;
    template <class T>
    void operator()(T& acc, const T& other) const {
        loop(&other, {1, 1, 1, 1}, &acc, 0);
    }
};

// One accumulator of type Acc per result, started at `start`, turned into a result element by finish(acc).
template <class Acc, class Out, class Merge, class Finish>
void fill_results(const Reducer& reducer, const Tensor& out, TileLoop loop, Acc start, double parameter, Merge merge,
                  Finish finish) {
    Out* data = out.data_as<Out>();
    reducer.chunks([&](const Reducer::Chunk& chunk) {
        alignas(64) std::byte memory[Reducer::kChunk * sizeof(Acc)];
        Acc* acc = reinterpret_cast<Acc*>(memory);
        std::uninitialized_fill_n(acc, chunk.cols, start);
        reducer.accumulate(chunk, loop, acc, parameter, merge);
        chunk.write(data, [&](int64_t i) { return finish(acc[i]); });
    });
}

}  // namespace wengert::kernels
