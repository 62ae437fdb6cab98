// Convolution's loops, once per instruction set: see conv_loops.h.
#include "backends/cpu/isa/fma.h"
#include "backends/cpu/nn/conv_loops.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

#ifdef __AVX512F__
constexpr int kPanelRows = 12;  // times two vectors: 24 accumulators
#else
constexpr int kPanelRows = 6;
#endif
// Taps at a time: a panel of weights of this length and what it touches of the image stay in the first-level cache.
constexpr int64_t kTapBlock = 512;

template <class T>
WENGERT_ALWAYS_INLINE Vec<T> load_positions(const T* p, int64_t step, int count) {
    if (step == 1) return count == kLanes<T> ? load(p) : load_first(p, count);
    T buffer[kLanes<T>] = {};
    for (int i = 0; i < kLanes<T> && i < count; ++i) buffer[i] = p[i * step];
    return load(buffer);
}

template <class T>
WENGERT_ALWAYS_INLINE void store_positions(T* p, int64_t step, int count, Vec<T> x) {
    if (step == 1 && count == kLanes<T>) return store(p, x);
    T buffer[kLanes<T>];
    store(buffer, x);
    for (int i = 0; i < kLanes<T> && i < count; ++i) p[i * step] = buffer[i];
}

// M rows of one panel times V segments, over taps [from, to).
template <class T, int M, int V>
void forward_tile(const ConvArgs<T>& g, int64_t row, int64_t from, int64_t to, const ConvSegment* segments) {
    Vec<T> acc[M][V];
    T* out = g.output + row * g.output_row;
#pragma GCC unroll 12
    for (int i = 0; i < M; ++i)
        for (int v = 0; v < V; ++v)
            acc[i][v] =
                from > 0 ? load_positions(out + i * g.output_row + segments[v].output, g.output_step, segments[v].count)
                : g.bias ? splat(g.bias[row + i])
                         : splat(T(0));
    const T* weights = g.weights + row * g.taps + from * M;
    const T* input[V];
    for (int v = 0; v < V; ++v) input[v] = g.input + segments[v].input;
    for (int64_t k = from; k < to; ++k, weights += M) {
        Vec<T> x[V];
        for (int v = 0; v < V; ++v) x[v] = load(input[v] + g.offsets[k]);
#pragma GCC unroll 12
        for (int i = 0; i < M; ++i) {
            Vec<T> w = splat(weights[i]);
            for (int v = 0; v < V; ++v) acc[i][v] = fma(w, x[v], acc[i][v]);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < M; ++i)
        for (int v = 0; v < V; ++v)
            store_positions<T>(out + i * g.output_row + segments[v].output, g.output_step, segments[v].count,
                               acc[i][v]);
}

template <class T>
using ForwardTile = void (*)(const ConvArgs<T>&, int64_t, int64_t, int64_t, const ConvSegment*);

template <class T, int V>
constexpr ForwardTile<T> forward_tiles[] = {
    forward_tile<T, 1, V>,  forward_tile<T, 2, V>,  forward_tile<T, 3, V>,
    forward_tile<T, 4, V>,  forward_tile<T, 5, V>,  forward_tile<T, 6, V>,
#ifdef __AVX512F__
    forward_tile<T, 7, V>,  forward_tile<T, 8, V>,  forward_tile<T, 9, V>,
    forward_tile<T, 10, V>, forward_tile<T, 11, V>, forward_tile<T, 12, V>,
#endif
};

template <class T>
void forward(const ConvArgs<T>& g) {
    const ConvPanels panels(g.rows, kPanelRows), blocks(g.taps > 0 ? g.taps : 1, kTapBlock);
    for (int64_t b = 0; b < blocks.count; ++b) {
        int64_t from = blocks.start(b), to = g.taps > 0 ? blocks.start(b + 1) : 0;
        for (int64_t s = 0; s < g.segment_count; s += 2)
            for (int64_t p = 0; p < panels.count; ++p) {
                int64_t row = panels.start(p), rows = panels.start(p + 1) - row;
                (s + 1 < g.segment_count ? forward_tiles<T, 2>[rows - 1] : forward_tiles<T, 1>[rows - 1])(
                    g, row, from, to, g.segments + s);
            }
    }
}

// V vectors of rows times M taps. Rows lie along the lanes, so that a position of the cotangent is one load for all of
// them and an element of the image one splat; no lane is ever idle because a row of positions ends.
template <class T, int M, int V>
void weight_tile(const ConvWeightArgs<T>& g, int64_t tap, T* gradient) {
    constexpr int width = V * kLanes<T>;
    Vec<T> acc[M][V];
    const T* input[M];
#pragma GCC unroll 12
    for (int j = 0; j < M; ++j) {
        input[j] = g.input + g.offsets[tap + j];
        for (int v = 0; v < V; ++v) acc[j][v] = load(gradient + (tap + j) * width + v * kLanes<T>);
    }
    for (int64_t s = 0; s < g.segment_count; ++s) {
        const T* cotangent = g.panel + g.segments[s].output * width;
        int64_t x = g.segments[s].input;
        for (int64_t end = x + g.segments[s].count; x < end; ++x, cotangent += width) {
            Vec<T> c[V];
            for (int v = 0; v < V; ++v) c[v] = load(cotangent + v * kLanes<T>);
#pragma GCC unroll 12
            for (int j = 0; j < M; ++j) {
                Vec<T> y = splat(input[j][x]);
                for (int v = 0; v < V; ++v) acc[j][v] = fma(y, c[v], acc[j][v]);
            }
        }
    }
#pragma GCC unroll 12
    for (int j = 0; j < M; ++j)
        for (int v = 0; v < V; ++v) store<T>(gradient + (tap + j) * width + v * kLanes<T>, acc[j][v]);
}

// panel[position, V vectors of rows], zero where there are no more rows.
template <class T, int V>
void transpose_panel(const T* from, int64_t rows, int64_t positions, T* panel) {
    constexpr int width = V * kLanes<T>;
    constexpr int64_t strip = 16;  // so that the lines of the panel are still in the cache for the next row
    for (int64_t p0 = 0; p0 < positions; p0 += strip) {
        int64_t end = p0 + strip < positions ? p0 + strip : positions;
        for (int64_t r = 0; r < width; ++r)
            for (int64_t p = p0; p < end; ++p) panel[p * width + r] = r < rows ? from[r * positions + p] : T(0);
    }
}

template <class T, int V>
void weight_panel(const ConvWeightArgs<T>& g, int64_t row, T* gradient) {
    using Tile = void (*)(const ConvWeightArgs<T>&, int64_t, T*);
    static constexpr Tile tiles[] = {
        weight_tile<T, 1, V>,  weight_tile<T, 2, V>,  weight_tile<T, 3, V>,
        weight_tile<T, 4, V>,  weight_tile<T, 5, V>,  weight_tile<T, 6, V>,
#ifdef __AVX512F__
        weight_tile<T, 7, V>,  weight_tile<T, 8, V>,  weight_tile<T, 9, V>,
        weight_tile<T, 10, V>, weight_tile<T, 11, V>, weight_tile<T, 12, V>,
#endif
    };
    transpose_panel<T, V>(g.cotangent + row * g.positions, g.rows - row, g.positions, g.panel);
    const ConvPanels blocks(g.taps, kPanelRows);
    for (int64_t b = 0; b < blocks.count; ++b)
        tiles[blocks.start(b + 1) - blocks.start(b) - 1](g, blocks.start(b), gradient);
}

// Few rows would leave most lanes idle. Then positions lie along the lanes, R rows and M taps at a time: R + M loads for R * M
// products. Lanes beyond the end of a row of positions are cleared on both sides: what stands there in the image may be
// infinite.
#ifdef __AVX512F__
constexpr int kFewRows = 4, kFewTaps = 6;
#else
constexpr int kFewRows = 2, kFewTaps = 4;
#endif

template <class T, int R, int M>
void few_rows_tile(const ConvWeightArgs<T>& g, int64_t row, int64_t tap) {
    Vec<T> acc[R][M];
    const T *cotangent[R], *input[M];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
        cotangent[r] = g.cotangent + (row + r) * g.positions;
#pragma GCC unroll 6
        for (int j = 0; j < M; ++j) acc[r][j] = splat(T(0));
    }
#pragma GCC unroll 6
    for (int j = 0; j < M; ++j) input[j] = g.input + g.offsets[tap + j];
    const auto absorb = [&](auto load_here, int64_t x, int64_t y) __attribute__((always_inline)) {
        Vec<T> c[R];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) c[r] = load_here(cotangent[r] + y);
#pragma GCC unroll 6
        for (int j = 0; j < M; ++j) {
            const Vec<T> seen = load_here(input[j] + x);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) acc[r][j] = fma(c[r], seen, acc[r][j]);
        }
    };
    for (int64_t s = 0; s < g.segment_count; ++s) {
        int64_t x = g.segments[s].input, y = g.segments[s].output, end = x + g.segments[s].count;
        for (; x + kLanes<T> <= end; x += kLanes<T>, y += kLanes<T>)
            absorb([](const T* p) __attribute__((always_inline)) { return load(p); }, x, y);
        if (const int left = static_cast<int>(end - x); left > 0)
            absorb([left](const T* p) __attribute__((always_inline)) { return load_first(p, left); }, x, y);
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 6
        for (int j = 0; j < M; ++j) g.gradient[(row + r) * g.taps + tap + j] += sum_lanes<T>(acc[r][j]);
}

