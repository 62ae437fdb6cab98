// Bags of rows (see backends/cpu/indexing/bag_loops.h).
//
// Columns are taken as many at a time as accumulators fit into registers, and all rows of a bag are read for them: sums never
// go to memory in between, and what is added to rows is loaded once.
#include "backends/cpu/indexing/bag_loops.h"
#include "backends/cpu/isa/rows.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kRest = 16;  // columns: of what is left beyond whole vectors

// block(start, constant number of vectors), then rest(start, columns) for less than a vector.
template <class T, class Block, class Rest>
WENGERT_ALWAYS_INLINE void in_blocks(int64_t columns, Block block, Rest rest) {
    constexpr int64_t kWidth = Lanes<T>::kWidth;
    constexpr int kVectors = 2 * Lanes<T>::kVectors < 8 ? 2 * Lanes<T>::kVectors : 8;
    int64_t j = 0;
    for (; j + kVectors * kWidth <= columns; j += kVectors * kWidth) block(j, std::integral_constant<int, kVectors>{});
    for (; j + 2 * kWidth <= columns; j += 2 * kWidth) block(j, std::integral_constant<int, 2>{});
    for (; j + kWidth <= columns; j += kWidth) block(j, std::integral_constant<int, 1>{});
    if (j < columns) rest(j, columns - j);
}

template <class T>
void sum(const Bag<T>& bag, const T* rows, int64_t width, int64_t columns, T* out) {
    using L = Lanes<T>;
    in_blocks<T>(
        columns,
        [&](int64_t j, auto vectors) __attribute__((always_inline)) {
            typename L::V total[vectors] = {};
            for (int64_t k = 0; k < bag.n; ++k) {
                const int64_t index = bag.indices[k];
                if (index == bag.left_out) continue;
                const T factor = bag.factors[k * bag.step];
                const T* row = rows + index * width + j;
                for_each_of<vectors>(
                    [&](int v) __attribute__((always_inline)) { total[v] += factor * L::load(row + v * L::kWidth); });
            }
            for_each_of<vectors>([&](int v)
                                     __attribute__((always_inline)) { L::store(out + j + v * L::kWidth, total[v]); });
        },
        [&](int64_t j, int64_t n) __attribute__((always_inline)) {
            T total[kRest] = {};
            for (int64_t k = 0; k < bag.n; ++k) {
                const int64_t index = bag.indices[k];
                if (index == bag.left_out) continue;
                const T factor = bag.factors[k * bag.step];
                const T* row = rows + index * width + j;
                for (int64_t i = 0; i < n; ++i) total[i] += factor * row[i];
            }
            for (int64_t i = 0; i < n; ++i) out[j + i] = total[i];
        });
}

template <class T>
void add(const Bag<T>& bag, const T* x, int64_t width, int64_t columns, T* rows) {
    using L = Lanes<T>;
    in_blocks<T>(
        columns,
        [&](int64_t j, auto vectors) __attribute__((always_inline)) {
            typename L::V part[vectors];
            for_each_of<vectors>([&](int v)
                                     __attribute__((always_inline)) { part[v] = L::load(x + j + v * L::kWidth); });
            for (int64_t k = 0; k < bag.n; ++k) {
                const int64_t index = bag.indices[k];
                if (index == bag.left_out) continue;
                const T factor = bag.factors[k * bag.step];
                T* row = rows + index * width + j;
                for_each_of<vectors>([&](int v) __attribute__((always_inline)) {
                    L::store(row + v * L::kWidth, L::load(row + v * L::kWidth) + factor * part[v]);
                });
            }
        },
        [&](int64_t j, int64_t n) __attribute__((always_inline)) {
            T part[kRest] = {};
            for (int64_t i = 0; i < n; ++i) part[i] = x[j + i];
            for (int64_t k = 0; k < bag.n; ++k) {
                const int64_t index = bag.indices[k];
                if (index == bag.left_out) continue;
                const T factor = bag.factors[k * bag.step];
                T* row = rows + index * width + j;
                for (int64_t i = 0; i < n; ++i) row[i] += factor * part[i];
            }
        });
}

template <class T>
void dots(const Bag<T>& bag, const T* x, const T* rows, int64_t width, T* out) {
    using L = Lanes<T>;
    const int64_t done = width / L::kCount * L::kCount;
    for (int64_t k = 0; k < bag.n; ++k) {
        out[k] = 0;
        if (bag.indices[k] == bag.left_out) continue;
        const T* row = rows + bag.indices[k] * width;
        const double total = sum_in_lanes<T>(width / L::kCount, [=](L& lanes, int64_t step) {
#pragma GCC unroll 16
            for (int v = 0; v < L::kVectors; ++v) {
                const int64_t at = step * L::kCount + v * L::kWidth;
                lanes.v[v] += L::load(x + at) * L::load(row + at);
            }
        });
        const T rest =
            short_sum<T>(width - done, [=](auto load, int64_t i) { return load(x + done + i) * load(row + done + i); });
        out[k] = static_cast<T>(total + static_cast<double>(rest));
    }
}

template <class T>
void maxima(const Bag<T>& bag, const T* rows, int64_t width, int64_t columns, int64_t* out) {
    constexpr int64_t kTogether = 64;
    T best[kTogether];
    for (int64_t j = 0; j < columns; j += kTogether) {
        const int64_t n = columns - j < kTogether ? columns - j : kTogether;
        int64_t* winner = out + j;
        for (int64_t i = 0; i < n; ++i) winner[i] = -1;
        for (int64_t k = 0; k < bag.n; ++k) {
            const int64_t index = bag.indices[k];
            if (index == bag.left_out) continue;
            const T* row = rows + index * width + j;
            for (int64_t i = 0; i < n; ++i) {
                const T before = winner[i] < 0 ? row[i] : best[i];
                const bool better = (winner[i] < 0) | (row[i] > before) | ((row[i] != row[i]) & (before == before));
                best[i] = better ? row[i] : before;
                winner[i] = better ? index : winner[i];
            }
        }
    }
}

template <class T>
constexpr BagLoops<T> loops() {
    return {sum<T>, add<T>, dots<T>, maxima<T>};
}

}  // namespace

extern const BagTable bag_table;
constinit const BagTable bag_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
