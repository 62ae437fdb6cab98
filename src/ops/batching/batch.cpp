#include "ops/batching/batch.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string_view>

#include "base/memory/immortal.h"
#include "base/threads/lock.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/views.h"
#include "ops/generated_support.h"

namespace wengert::ops::batching {

bool Batch::has(TensorSpan ts) const noexcept {
    return std::ranges::any_of(ts, [this](const Tensor& t) { return has(t); });
}

Tensor Batch::front(const Tensor& t) const {
    if (!has(t)) return t;
    const BatchedValue& b = batched_value(t);
    return b.dim == 0 ? b.value : ops::movedim(b.value, Dims{b.dim}, Dims{0});
}

Tensor Batch::expanded(const Tensor& t) const {
    if (!t.defined() || has(t)) return front(t);
    return ops::expand(t, with_batch(*this, t.sizes()));
}

Tensor Batch::aligned(const Tensor& t, int64_t rank) const {
    if (!has(t)) return t;
    const Tensor inner = front(t);
    const int64_t missing = rank - (inner.dim() - 1);
    if (missing <= 0) return inner;
    Dims sizes{size()};
    for (int64_t i = 0; i < missing; ++i) sizes.push_back(1);
    for (int64_t d = 1; d < inner.dim(); ++d) sizes.push_back(inner.size(d));
    return ops::reshape(inner, sizes);
}

Tensor Batch::expanded_to(const Tensor& t, int64_t rank) const {
    if (!t.defined()) return t;
    return has(t) ? aligned(t, rank) : aligned(wrap(expanded(t)), rank);
}

Tensor Batch::sample(const Tensor& t, int64_t index) const {
    return has(t) ? ops::select(batched_value(t).value, batched_value(t).dim, index) : t;
}
Operand Batch::sample(const Operand& o, int64_t index, TensorList& kept) const {
    if (!has(o)) return o;
    kept.push_back(sample(o.tensor(), index));
    return Operand(kept.back());
}
TensorList Batch::sample(TensorSpan ts, int64_t index) const {
    TensorList samples;
    for (const Tensor& t : ts) samples.push_back(sample(t, index));
    return samples;
}

Tensor Batch::wrap(Tensor value, int64_t dim) const {
    return value.defined() ? make_batched(std::move(value), dim, Ref<BatchLevel>::share(level_)) : value;
}
TensorList Batch::wrap(TensorList values) const {
    for (Tensor& value : values) value = wrap(std::move(value));
    return values;
}
Tensor Batch::wrap_given(Tensor value) const {
    const bool absent = value.defined() && size() != 0 && value.dim() == 1 && value.size(0) == 0;
    return wrap(absent ? ops::expand(value, Dims{size(), 0}) : std::move(value));
}

// --- What is refused
void refuse_escaped() {
    fail(ErrorKind::Runtime,
         "vmap: your tensor may have escaped from inside a function being vmapped: it stands for one sample of a batch "
         "whose vmap is over. Return it from the function, or keep its values with wengert.func.debug_unwrap.");
}
void refuse_dynamic(const char* name) {
    fail_batch("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over ",
               name, ": each sample would return a differently shaped Tensor. Use where or a mask instead.");
}
void refuse_value(const char* name) {
    fail_batch(
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. Samples may "
        "disagree "
        "about the branch; use wengert.where, or call the function in a loop. (",
        name, " returns a Python value.)");
}

// --- Dimensions
int64_t shifted(int64_t dim, int64_t rank) {
    const int64_t bound = std::max<int64_t>(rank, 1);
    check(-bound <= dim && dim < bound, ErrorKind::Index, "Dimension out of range (expected to be in range of [",
          -bound, ", ", bound - 1, "], but got ", dim, ")");
    return (dim < 0 ? dim + bound : dim) + 1;
}
Dims shifted(IntSpan dims, int64_t rank) {
    Dims found;
    for (const int64_t dim : dims) found.push_back(shifted(dim, rank));
    return found;
}
Dims with_batch(const Batch& batch, IntSpan sizes) {
    Dims all{batch.size()};
    for (const int64_t size : sizes) all.push_back(size);
    return all;
}

// --- Each sample on its own
namespace {

Tensor stacked(const Batch& batch, const char* name, TensorSpan samples) {
    for (const Tensor& sample : samples)
        if (sample.defined() != samples[0].defined() || (sample.defined() && !same_shape(sample, samples[0])))
            fail_batch(
                "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over ",
                name, ", whose results have shapes ", ShapeOf{samples[0].sizes()}, " and ", ShapeOf{sample.sizes()},
                ".");
    return samples[0].defined() ? batch.wrap(ops::stack(samples, 0)) : Tensor();
}

}  // namespace

// Says once for each operation that it is slow.
void warn_of_loop(const char* name) {
    static Immortal<ForkSafeMutex> mutex(LockRank::Log);
    static Immortal<std::set<std::string_view>> known;  // names are literals of the table
    {
        std::lock_guard lock(*mutex);
        if (!known->insert(name).second) return;
    }
    warn(WarningKind::User, std::string("vmap: There is a performance drop because ") + name +
                                " has no batching rule for these arguments: it runs once for each sample.");
}

TensorList stack_samples(const Batch& batch, const char* name, const std::function<TensorList(int64_t)>& sample) {
    check(batch.size() > 0, ErrorKind::Runtime, "[vmap] ", name,
          " has no batching rule, and an empty batch has no sample to run it on");
    if (batch.size() > 1) warn_of_loop(name);
    std::vector<TensorList> samples;
    for (int64_t i = 0; i < batch.size(); ++i) {
        samples.push_back(sample(i));
        if (samples.back().size() != samples[0].size())
            fail_batch(
                "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over ",
                name, ", which returns different numbers of tensors.");
    }
    TensorList results;
    for (size_t k = 0; k < samples[0].size(); ++k) {
        std::vector<Tensor> column;
        for (const TensorList& each : samples) column.push_back(each[k]);
        results.push_back(stacked(batch, name, column));
    }
    return results;
}

}  // namespace wengert::ops::batching
