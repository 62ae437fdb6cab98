// A loop that computes in one dtype on arrays of others: they go through blocks that stay in the cache, and are converted on
// the way in and out.
#pragma once

#include <algorithm>

#include "backends/cpu/elementwise/casting.h"
#include "kernels/elementwise/strided_iteration.h"

namespace wengert::kernels {

class ConvertingLoop {
public:
    // `arrays` of them, the last of which is the output.
    ConvertingLoop(Loop loop, int arrays) noexcept : loop_(loop), arrays_(arrays) {}

    void convert_input(int a, DType stored, DType computed) noexcept {
        conversions_[a] = {cast_loop(stored, computed), item_size(computed)};
    }
    void convert_output(DType computed, DType stored) noexcept {
        conversions_[arrays_ - 1] = {cast_loop(computed, stored), item_size(computed)};
    }

    void operator()(char* const* args, int64_t n, const int64_t* steps) const {
        alignas(64) char blocks[StridedIteration::kMaxArrays][kBlock * kWidest + kApart];
        char *next[StridedIteration::kMaxArrays], *at[StridedIteration::kMaxArrays];
        std::copy_n(args, arrays_, next);
        int64_t own_steps[StridedIteration::kMaxArrays];
        const int out = arrays_ - 1;
        for (int a = 0; a < arrays_; ++a) own_steps[a] = conversions_[a].cast ? conversions_[a].item : steps[a];
        for (int64_t count; n > 0; n -= count) {
            count = std::min(n, kBlock);
            for (int a = 0; a < arrays_; ++a) {
                at[a] = conversions_[a].cast ? blocks[a] : next[a];
                if (conversions_[a].cast && a != out) cast(a, next[a], blocks[a], count, steps[a], own_steps[a]);
            }
            loop_(at, count, own_steps);
            if (conversions_[out].cast) cast(out, blocks[out], next[out], count, own_steps[out], steps[out]);
            for (int a = 0; a < arrays_; ++a) next[a] += count * steps[a];
        }
    }

private:
    static constexpr int64_t kBlock = 256;  // elements: whole vectors, see backends/cpu/elementwise/in_parallel.h
    static constexpr int64_t kWidest = sizeof(complex128);
    static constexpr int64_t kApart = 192;  // blocks at distances of 4 KiB would wait for each other's writes

    struct Conversion {
        Loop cast = nullptr;  // null: none
        int64_t item = 0;     // bytes in the block
    };

    void cast(int a, char* from, char* to, int64_t n, int64_t from_step, int64_t to_step) const {
        char* args[] = {from, to};
        const int64_t steps[] = {from_step, to_step};
        conversions_[a].cast(args, n, steps);
    }

    Loop loop_;
    int arrays_;
    Conversion conversions_[StridedIteration::kMaxArrays];
};

}  // namespace wengert::kernels
