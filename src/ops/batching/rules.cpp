#include "ops/batching/rules.h"

#include <algorithm>

#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "tensor/promotion.h"

namespace wengert::ops::batching {
namespace {

int64_t rank_of(const Operand& o) { return static_cast<int64_t>(o.sizes().size()); }
int64_t highest_rank(Operands given) {
    int64_t rank = 0;
    for (const Operand& o : given) rank = std::max(rank, rank_of(o));
    return rank;
}
// The one argument that is a tensor, if there is only one.
size_t count_tensors(Operands given) {
    return static_cast<size_t>(std::ranges::count_if(given, [](const Operand& o) { return o.is_tensor(); }));
}
Tensor tensor_or_none(const Operand& o) { return o.is_tensor() ? o.tensor() : Tensor(); }

// To what batches of samples without dimensions must be converted, lest they count more than such samples do.
std::optional<DType> promoted_dtype(const Batch& batch, Operands given, int64_t rank) {
    std::optional<DType> dtype;
    bool any_scalar = false;
    for (const Operand& o : given) {
        if (!o.is_tensor()) continue;
        const bool scalar = rank_of(o) == 0;
        any_scalar |= scalar && batch.has(o);
        if (rank > 0 ? !scalar : !batch.has(o)) dtype = dtype ? promote(*dtype, o.dtype()) : o.dtype();
    }
    if (!any_scalar || !dtype) return std::nullopt;
    if (rank == 0)
        for (const Operand& o : given)
            if (batch.has(o)) dtype = promote(*dtype, o.dtype());
    return dtype;
}

}  // namespace

// --- Elementwise
Elementwise::Elementwise(const Batch& batch, Numbers, Operands given) : Arranged(batch) {
    const int64_t rank = highest_rank(given);
    int64_t dim = -1;
    bool alike = true;
    for (const Operand& o : given) {
        if (!o.is_tensor()) continue;
        if (!batch.has(o)) {
            alike = alike && rank_of(o) == 0 && rank > 0;
            continue;
        }
        const BatchedValue& b = batched_value(o.impl());
        alike = alike && rank_of(o) == rank && (dim < 0 || dim == b.dim);
        dim = b.dim;
    }
    if (alike) {
        dim_ = dim;
        for (const Operand& o : given)
            tensors_.push_back(batch.has(o) ? batched_value(o.impl()).value : tensor_or_none(o));
    } else {
        const std::optional<DType> dtype = promoted_dtype(batch, given, rank);
        for (const Operand& o : given) {
            Tensor t = o.is_tensor() ? batch.aligned(o.tensor(), rank) : Tensor();
            if (dtype && batch.has(o) && rank_of(o) == 0 && t.dtype() != *dtype &&
                category(t.dtype()) == category(*dtype))
                t = ops::to_dtype(t, *dtype);
            tensors_.push_back(std::move(t));
        }
    }
    first_ = tensor_or_none(*given.begin());
}

// What an operation returns as it was given, it returns here too.
Tensor Elementwise::results(Tensor value) const {
    if (value.is_same(tensors_[0]) && batch_.has(first_) && value.is_same(batched_value(first_).value)) return first_;
    return batch_.wrap(std::move(value), dim_);
}

ElementwiseInPlace::ElementwiseInPlace(const Batch& batch, Operands given) : Arranged(batch) {
    const Tensor target = given.begin()->tensor();
    TensorList written;
    for (const Operand* o = given.begin() + 1; o != given.end(); ++o)
        if (o->is_tensor()) written.push_back(o->tensor());
    ensure_batched(batch, target, written);
    const int64_t rank = target.dim();
    for (const Operand& o : given) {
        check(rank_of(o) <= rank, ErrorKind::Runtime, "output with shape ", ShapeOf{target.sizes()},
              " doesn't match the broadcast shape of an operand with shape ", ShapeOf{o.sizes()},
              "; use the operation out of place");
        tensors_.push_back(o.is_tensor() ? batch.aligned(o.tensor(), rank) : Tensor());
    }
}

// --- Batches of matrices
Leading::Leading(const Batch& batch, Numbers numbers, Operands given) : Arranged(batch) {
    const int64_t rank = highest_rank(given);
    if (numbers.size() > 0)
        for (const Operand& o : given)
            if (o.is_tensor() && rank_of(o) < *numbers.begin()) throw NoRule{};  // the batch would count as a row
    const bool alone = count_tensors(given) == 1;
    for (const Operand& o : given) {
        const Tensor t = tensor_or_none(o);
        tensors_.push_back(alone ? batch.aligned(t, rank) : batch.expanded_to(t, rank));
    }
}

EndingIn::EndingIn(const Batch& batch, Numbers cores, Operands given) : Arranged(batch) {
    int64_t rank = 0;
    auto core = cores.begin();
    for (const Operand& o : given) {
        if (rank_of(o) < *core) throw NoRule{};
        rank = std::max(rank, rank_of(o) - *core++);
    }
    core = cores.begin();
    for (const Operand& o : given) tensors_.push_back(batch.expanded_to(tensor_or_none(o), rank + *core++));
}

// --- Along dimensions
Along::Along(const Batch& batch, Numbers extra_and_least, Operands given)
    : Arranged(batch),
      rank_(rank_of(*given.begin())),
      extra_(extra_and_least.size() > 0 ? *extra_and_least.begin() : 0) {
    if (extra_and_least.size() > 1 && rank_ < extra_and_least.begin()[1]) throw NoRule{};
    const bool alone = count_tensors(given) == 1;
    for (const Operand& o : given) {
        Tensor t = tensor_or_none(o);
        t = alone ? batch.front(t) : batch.expanded(t);
        if (is_scalar() && t.defined()) t = ops::unsqueeze(t, 1);
        tensors_.push_back(std::move(t));
    }
}

int64_t Along::shift(int64_t dim) { return shifted(dim, rank_ + extra_); }
Dims Along::shift(IntSpan dims) { return shifted(dims, rank_ + extra_); }

std::optional<int64_t> Along::shift(const std::optional<int64_t>& dim) {
    if (dim) return shift(*dim);
    tensors_[0] = ops::reshape(tensors_[0], Dims{batch_.size(), numel_of(IntSpan(tensors_[0].sizes()).subspan(1))});
    return 1;
}

std::optional<Dims> Along::shift(const std::optional<Dims>& dims) {
    if (dims && !dims->empty()) return shift(IntSpan(*dims));
    Dims all;
    for (int64_t d = 1; d <= std::max<int64_t>(rank_, 1); ++d) all.push_back(d);
    return all;
}

// Flattening took dimensions, which kept ones have size 1 of; the dimension of a sample without any goes again.
Tensor Along::results(Tensor value) const {
    if (is_scalar()) {
        if (value.dim() > 1) value = ops::squeeze_dim(value, 1);
    } else if (keeps_) {
        const int64_t missing = rank_ + 1 - value.dim();
        if (missing > 0) {
            Dims sizes = value.sizes();
            for (int64_t i = 0; i < missing; ++i) sizes.push_back(1);
            value = ops::reshape(value, sizes);
        }
    }
    return batch_.wrap(std::move(value));
}
TensorList Along::results(TensorList values) const {
    for (Tensor& value : values) value = results(std::move(value));
    return values;
}

AlignedAlong::AlignedAlong(const Batch& batch, Numbers, Operands given) : Arranged(batch), rank_(highest_rank(given)) {
    for (const Operand& o : given) tensors_.push_back(batch.expanded_to(tensor_or_none(o), rank_));
}

// --- More samples
Samples::Samples(const Batch& batch, Numbers rank, Operands given) : Arranged(batch) {
    const Operand& first = *given.begin();
    for (const Operand* o = given.begin() + 1; o != given.end(); ++o)
        if (batch.has(*o)) throw NoRule{};
    Tensor value = batch.front(first.tensor());
    if (rank.size() > 0 && value.dim() != *rank.begin() && value.dim() - 1 != *rank.begin()) throw NoRule{};
    if (rank.size() == 0 || value.dim() - 1 == *rank.begin()) {
        inner_ = value.size(1);
        value = ops::flatten(value, 0, 1);
    }
    tensors_.push_back(std::move(value));
    for (const Operand* o = given.begin() + 1; o != given.end(); ++o) tensors_.push_back(tensor_or_none(*o));
}

Tensor Samples::results(Tensor value) const {
    if (inner_ >= 0 && value.defined()) {
        Dims sizes{batch_.size(), inner_};
        for (int64_t d = 1; d < value.dim(); ++d) sizes.push_back(value.size(d));
        value = ops::reshape(value, sizes);
    }
    return batch_.wrap(std::move(value));
}

// --- Sized
Sized::Sized(const Batch& batch, Numbers, Operands given) : Arranged(batch) {
    for (const Operand& o : given) tensors_.push_back(batch.front(tensor_or_none(o)));
}

}  // namespace wengert::ops::batching
