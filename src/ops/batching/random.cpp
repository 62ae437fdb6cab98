#include "ops/batching/random.h"

#include <algorithm>
#include <mutex>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/random.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "graph/grad_mode.h"
#include "kernels/random/random.h"

namespace wengert::ops::batching {
namespace {

// What starts from the same random numbers each time.
class Restart {
public:
    explicit Restart(Generator* given) : generator_(given ? *given : default_generator()) {
        const std::lock_guard lock(generator_.mutex());
        state_ = generator_.state();
    }
    void operator()() {
        const std::lock_guard lock(generator_.mutex());
        generator_.set_state(state_, generator_.initial_seed());
    }

private:
    Generator& generator_;
    Generator::State state_;
};

// Of [..., categories], one batch after another from the innermost.
Tensor drawn_of_rows(const Tensor& weights, int64_t num_samples, bool replacement, Generator* generator) {
    const auto drawn = [&](const Tensor& t) { return drawn_of_rows(t, num_samples, replacement, generator); };
    if (OpenBatch* open = state.open_batches) {
        const Batch batch(open->level.get());
        const DrawForAll outside(open->outer);
        if (open->level->randomness == Randomness::Different) return batch.wrap(drawn(batch.expanded(weights)));
        if (!batch.has(weights)) return drawn(weights);
        Restart restart(generator);
        return stack_samples(batch, "multinomial", [&](int64_t i) {
            restart();
            return TensorList{drawn(batch.sample(weights, i))};
        })[0];
    }
    Dims sizes = weights.sizes();
    const Tensor rows = ops::reshape(weights, Dims{numel_of(sizes) / std::max<int64_t>(sizes.back(), 1), sizes.back()});
    sizes.back() = num_samples;
    return ops::reshape(kernels::multinomial(rows, num_samples, replacement, generator), sizes);
}

}  // namespace

Levels drawing_levels() {
    Levels different;
    for (const OpenBatch* open = state.open_batches; open; open = open->outer) {
        check(
            open->level->randomness != Randomness::Error, ErrorKind::Runtime,
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap");
        if (open->level->randomness == Randomness::Different) different.insert(0, open->level.get());
    }
    return different;
}

// --- In place
void check_draw_into(const Tensor& self) {
    for (BatchLevel* level : drawing_levels()) {
        bool found = false;
        for (const Tensor* t = &self; is_batched(*t) && !found; t = &batched_value(*t).value)
            found = batched_value(*t).level.get() == level;
        check(found, ErrorKind::Runtime,
              "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
              "randomness. Write into a tensor that is mapped, or draw out of place.");
    }
}

const Tensor& draw_into(const Tensor& self, const std::function<void(const Tensor&)>& fill) {
    size_t batches = 0;
    for (const Tensor* t = &self; is_batched(*t); t = &batched_value(*t).value) ++batches;
    if (drawing_levels().size() == batches) {
        const DrawForAll all;
        fill(unbatched(self));
        return self;
    }
    const Tensor numbers = drawn(empty(self.sizes(), self.dtype(), self.device()), [&](const Tensor& memory) {
        const NoGradGuard no_grad;
        const DrawForAll all;
        fill(memory);
    });
    return ops::copy_(self, numbers);
}

// --- Whose arguments have elements
Tensor bernoulli(const Tensor& self, Generator* generator) {
    kernels::check_probabilities(unbatched(self));
    const Tensor uniform = drawn(empty(self.sizes(), DType::Float64, self.device()),
                                 [&](const Tensor& memory) { kernels::uniform_(memory, 0, 1, generator); });
    return ops::to_dtype(ops::lt(uniform, self), self.dtype());
}

Tensor bernoulli_p(const Tensor& self, double p, Generator* generator) {
    return drawn(empty_like(self), [&](const Tensor& memory) { kernels::bernoulli_(memory, p, generator); });
}

const Tensor& bernoulli_tensor_(const Batch&, const Tensor& self, const Tensor& p, Generator* generator) {
    return ops::copy_(self, ops::bernoulli(ops::expand(p, self.sizes()), generator));
}

Tensor normal(const Operand& mean, const Operand& std, Generator* generator) {
    if (std.is_tensor()) kernels::check_deviations(unbatched(std.tensor()));
    const NoGradGuard no_grad;
    const Tensor model = ops::add(mean, std);  // its shape and dtype
    const Tensor numbers = drawn(empty(model.sizes(), model.dtype(), model.device()),
                                 [&](const Tensor& memory) { kernels::normal_(memory, 0, 1, generator); });
    return ops::add(mean, ops::mul(numbers, std));
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, Generator* generator) {
    drawing_levels();  // which may forbid it
    check(self.dim() == 1 || self.dim() == 2, ErrorKind::Runtime, "prob_dist must be 1 or 2 dim, got ", self.dim());
    return drawn_of_rows(self, num_samples, replacement, generator);
}

}  // namespace wengert::ops::batching
