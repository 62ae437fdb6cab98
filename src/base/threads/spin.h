// Waiting for another thread without going to sleep.
#pragma once

#include <chrono>

#include "base/system.h"

namespace wengert {

// Returns when done() does, or after about so long.
template <class Done>
void spin_until(Done&& done, std::chrono::microseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    do {
        for (int i = 0; i < 64; ++i) {
            if (done()) return;
            yield_core();
        }
    } while (std::chrono::steady_clock::now() < end);
}

}  // namespace wengert
