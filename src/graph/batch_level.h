// The level of a vmap, and what a batched tensor holds (graph/batched.h).
#pragma once

#include <atomic>

#include "base/api.h"
#include "base/state.h"
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
    WENGERT_API static std::atomic<uint64_t> last_number;
    std::atomic<int32_t> openings_{0};
};

// A batch that is open on this thread: the innermost and those around it are a list that starts in the ThreadState.
struct OpenBatch {
    void open(const Ref<BatchLevel>& which) noexcept {
        level = which;
        level->open();
        outer = std::exchange(state.open_batches, this);
        outer_level = std::exchange(state.batch_level, level->number);
    }
    void close() noexcept {
        state.open_batches = outer;
        state.batch_level = outer_level;
        level->close();
    }
    Ref<BatchLevel> level;
    OpenBatch* outer = nullptr;
    uint64_t outer_level = 0;
};

struct BatchedValue : SlabAllocated {
    Tensor value;
    int64_t dim;
    Ref<BatchLevel> level;
};

}  // namespace wengert
