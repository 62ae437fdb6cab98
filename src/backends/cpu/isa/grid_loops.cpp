// Sampling a few points of a grid (see backends/cpu/nn/grid_loops.h).
//
// The taps of all points, positions in a plane and weights, are found once, dimension by dimension; then every channel is
// sampled with them. A position outside of the image has the weight 0 and stands for the first element.
#include <cmath>

#include "backends/cpu/isa/rows.h"
#include "backends/cpu/nn/grid_loops.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int kPoints = GridTable::kPoints, kMostTaps = 16;

// Points at a time: longer vectors would be put together from more positions than gathering instructions are quick at.
template <class T>
using Some = typename Few<T>::type;

template <class T>
WENGERT_ALWAYS_INLINE Some<T> elements(const T* plane, const int32_t* at) {
    if constexpr (Few<T>::kWidth == 4)
        return Some<T>{plane[at[0]], plane[at[1]], plane[at[2]], plane[at[3]]};
    else
        return Some<T>{plane[at[0]], plane[at[1]]};
}

// Of one dimension, or of all so far.
template <class T>
struct GridTaps {
    int count;
    int32_t at[kMostTaps][kPoints];
    T weight[kMostTaps][kPoints];
};

// Reflected at `low` and `high` until it lies between them.
template <class T>
T reflected(T x, T low, T high) {
    if (low == high) return x * T(0);
    const T span = high - low, distance = std::abs(x - low), turns = std::floor(distance / span);
    const T rest = std::fmod(distance, span);
    return turns - 2 * std::floor(turns / 2) != 0 ? high - rest : low + rest;
}

template <class T>
void into_image(T* x, int n, int64_t size, GridPadding padding, bool align_corners) {
    if (padding == GridPadding::Zeros) return;
    const T last = static_cast<T>(size - 1), over = align_corners ? T(0) : T(0.5);
    if (padding == GridPadding::Reflection)
        for (int p = 0; p < n; ++p) x[p] = reflected(x[p], -over, last + over);
    for (int p = 0; p < n; ++p) {
        const T above = x[p] < 0 ? T(0) : x[p];  // NaN stays
        x[p] = above > last ? last : above;
    }
}

template <class T>
void add_tap(GridTaps<T>& taps, const T* place, const T* weight, int n, int64_t size) {
    int32_t* at = taps.at[taps.count];
    T* to = taps.weight[taps.count++];
    const T last = static_cast<T>(size - 1);
    for (int p = 0; p < n; ++p) {
        const bool inside = (place[p] >= 0) & (place[p] <= last), counts = inside | (place[p] != place[p]);
        at[p] = static_cast<int32_t>(inside ? place[p] : T(0));
        to[p] = counts ? weight[p] : T(0);
    }
}

// The convolution kernel of Keys with a = -0.75, at distance x of the nearer and 2 - x of the further pixels.
template <class T>
T near_weight(T x) {
    return (T(1.25) * x - T(2.25)) * x * x + 1;
}
template <class T>
T far_weight(T x) {
    return ((T(-0.75) * x + T(3.75)) * x - 6) * x + 3;
}

// Of the coordinates `step` apart.
template <class T>
void taps_of(const T* coordinate, int64_t step, int n, int64_t size, const GridPlan& plan, GridTaps<T>& taps) {
    T x[kPoints], place[kPoints], weight[kPoints];
    const T length = static_cast<T>(size);
    taps.count = 0;
    for (int p = 0; p < n; ++p) {
        const T c = coordinate[p * step];
        x[p] = plan.align_corners ? (c + 1) * ((length - 1) / 2) : ((c + 1) * length - 1) / 2;
    }
    if (plan.mode == GridMode::Cubic) {
        for (int k = 0; k < 4; ++k) {
            for (int p = 0; p < n; ++p) {
                const T left = std::floor(x[p]), t = std::isinf(x[p]) ? T(0) : x[p] - left;
                place[p] = left + static_cast<T>(k - 1);
                weight[p] = k == 0   ? far_weight(t + 1)
                            : k == 1 ? near_weight(t)
                            : k == 2 ? near_weight(1 - t)
                                     : far_weight(2 - t);
            }
            into_image(place, n, size, plan.padding, plan.align_corners);
            add_tap(taps, place, weight, n, size);
        }
        return;
    }
    into_image(x, n, size, plan.padding, plan.align_corners);
    if (plan.mode == GridMode::Nearest) {
        for (int p = 0; p < n; ++p) {
            place[p] = std::nearbyint(x[p]);
            weight[p] = place[p] * 0 + 1;
        }
        return add_tap(taps, place, weight, n, size);
    }
    for (int p = 0; p < n; ++p) {
        place[p] = std::floor(x[p]);
        weight[p] = 1 - (x[p] - place[p]);
    }
    add_tap(taps, place, weight, n, size);
    for (int p = 0; p < n; ++p) {
        weight[p] = x[p] - place[p];
        place[p] += 1;
    }
    add_tap(taps, place, weight, n, size);
}

// Each tap of one more dimension, which is an inner one, with each of those so far.
template <class T>
void combine(GridTaps<T>& sum, const GridTaps<T>& more, int n, int64_t size) {
    const GridTaps<T> before = sum;
    sum.count = 0;
    for (int m = 0; m < more.count; ++m)
        for (int b = 0; b < before.count; ++b, ++sum.count)
            for (int p = 0; p < n; ++p) {
                sum.at[sum.count][p] = before.at[b][p] * static_cast<int32_t>(size) + more.at[m][p];
                sum.weight[sum.count][p] = before.weight[b][p] * more.weight[m][p];
            }
}

template <class T>
void sample(const GridPlan& plan, const T* points, int n, const T* image, int64_t channels, T* out, int64_t stride) {
    GridTaps<T> taps, more;
    T whole[3 * kPoints];  // as many points as whole vectors hold, the last of them at 0
    constexpr int kWidth = Few<T>::kWidth;
    const int padded = (n + kWidth - 1) / kWidth * kWidth, all = static_cast<int>(plan.dims);
    for (int i = 0; i < padded * all; ++i) whole[i] = i < n * all ? points[i] : T(0);
    for (int64_t d = 0; d < plan.dims; ++d) {  // the first dimension of the image is the last of a point
        GridTaps<T>& of_dim = d == 0 ? taps : more;
        taps_of(whole + plan.dims - 1 - d, plan.dims, padded, plan.sizes[d], plan, of_dim);
        if (d > 0) combine(taps, more, padded, plan.sizes[d]);
    }
    T samples[kPoints];
    for (int64_t c = 0; c < channels; ++c, image += plan.plane, out += stride) {
        for (int p = 0; p < padded; p += kWidth) {
            Some<T> total = elements(image, taps.at[0] + p) * Few<T>::load(taps.weight[0] + p);
            for (int k = 1; k < taps.count; ++k)
                total += elements(image, taps.at[k] + p) * Few<T>::load(taps.weight[k] + p);
            __builtin_memcpy(samples + p, &total, sizeof total);
        }
        for (int p = 0; p < n; ++p) out[p] = samples[p];
    }
}

}  // namespace

extern const GridTable grid_table;
constinit const GridTable grid_table = {sample<float>, sample<double>};

}  // namespace wengert::kernels::WENGERT_ISA
