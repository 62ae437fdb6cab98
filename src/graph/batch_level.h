// The level of a vmap, and what a batched tensor holds (graph/batched.h).
#pragma once

#include <atomic>

#include "tensor/tensor.h"

namespace wengert {

// What random operations do inside a vmap: raise, draw for each sample, or draw once for all.
enum class Randomness : uint8_t { Error, Different, Same };

// One vmap. It is open while its function runs, and again while a backward pass runs parts of that function.
class BatchLevel final : public RefCounted {
public:
    BatchLevel(int64_t size, Randomness randomness)
        : number(last_number.fetch_add(1, std::memory_order_relaxed) + 1), size(size), randomness(randomness) {}
    static void dispose(BatchLevel* level) noexcept { delete level; }

    const uint64_t number;  // from 1; larger than those of the levels around it, and never used again
    const int64_t size;     // how many samples
    const Randomness randomness;

    void open() noexcept { openings_.fetch_add(1, std::memory_order_relaxed); }
    void close() noexcept { openings_.fetch_sub(1, std::memory_order_relaxed); }
    bool is_open() const noexcept { return openings_.load(std::memory_order_relaxed) > 0; }

private:
    static inline std::atomic<uint64_t> last_number{0};
    std::atomic<int32_t> openings_{0};
};

struct BatchedValue : SlabAllocated {
    Tensor value;
    int64_t dim;
    Ref<BatchLevel> level;
};

}  // namespace wengert
