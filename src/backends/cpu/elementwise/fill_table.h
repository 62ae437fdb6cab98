// One element many times over, compiled per instruction set (isa/fill_loops.cpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace wengert::kernels {

template <class Word>
using Fill = void (*)(Word* to, int64_t n, Word value);

// For elements of that size, whatever they mean: nothing is computed.
struct FillTable {
    Fill<uint8_t> words1;
    Fill<uint16_t> words2;
    Fill<uint32_t> words4;
    Fill<uint64_t> words8;
};
const FillTable& fill_table();

template <class T>
void fill_row(T* to, int64_t n, const T& value) {
    const auto as_words = [&]<class Word>(Fill<Word> fill) {
        Word word;
        std::memcpy(&word, &value, sizeof word);
        fill(reinterpret_cast<Word*>(to), n, word);
    };
    if constexpr (sizeof(T) == 1)
        as_words(fill_table().words1);
    else if constexpr (sizeof(T) == 2)
        as_words(fill_table().words2);
    else if constexpr (sizeof(T) == 4)
        as_words(fill_table().words4);
    else if constexpr (sizeof(T) == 8)
        as_words(fill_table().words8);
    else
        for (int64_t i = 0; i < n; ++i) to[i] = value;
}

}  // namespace wengert::kernels
