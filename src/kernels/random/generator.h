// Generator: a stream of random bits, and the numbers made of them.
//
// The bits come from xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded
// through splitmix64 as its authors advise. One seed gives one stream on every machine. A generator may be shared by
// threads; kernels hold its mutex while they draw.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace wengert {

class Generator {
public:
    using State = std::array<uint64_t, 4>;

    explicit Generator(uint64_t seed) noexcept { manual_seed(seed); }
    Generator(const Generator&) = delete;

    void manual_seed(uint64_t seed) noexcept;
    uint64_t seed();  // from the system's entropy; returns it
    uint64_t initial_seed() const noexcept { return seed_; }
    const State& state() const noexcept { return state_; }
    void set_state(const State& state, uint64_t seed) noexcept {
        state_ = state;
        seed_ = seed;
    }

    uint64_t next() noexcept {
        auto rotate = [](uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
        const uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
        const uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }
    double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }                 // [0, 1)
    double positive_uniform() noexcept { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }  // (0, 1]
    uint64_t below(uint64_t n) noexcept;  // 0 .. n-1, each equally likely; n = 0 stands for 2^64

    std::mutex& mutex() noexcept { return mutex_; }
    void* object = nullptr;  // what it is in another language, whose layer sets it

private:
    State state_;
    uint64_t seed_;
    std::mutex mutex_;
};

// What operations use when they are given none; seeded from the system's entropy.
Generator& default_generator();

}  // namespace wengert
