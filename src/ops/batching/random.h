// Random numbers inside vmap, by its `randomness`.
//
// A draw may have no argument that tells of a batch (`randn(3)`), so it asks for all batches that are open on this
// thread. One that says "error" refuses. For those that say "different" the numbers of all samples are drawn at once, into
// memory with a dimension more for each. A batch that says "same" changes nothing: its samples share what is drawn.
#pragma once

#include "base/state.h"
#include "ops/batching/physical.h"

namespace wengert {
class Generator;
}

namespace wengert::ops::batching {

inline bool in_a_batch() noexcept { return state.open_batches != nullptr; }

// The batches that want other numbers for each sample.
Levels drawing_levels();

// A block whose draws are those of all samples already, but for the batches that remain.
class DrawForAll {
public:
    explicit DrawForAll(OpenBatch* remaining = nullptr) noexcept
        : before_(std::exchange(state.open_batches, remaining)) {}
    ~DrawForAll() { state.open_batches = before_; }
    DrawForAll(const DrawForAll&) = delete;

private:
    OpenBatch* before_;
};

// Fills new memory: `fill(memory)`.
template <class Fill>
Tensor drawn(Tensor memory, Fill&& fill) {
    if (!in_a_batch()) [[likely]] {
        fill(memory);
        return memory;
    }
    const Levels levels = drawing_levels();
    Dims sizes;
    for (const BatchLevel* level : levels) sizes.push_back(level->size);
    for (const int64_t size : memory.sizes()) sizes.push_back(size);
    if (!levels.empty()) memory = empty(sizes, memory.dtype(), memory.device());
    fill(memory);
    return logical(memory, levels);
}

// --- In place
void check_draw_into(const Tensor& self);  // an error where samples that want numbers of their own share the memory
const Tensor& draw_into(const Tensor& self, const std::function<void(const Tensor&)>& fill);

// --- Whose arguments have elements
Tensor bernoulli(const Tensor& self, Generator* generator);
Tensor bernoulli_p(const Tensor& self, double p, Generator* generator);
const Tensor& bernoulli_tensor_(const Batch& batch, const Tensor& self, const Tensor& p, Generator* generator);
Tensor normal(const Operand& mean, const Operand& std, Generator* generator);
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, Generator* generator);

}  // namespace wengert::ops::batching
