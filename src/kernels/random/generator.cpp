#include "kernels/random/generator.h"

#include <random>

namespace wengert {

void Generator::manual_seed(uint64_t seed) noexcept {
    seed_ = seed;
    for (uint64_t& word : state_) {  // splitmix64
        uint64_t z = seed += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        word = z ^ (z >> 31);
    }
}

uint64_t Generator::seed() {
    std::random_device entropy;
    manual_seed((uint64_t{entropy()} << 32) | entropy());
    return seed_;
}

// Lemire, "Fast random integer generation in an interval", 2019: a multiplication instead of a division.
uint64_t Generator::below(uint64_t n) noexcept {
    if (n == 0) return next();
    using Wide = unsigned __int128;
    Wide product = Wide{next()} * n;
    if (static_cast<uint64_t>(product) < n) {
        const uint64_t threshold = -n % n;
        while (static_cast<uint64_t>(product) < threshold) product = Wide{next()} * n;
    }
    return static_cast<uint64_t>(product >> 64);
}

Generator& default_generator() {
    static Generator& generator = []() -> Generator& {
        static Generator made(0);
        made.seed();
        return made;
    }();
    return generator;
}

}  // namespace wengert
