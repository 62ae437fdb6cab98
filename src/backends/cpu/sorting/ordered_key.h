// Order-preserving keys: unsigned integers that compare as the elements do.
//
// Sorting, selecting and searching work on keys: one order for all dtypes (NaN above everything, the two zeros equal),
// no comparator in the inner loop, radix sort for free. Values are fetched by position afterwards, so -0.0 and NaN
// payloads survive.
#pragma once

#include <bit>
#include <type_traits>

#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/elementwise/strided.h"
#include "kernels/sorting/lines.h"

namespace wengert::kernels {

template <size_t kBytes>
using Unsigned =
    std::conditional_t<kBytes == 1, uint8_t,
                       std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

template <class T>
Unsigned<sizeof(T)> ordered_key(T x) {  // -0.0 equals 0.0
    using U = Unsigned<sizeof(T)>;
    constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
    if constexpr (std::is_floating_point_v<T>) {
        if (x != x) return static_cast<U>(~U{0});
        U u = std::bit_cast<U>(x == 0 ? T{0} : x);
        return u & sign ? ~u : u | sign;
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<U>(static_cast<U>(x) ^ sign);
    } else {
        return static_cast<U>(x);
    }
}

// An element's key with its position: sorting by (key, index) is a stable sort.
template <class U, class Index = int64_t>
struct Keyed {
    U key;
    Index index;
    friend bool operator<(const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }
};

// The lines of tensors along one dimension, walked together on several threads: each has a function of its own, with the
// buffers that it needs, from make(), and calls it with the offsets of one line after the other. A 0-dimensional tensor is
// one line.
template <size_t N, class Make>
void for_each_line(IntSpan sizes, const std::array<IntSpan, N>& strides, int64_t dim, Make&& make) {
    Dims others;
    std::array<Dims, N> steps;
    std::array<IntSpan, N> spans;
    for (size_t d = 0; d < sizes.size(); ++d) {
        if (static_cast<int64_t>(d) == dim) continue;
        others.push_back(sizes[d]);
        for (size_t k = 0; k < N; ++k) steps[k].push_back(strides[k][d]);
    }
    for (size_t k = 0; k < N; ++k) spans[k] = steps[k];
    const StridedWalk<N> lines(others, spans);
    const int64_t length = sizes.empty() ? 1 : sizes[static_cast<size_t>(dim)];
    parallel_for(lines.numel(), units_of(length), [&](int64_t begin, int64_t end) {
        auto f = make();
        lines.elements_of(begin, end, f);
    });
}

}  // namespace wengert::kernels
