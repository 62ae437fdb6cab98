#include "backends/cpu/reductions/reducer.h"

#include <algorithm>

#include "backends/cpu/choose_isa.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(ReduceTable, reduce_table)

TileLoop tile_loop(Reduction reduction, DType dtype, const char* op) {
    TileLoop loop = reduce_table().tile[static_cast<int>(reduction)][static_cast<int>(dtype)];
    check(loop, ErrorKind::NotImplemented, "[", op, "] not implemented for dtype ", dtype);
    return loop;
}

Reducer::Reducer(const Tensor& in, IntSpan dims) : data_(in.data()), item_(item_size(in.dtype())) {
    if (dims.size() == in.sizes().size() && in.is_contiguous()) {
        count_ = in.numel();
        reduced_.push_back({count_, 1, 0});
        kept_.push_back({1, 1, 1});
        return;
    }
    int64_t out_stride = 1;
    size_t next = dims.size();
    // From the last dimension to the first; coalesced as they come, so each list ends up innermost first.
    for (size_t d = in.sizes().size(); d-- > 0;) {
        int64_t size = in.sizes()[d], stride = in.strides()[d];
        bool reduce = next > 0 && dims[next - 1] == static_cast<int64_t>(d);
        if (reduce) --next;
        Axis axis{size, stride, reduce ? 0 : out_stride};
        (reduce ? count_ : out_stride) *= size;
        if (size == 1) continue;
        Axes& axes = reduce ? reduced_ : kept_;
        if (!axes.empty() && stride == axes.back().stride * axes.back().size) {
            axes.back().size *= size;  // kept ones are dense in the result, so their out_stride agrees
        } else {
            axes.push_back(axis);
        }
    }
    empty_ = out_stride == 0;
    if (kept_.empty()) kept_.push_back({1, 1, 1});
    if (reduced_.empty()) reduced_.push_back({1, 1, 0});
    put_innermost_last(kept_);
    put_innermost_last(reduced_);
    put_longest_last();
    choose_width();
}

void Reducer::put_innermost_last(Axes& axes) {
    std::reverse(axes.begin(), axes.end());
    auto smallest = std::min_element(
        axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return std::abs(a.stride) < std::abs(b.stride); });
    std::rotate(smallest, smallest + 1, axes.end());
}

// Of few elements for each of many results whose innermost dimension is short, as of batches of small matrices: a chunk that
// goes along the batch, however the results lie, is worth the loops that it starts.
void Reducer::put_longest_last() {
    const auto longest = std::ranges::max_element(kept_, {}, &Axis::size);
    if (count_ <= kFew && kept_.back().size < kShort && longest->size >= kChunk / kShort)
        std::rotate(longest, longest + 1, kept_.end());
}

// A loop along rows gives its results one by one: few of them are enough for a chunk, and their rows stay whole. One across
// rows wants wide ones, and many rows are cut into blocks.
void Reducer::choose_width() {
    if (std::abs(reduced_.back().stride) < std::abs(kept_.back().stride) && count_ > 0)
        width_ = std::clamp<int64_t>(kBlock / count_, 1, kChunk);
}

Reducer::Chunk Reducer::first_of_row(int64_t row) const {
    Chunk c{data_, 0, kept_.back().stride, 0, kept_.back().out_stride};
    for (size_t d = kept_.size() - 1; d-- > 0; row /= kept_[d].size) {
        const int64_t at = row % kept_[d].size;
        c.in += at * kept_[d].stride * item_;
        c.out += at * kept_[d].out_stride;
    }
    return c;
}

// The same for any number of threads.
int64_t Reducer::blocks_of(const Chunk& chunk) const {
    const int64_t blocks = count_ * chunk.cols / kBlock;
    if (blocks < 4) return 1;
    const auto longest = std::ranges::max_element(reduced_, {}, &Axis::size);
    return std::min(blocks, longest->size);
}

void Reducer::accumulate_all(const Chunk& chunk, TileLoop loop, void* acc, size_t acc_size, double parameter) const {
    if (count_ > 0) accumulate_axes(reduced_, chunk, loop, acc, acc_size, parameter);
}

void Reducer::run(TileLoop loop, const std::byte* in, const Tile& t, void* acc, size_t acc_size,
                  double parameter) const {
    in_dense_tiles(in, t, [=](const void* part, const Tile& tile, int64_t first) {
        loop(part, tile, static_cast<std::byte*>(acc) + static_cast<size_t>(first) * acc_size, parameter);
    });
}

// One of equal parts of the longest dimension.
void Reducer::accumulate_block(const Chunk& chunk, int64_t block, int64_t blocks, TileLoop loop, void* acc,
                               size_t acc_size, double parameter) const {
    Axes axes = reduced_;
    Axis& longest = *std::ranges::max_element(axes, {}, &Axis::size);
    const int64_t begin = longest.size / blocks * block + std::min(block, longest.size % blocks);
    longest.size = longest.size / blocks + (block < longest.size % blocks);
    Chunk part = chunk;
    part.in += begin * longest.stride * item_;
    accumulate_axes(axes, part, loop, acc, acc_size, parameter);
}

void Reducer::accumulate_axes(const Axes& reduced, const Chunk& chunk, TileLoop loop, void* acc, size_t acc_size,
                              double parameter) const {
    const Tile t{reduced.back().size, reduced.back().stride, chunk.cols, chunk.col_stride};
    size_t outer = reduced.size() - 1;
    const std::byte* in = chunk.in;
    if (outer == 0) return run(loop, in, t, acc, acc_size, parameter);
    SmallVector<int64_t, 4> index(outer, 0);
    for (;;) {
        run(loop, in, t, acc, acc_size, parameter);
        size_t d = outer;
        for (;; --d) {
            if (d == 0) return;
            const Axis& axis = reduced[d - 1];
            in += axis.stride * item_;
            if (++index[d - 1] < axis.size) break;
            in -= axis.stride * axis.size * item_;
            index[d - 1] = 0;
        }
    }
}

}  // namespace wengert::kernels
