// Operations on batches: what `vmap` does to one call of an operation.
//
// An operation that meets batched tensors (graph/batched.h) runs one level down: `batch_of` finds the deepest level
// among the arguments, the row's batching rule arranges the tensors inside so that one call of the same operation, or
// of others, computes all samples, and wraps what comes out. The rule is the row's key `batch`:
//
//     batch: leading 2                       how arguments are arranged, by name and numbers: a class of rules.h
//     batch: einsum                          a function of a header here: of the batch and the row's arguments
//     batch: mm(a, b) * alpha + self * beta  an expression of operations, which find their own rules
//     batch: geometry                        none is needed: no element is read
//
// Elementwise rows and compositions say nothing: those are aligned, these consist of operations that have rules. What
// has no rule, or meets arguments that its rule does not cover (NoRule), runs once for each sample (`each_sample`).
//
// Calls one level down are ordinary calls: they record history, propagate tangents and find further levels.
#pragma once

#include <functional>
#include <initializer_list>
#include <tuple>

#include "generated/ops/operators.h"
#include "graph/batched.h"
#include "ops/batching/error.h"
#include "ops/recording.h"
#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert::ops::batching {

// A rule does not cover these arguments; running each sample does.
struct NoRule {};

// The batch of one vmap, for one call of an operation.
class Batch {
public:
    Batch() noexcept = default;  // none
    explicit Batch(BatchLevel* level) noexcept : level_(level) {}
    explicit operator bool() const noexcept { return level_ != nullptr; }
    int64_t size() const noexcept { return level_->size; }
    BatchLevel& level() const noexcept { return *level_; }

    // Whether an argument differs between samples.
    bool has(const TensorImpl* t) const noexcept { return is_batched(t) && batched_value(t).level.get() == level_; }
    bool has(const Tensor& t) const noexcept { return has(t.impl()); }
    bool has(const Operand& o) const noexcept { return has(o.impl()); }
    bool has(TensorSpan ts) const noexcept;

    // The tensor inside with the batch in front; others as they are.
    Tensor front(const Tensor& t) const;
    // Likewise, and of others an expanded view: the batch is always in front.
    Tensor expanded(const Tensor& t) const;
    // The tensor inside as [B, 1.., *sample], so that samples broadcast as tensors of `rank`; others as they are.
    Tensor aligned(const Tensor& t, int64_t rank) const;
    // Likewise, with the batch also where a value is the same for all samples.
    Tensor expanded_to(const Tensor& t, int64_t rank) const;
    // One sample; others as they are.
    Tensor sample(const Tensor& t, int64_t index) const;
    Operand sample(const Operand& o, int64_t index, TensorList& kept) const;
    std::optional<Operand> sample(const std::optional<Operand>& o, int64_t index, TensorList& kept) const {
        return o ? std::optional(sample(*o, index, kept)) : o;
    }
    TensorList sample(TensorSpan ts, int64_t index) const;

    // Results with the batch in front (or at `dim`) as samples. Undefined ones stay so.
    Tensor wrap(Tensor value, int64_t dim = 0) const;
    TensorList wrap(TensorList values) const;
    template <class... T>
    std::tuple<T...> wrap(std::tuple<T...> values) const {
        return std::apply([this](T&... value) { return std::tuple<T...>{wrap(std::move(value))...}; }, values);
    }
    // The same of results of which some may have been left out: an empty vector stands for each of those.
    Tensor wrap_given(Tensor value) const;
    TensorList wrap_given(TensorList values) const { return wrap(std::move(values)); }
    template <class... T>
    std::tuple<T...> wrap_given(std::tuple<T...> values) const {
        return std::apply([this](T&... value) { return std::tuple<T...>{wrap_given(std::move(value))...}; }, values);
    }

private:
    BatchLevel* level_ = nullptr;
};

// --- Which batch a call belongs to: the deepest level among its arguments.
inline void find_deepest(BatchLevel*& deepest, const TensorImpl* t) noexcept {
    if (!is_batched(t)) return;
    BatchLevel* level = batched_value(t).level.get();
    if (!deepest || level->number > deepest->number) deepest = level;
}
inline void find_deepest(BatchLevel*& deepest, const Tensor& t) noexcept { find_deepest(deepest, t.impl()); }
inline void find_deepest(BatchLevel*& deepest, const Operand& o) noexcept { find_deepest(deepest, o.impl()); }
inline void find_deepest(BatchLevel*& deepest, const std::optional<Operand>& o) noexcept {
    if (o) find_deepest(deepest, o->impl());
}
inline void find_deepest(BatchLevel*& deepest, TensorSpan ts) noexcept {
    for (const Tensor& t : ts) find_deepest(deepest, t.impl());
}
[[noreturn, gnu::cold]] void refuse_escaped();
template <class... Args>
[[gnu::noinline]] Batch deepest_batch(const Args&... args) {
    BatchLevel* level = nullptr;
    (find_deepest(level, args), ...);
    if (!level->is_open()) refuse_escaped();
    return Batch(level);
}
template <class... Args>
[[gnu::always_inline]] inline Batch batch_of(const Args&... args) {
    if (((flags_of(args) | ... | 0u) & kBatched) == 0) [[likely]]
        return Batch();
    return deepest_batch(args...);
}

// --- Without a rule: `sample` runs for each sample, its results are stacked.
// An error if the batch is empty, or if samples have results of different shapes.
TensorList stack_samples(const Batch& batch, const char* name, const std::function<TensorList(int64_t)>& sample);

// A dimension of a sample as one of the batch, checked.
int64_t shifted(int64_t dim, int64_t rank);
Dims shifted(IntSpan dims, int64_t rank);
// `value` behind the sizes of the batch: [B, *sizes].
Dims with_batch(const Batch& batch, IntSpan sizes);

// --- Writes into a sample
// Makes `target`, which is about to be written, a batch if it was none: memory that the function under vmap made itself
// stands for that of one sample. Memory from outside would have to hold all samples at once, and other views of the
// memory would go on without the batch: both are errors. So are levels further out that `written`, what is written or
// says where, has and the target has not.
void ensure_batched(const Batch& batch, const Tensor& target, TensorSpan written = {});
// Copies the result of an operation into its first argument.
const Tensor& write_back(const Tensor& target, const Tensor& result);
// `fill_` with the value of each sample, which has no dimensions.
inline const Tensor& fill_each(const Batch&, const Tensor& target, const Tensor& value) {
    if (value.dim() != 0) throw NoRule{};
    return write_back(target, value);
}
// Lets a sample stand for a view of it: of what an in-place operation that changes its shape would have returned.
const Tensor& take_view(const Tensor& target, const Tensor& view);

[[noreturn]] void refuse_value(const char* name);  // a Python number, which cannot stand for all samples
[[noreturn]] void refuse_dynamic(const char* name);

}  // namespace wengert::ops::batching
