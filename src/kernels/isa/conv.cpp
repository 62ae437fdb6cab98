// Convolution's loops, once per instruction set: see conv_loops.h.
#include "kernels/conv_loops.h"
#include "kernels/isa/fma.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

#ifdef __AVX512F__
constexpr int kPanelRows = 12;   // forward: 24 accumulators
constexpr int kWeightRows = 6;   // weight gradient: 6 x 4 accumulators
#else
constexpr int kPanelRows = 6;
constexpr int kWeightRows = 3;
#endif
constexpr int kWeightTaps = 4;
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
            acc[i][v] = from > 0 ? load_positions(out + i * g.output_row + segments[v].output, g.output_step, segments[v].count)
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
            store_positions<T>(out + i * g.output_row + segments[v].output, g.output_step, segments[v].count, acc[i][v]);
}

template <class T>
using ForwardTile = void (*)(const ConvArgs<T>&, int64_t, int64_t, int64_t, const ConvSegment*);

template <class T, int V>
constexpr ForwardTile<T> forward_tiles[] = {
    forward_tile<T, 1, V>, forward_tile<T, 2, V>, forward_tile<T, 3, V>,  forward_tile<T, 4, V>,
    forward_tile<T, 5, V>, forward_tile<T, 6, V>,
#ifdef __AVX512F__
    forward_tile<T, 7, V>, forward_tile<T, 8, V>, forward_tile<T, 9, V>,  forward_tile<T, 10, V>,
    forward_tile<T, 11, V>, forward_tile<T, 12, V>,
#endif
};

template <class T>
void forward(const ConvArgs<T>& g) {
    const ConvPanels panels(g.rows, kPanelRows);
    for (int64_t from = 0; from == 0 || from < g.taps; from += kTapBlock) {
        int64_t to = from + kTapBlock < g.taps ? from + kTapBlock : g.taps;
        for (int64_t s = 0; s < g.segment_count; s += 2)
            for (int64_t p = 0; p < panels.count; ++p) {
                int64_t row = panels.start(p), rows = panels.start(p + 1) - row;
                (s + 1 < g.segment_count ? forward_tiles<T, 2>[rows - 1] : forward_tiles<T, 1>[rows - 1])(
                    g, row, from, to, g.segments + s);
            }
    }
}

// M rows times kWeightTaps taps, summed over all images and segments. Lanes that are no output position are cleared on
// both sides: what stands there in the image may be infinite.
template <class T, int M>
void weight_tile(const ConvWeightArgs<T>& g, int64_t row, int64_t tap, int64_t taps) {
    Vec<T> acc[M][kWeightTaps] = {};
    int64_t offsets[kWeightTaps];
    for (int j = 0; j < kWeightTaps; ++j) offsets[j] = g.offsets[tap + (j < taps ? j : 0)];
    for (int64_t image = 0; image < g.images; ++image) {
        const T* input = g.input + image * g.input_image;
        const T* cotangent = g.cotangent + image * g.cotangent_image + row * g.cotangent_row;
        for (int64_t s = 0; s < g.segment_count; ++s) {
            const ConvSegment segment = g.segments[s];
            const T *x = input + segment.input, *y = cotangent + segment.output;
            Vec<T> c[M];
            if (segment.count == kLanes<T>) {
#pragma GCC unroll 12
                for (int i = 0; i < M; ++i) c[i] = load(y + i * g.cotangent_row);
#pragma GCC unroll 4
                for (int j = 0; j < kWeightTaps; ++j) {
                    Vec<T> v = load(x + offsets[j]);
                    for (int i = 0; i < M; ++i) acc[i][j] = fma(c[i], v, acc[i][j]);
                }
            } else {
#pragma GCC unroll 12
                for (int i = 0; i < M; ++i) c[i] = load_first(y + i * g.cotangent_row, segment.count);
#pragma GCC unroll 4
                for (int j = 0; j < kWeightTaps; ++j) {
                    Vec<T> v = load_first(x + offsets[j], segment.count);
                    for (int i = 0; i < M; ++i) acc[i][j] = fma(c[i], v, acc[i][j]);
                }
            }
        }
    }
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < taps; ++j) g.gradient[(row + i) * g.taps + tap + j] += sum_lanes<T>(acc[i][j]);
}

template <class T>
void weight(const ConvWeightArgs<T>& g) {
    using Tile = void (*)(const ConvWeightArgs<T>&, int64_t, int64_t, int64_t);
    static constexpr Tile tiles[] = {
        weight_tile<T, 1>, weight_tile<T, 2>, weight_tile<T, 3>,
#ifdef __AVX512F__
        weight_tile<T, 4>, weight_tile<T, 5>, weight_tile<T, 6>,
#endif
    };
    const ConvPanels panels(g.rows, kWeightRows);
    for (int64_t p = 0; p < panels.count; ++p)
        for (int64_t k = 0; k < g.taps; k += kWeightTaps) {
            int64_t row = panels.start(p), taps = g.taps - k < kWeightTaps ? g.taps - k : kWeightTaps;
            tiles[panels.start(p + 1) - row - 1](g, row, k, taps);
        }
}

template <class T>
constexpr ConvLoops<T> loops = {kLanes<T>, kPanelRows, forward<T>, weight<T>};

}  // namespace

extern const ConvTable conv_table;
const ConvTable conv_table = {loops<float>, loops<double>};

}  // namespace wengert::kernels::WENGERT_ISA
