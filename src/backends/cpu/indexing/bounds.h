// Whether indices that lie one behind the other are in range.
#pragma once

#include <cstdint>

namespace wengert::kernels {

// low <= p[i] < high for all i, where low <= 0 <= high. A sign bit says where one is not; without a branch and without
// comparisons of 64 bits, which not all processors have as vectors.
inline bool all_within(const int64_t* p, int64_t n, int64_t low, int64_t high) noexcept {
    constexpr int kTogether = 32;  // a loop of constant length has a vector form
    const auto from = static_cast<uint64_t>(low), last = static_cast<uint64_t>(high) - 1;
    auto outside = [=](int64_t index) {
        return (static_cast<uint64_t>(index) - from) | (last - static_cast<uint64_t>(index));
    };
    uint64_t any = 0;
    for (; n >= kTogether; n -= kTogether, p += kTogether)
        for (int i = 0; i < kTogether; ++i) any |= outside(p[i]);
    for (int64_t i = 0; i < n; ++i) any |= outside(p[i]);
    return static_cast<int64_t>(any) >= 0;
}

}  // namespace wengert::kernels