template <class T>
using FewRowsTile = void (*)(const ConvWeightArgs<T>&, int64_t, int64_t);

template <class T, int R>
constexpr FewRowsTile<T> few_rows_tiles[] = {
    few_rows_tile<T, R, 1>, few_rows_tile<T, R, 2>, few_rows_tile<T, R, 3>, few_rows_tile<T, R, 4>,
#ifdef __AVX512F__
    few_rows_tile<T, R, 5>, few_rows_tile<T, R, 6>,
#endif
};

template <class T, int R>
void weight_of_rows(const ConvWeightArgs<T>& g, int64_t row) {
    const ConvPanels blocks(g.taps, kFewTaps);
    for (int64_t b = 0; b < blocks.count; ++b)
        few_rows_tiles<T, R>[blocks.start(b + 1) - blocks.start(b) - 1](g, row, blocks.start(b));
}

template <class T>
void weight_few_rows(const ConvWeightArgs<T>& g) {
    int64_t row = 0;
    for (; row + kFewRows <= g.rows; row += kFewRows) weight_of_rows<T, kFewRows>(g, row);
    for (; row < g.rows; ++row) weight_of_rows<T, 1>(g, row);
}

template <class T>
void weight(const ConvWeightArgs<T>& g) {
    constexpr int64_t width = 2 * kLanes<T>;
    for (int64_t row = 0; row < g.rows; row += width) {
        T* gradient = g.gradient + row * g.taps;
        g.rows - row > kLanes<T> ? weight_panel<T, 2>(g, row, gradient) : weight_panel<T, 1>(g, row, gradient);
    }
}

template <class T>
constexpr ConvLoops<T> loops = {kLanes<T>, kPanelRows, 2 * kLanes<T>, forward<T>, weight<T>, weight_few_rows<T>};

}  // namespace

extern const ConvTable conv_table;
const ConvTable conv_table = {loops<float>, loops<double>};

}  // namespace wengert::kernels::WENGERT_ISA
