// Max pooling, once per instruction set. Which element of a window is the largest cannot be predicted, so loops over many small
// windows select instead of branching: they carry how far the winner is from the start of its window, an integer as wide as the
// element, so that the compiler vectorises both. Windows of other sizes share what they see: the greatest of each column is
// found first. A very wide window is searched as rows are for their maxima.
#include <cstdint>
#include <limits>

#include "backends/cpu/isa/arg_loops.h"
#include "backends/cpu/nn/pool_loops.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kTogether = 64;  // windows
constexpr int64_t kColumns = 256;  // of windows together

template <class T>
using Offset = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// As many lanes as a vector has. Where the candidate is better it takes the place of the best, and what says where it stands
// that of the winner: `where`. Written as vectors, for compilers make branches of it.
template <bool kIndices, class T, class Int>
WENGERT_ALWAYS_INLINE void keep_better(T* best_at, Int* winner_at, const T* candidate_at, Int where) {
    using V = typename Lanes<T>::V;
    using Places = decltype(V{} < V{});
    static_assert(sizeof(Places{}[0]) == sizeof(T));
    const V best = Lanes<T>::load(best_at), candidate = Lanes<T>::load(candidate_at);
    const Places better = (candidate > best) | (candidate != candidate);  // NaN wins
    Lanes<T>::store(best_at, better ? candidate : best);
    if constexpr (kIndices && sizeof(Int) == sizeof(T)) {
        Places winner;
        __builtin_memcpy(&winner, winner_at, sizeof winner);
        winner = better ? Places{} + where : winner;
        __builtin_memcpy(winner_at, &winner, sizeof winner);
    } else if constexpr (kIndices) {
        for (int k = 0; k < Lanes<T>::kWidth; ++k) winner_at[k] = better[k] ? where : winner_at[k];
    }
}

// kStride 0: r.stride.
template <int kStride, bool kIndices, class T, class Int>
void max_row(const MaxRow<T>& r) {
    const int64_t stride = kStride ? kStride : r.stride;
    T best[kTogether] = {}, candidate[kTogether] = {};
    Int winner[kTogether];
    for (int64_t start = 0; start < r.n; start += kTogether) {
        const int64_t n = r.n - start < kTogether ? r.n - start : kTogether, origin = r.origin + start * stride;
        for (int64_t k = 0; k < r.count; ++k) {
            const T* __restrict from = r.plane + origin + r.taps[k];
            T* __restrict to = k == 0 ? best : candidate;
            if (n == kTogether)
                for (int64_t x = 0; x < kTogether; ++x) to[x] = from[x * stride];
            else
                for (int64_t x = 0; x < n; ++x) to[x] = from[x * stride];
            const auto tap = static_cast<Int>(r.taps[k]);
            if (k == 0)
                for (int64_t x = 0; kIndices && x < kTogether; ++x) winner[x] = tap;
            else
                for (int64_t x = 0; x < n; x += Lanes<T>::kWidth)
                    keep_better<kIndices>(best + x, winner + x, candidate + x, tap);
        }
        __builtin_memcpy(r.value + start, best, static_cast<size_t>(n) * sizeof(T));
        if (!kIndices) continue;
        int64_t* __restrict index = r.index + start;
        for (int64_t x = 0; x < n; ++x) index[x] = origin + x * stride + winner[x];
    }
}

template <bool kIndices, class T, class Int>
void max_row_by_stride(const MaxRow<T>& r) {
    if (r.stride == 1) return max_row<1, kIndices, T, Int>(r);
    if (r.stride == 2) return max_row<2, kIndices, T, Int>(r);
    if (r.stride == 3) return max_row<3, kIndices, T, Int>(r);
    max_row<0, kIndices, T, Int>(r);
}

template <class T>
void max_row_of(const MaxRow<T>& r) {
    if (r.taps[r.count - 1] > std::numeric_limits<Offset<T>>::max()) return max_row<0, true, T, int64_t>(r);
    r.index ? max_row_by_stride<true, T, Offset<T>>(r) : max_row_by_stride<false, T, Offset<T>>(r);
}

