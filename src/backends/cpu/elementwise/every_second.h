// Every second element of a row, which compilers take one at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace wengert::kernels {

template <class T>
inline constexpr bool has_every_second = sizeof(T) == 4 || sizeof(T) == 8;

// to[i] = from[2 * i]
template <class T>
void take_every_second(const T* from, int64_t n, T* to) {
    static_assert(has_every_second<T>);
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    typedef Word Vector [[gnu::vector_size(16)]];
    constexpr int64_t kWords = sizeof(Vector) / sizeof(Word);
    int64_t i = 0;
    for (; i + kWords < n; i += kWords) {  // not the last: it would read the element behind it
        Vector a, b;
        std::memcpy(&a, from + 2 * i, sizeof a);
        std::memcpy(&b, from + 2 * i + kWords, sizeof b);
        if constexpr (kWords == 4)
            a = __builtin_shufflevector(a, b, 0, 2, 4, 6);
        else
            a = __builtin_shufflevector(a, b, 0, 2);
        std::memcpy(static_cast<void*>(to + i), &a, sizeof a);
    }
    for (; i < n; ++i) to[i] = from[2 * i];
}

}  // namespace wengert::kernels
