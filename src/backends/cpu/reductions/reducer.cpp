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
    packed_ = packed_together();
}

// 0 where columns are many, or not next to each other in the result.
int64_t Reducer::packed_together() const {
    if (reduced_.size() != 1 || kept_.size() < 2 || empty_ || count_ < 2) return 0;
    const Axis &inner = kept_.back(), &matrices = kept_[kept_.size() - 2];
    const bool are_small = inner.size < kFewColumns && inner.size * count_ <= kSmallMatrix;
    if (!are_small || matrices.out_stride != inner.size * inner.out_stride) return 0;
    const int64_t together = std::min(matrices.size, std::min(kPacked / count_, kChunk) / inner.size);
    return together >= 4 ? together : 0;
}

namespace {

struct Word16 {
    uint64_t words[2];
};

// to[r][m][j] = from[r * row + m * matrix + j * column]
template <class Word, int kColumns>
void pack_columns(const Word* from, int64_t rows, int64_t row, int64_t n, int64_t matrix, int64_t columns,
                  int64_t column, Word* to) {
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t m = 0; m < n; ++m) {
            const Word* at = from + r * row + m * matrix;
            for (int64_t j = 0; j < (kColumns ? kColumns : columns); ++j) *to++ = at[j * column];
        }
}

}  // namespace

void Reducer::pack(const Chunk& chunk, int64_t first, int64_t n, std::byte* to) const {
    const Axis &inner = kept_.back(), &matrices = kept_[kept_.size() - 2], &rows = reduced_.back();
    const std::byte* in = chunk.in + first * matrices.stride * item_;
    const auto as = [&]<class Word>(Word* words) {
        const auto pack = inner.size == 2   ? pack_columns<Word, 2>
                          : inner.size == 3 ? pack_columns<Word, 3>
                          : inner.size == 4 ? pack_columns<Word, 4>
                                            : pack_columns<Word, 0>;
        pack(reinterpret_cast<const Word*>(in), rows.size, rows.stride, n, matrices.stride, inner.size, inner.stride,
             words);
    };
    if (item_ == 1) return as(reinterpret_cast<uint8_t*>(to));
    if (item_ == 2) return as(reinterpret_cast<uint16_t*>(to));
    if (item_ == 4) return as(reinterpret_cast<uint32_t*>(to));
    if (item_ == 8) return as(reinterpret_cast<uint64_t*>(to));
    as(reinterpret_cast<Word16*>(to));
}

void Reducer::put_innermost_last(Axes& axes) {
    std::reverse(axes.begin(), axes.end());
    auto smallest = std::min_element(
        axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return std::abs(a.stride) < std::abs(b.stride); });
    std::rotate(smallest, smallest + 1, axes.end());
}

Reducer::Chunk Reducer::first_of_row(int64_t row, size_t outer_axes) const {
    Chunk c{data_, 0, kept_.back().stride, 0, kept_.back().out_stride, reduced_.back().stride};
    for (size_t d = outer_axes; d-- > 0; row /= kept_[d].size) {
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

void Reducer::accumulate_all(const Chunk& chunk, TileLoop loop, void* acc, double parameter) const {
    if (count_ > 0) accumulate_axes(reduced_, chunk, loop, acc, parameter);
}

// One of equal parts of the longest dimension.
void Reducer::accumulate_block(const Chunk& chunk, int64_t block, int64_t blocks, TileLoop loop, void* acc,
                               double parameter) const {
    Axes axes = reduced_;
    Axis& longest = *std::ranges::max_element(axes, {}, &Axis::size);
    const int64_t begin = longest.size / blocks * block + std::min(block, longest.size % blocks);
    longest.size = longest.size / blocks + (block < longest.size % blocks);
    Chunk part = chunk;
    part.in += begin * longest.stride * item_;
    accumulate_axes(axes, part, loop, acc, parameter);
}

void Reducer::accumulate_axes(const Axes& reduced, const Chunk& chunk, TileLoop loop, void* acc,
                              double parameter) const {
    const Tile t{reduced.back().size, chunk.row_stride, chunk.cols, chunk.col_stride};
    size_t outer = reduced.size() - 1;
    const std::byte* in = chunk.in;
    if (outer == 0) return loop(in, t, acc, parameter);
    SmallVector<int64_t, 4> index(outer, 0);
    for (;;) {
        loop(in, t, acc, parameter);
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