// The best of each of the next columns of a window, as many as a vector has, or fewer that stand alone; `at` says where they are,
// from the first column on, of which these are `column` and those behind it.
template <class T>
void best_of_columns(const MaxSpans<T>& w, const T* first, int64_t column, int64_t width, T* best, Offset<T>* at) {
    using L = Lanes<T>;
    using V = typename L::V;
    using Places = decltype(V{} < V{});
    static_assert(sizeof(Places) == L::kWidth * sizeof(Offset<T>));
    T row[L::kWidth] = {};
    const auto load = [&](const T* from) __attribute__((always_inline)) -> V {
        if (width >= L::kWidth) return L::load(from);
        for (int64_t k = 0; k < width; ++k) row[k] = from[k];
        return L::load(row);
    };
    V most = load(first + column);
    Places here, winner;
    for (int k = 0; k < L::kWidth; ++k) here[k] = static_cast<Offset<T>>(column + k);
    winner = here;
    for (int64_t i = 0; i < w.depth; ++i)
        for (int64_t j = i == 0; j < w.height; ++j) {
            const int64_t start = i * w.of_depth + j * w.of_height;
            const V candidate = load(first + start + column);
            const Places better = (candidate > most) | (candidate != candidate);  // NaN wins
            most = better ? candidate : most;
            winner = better ? here + static_cast<Offset<T>>(start) : winner;
        }
    L::store(best, most);
    __builtin_memcpy(at, &winner, sizeof winner);
}

// Windows [from, to), which see few columns together: the best of each column, and then the best of these.
template <class T>
void max_of_columns(const MaxSpans<T>& w, int64_t from, int64_t to) {
    using Int = Offset<T>;
    const int64_t left = w.spans[from].begin, width = w.spans[to - 1].end - left;
    constexpr int64_t kBlock = Lanes<T>::kWidth;
    T best[kColumns];
    Int at[kColumns];
    const T* const first = w.plane + w.first + left;
    if (width < kBlock) best_of_columns(w, first, 0, width, best, at);
    for (int64_t k = 0; width >= kBlock && k < width; k += kBlock) {  // the last ones begin where they fit
        const int64_t column = k < width - kBlock ? k : width - kBlock;
        best_of_columns(w, first, column, kBlock, best + column, at + column);
    }
    for (int64_t s = from; s < to; ++s) {
        int64_t k = w.spans[s].begin - left, end = w.spans[s].end - left;
        T value = best[k];
        Int index = at[k];
        for (++k; k < end; ++k) {
            const bool nan = best[k] != best[k], equal = nan ? value != value : best[k] == value;
            const bool better = equal ? (at[k] > index) == nan : (best[k] > value) | nan;
            value = better ? best[k] : value;
            index = better ? at[k] : index;
        }
        w.value[s] = value;
        if (w.index) w.index[s] = w.first + left + index;
    }
}

template <class T>
void max_of_rows(const MaxSpans<T>& w, int64_t s) {
    const int64_t width = w.spans[s].end - w.spans[s].begin;
    T best = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < w.depth; ++i)
        for (int64_t j = 0; j < w.height; ++j) {
            const int64_t start = w.first + w.spans[s].begin + i * w.of_depth + j * w.of_height;
            const T found = row<MaxOp<T>>(w.plane + start, width, lowest<T>);
            if ((i | j) != 0 && !(found > best) && found == found) continue;
            best = found;
            if (found == found) {
                at = start + first_match(w.plane + start, width, found);
            } else {
                at = start + width - 1;
                while (w.plane[at] == w.plane[at]) --at;
            }
        }
    w.value[s] = best;
    if (w.index) w.index[s] = at;
}

template <class T>
void max_of_spans(const MaxSpans<T>& w) {
    const bool is_near = w.depth * w.of_depth + w.height * w.of_height < std::numeric_limits<int32_t>::max();
    for (int64_t from = 0, to; from < w.count; from = to) {
        const int64_t most = w.spans[from].begin + kColumns;
        for (to = from + 1; to < w.count && w.spans[to].end <= most;) ++to;
        const bool one_row =
            to == from + 1 && w.depth * w.height == 1 && w.spans[from].end >= w.spans[from].begin + kTogether;
        if (is_near && !one_row && w.spans[from].end <= most) {
            max_of_columns(w, from, to);
        } else {
            for (int64_t s = from; s < to; ++s) max_of_rows(w, s);
        }
    }
}

}  // namespace

extern const PoolTable pool_table;
const PoolTable pool_table = {max_row_of<float>, max_row_of<double>, max_of_spans<float>, max_of_spans<double>};

}  // namespace wengert::kernels::WENGERT_ISA
