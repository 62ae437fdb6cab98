// Waiting for another thread without going to sleep.
#pragma once

#include <chrono>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace wengert {

// Returns when done() does, or after about so long.
template <class Done>
void spin_until(Done&& done, std::chrono::microseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    do {
        for (int i = 0; i < 64; ++i) {
            if (done()) return;
#ifdef __SSE2__
            _mm_pause();
#endif
        }
    } while (std::chrono::steady_clock::now() < end);
}

}  // namespace wengert
