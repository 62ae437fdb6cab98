#include "ops/batching/indexing/along.h"

#include <algorithm>

#include "generated/ops/arithmetic.h"
#include "generated/ops/indexing.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "ops/batching/indexing/indexing.h"

namespace wengert::ops::batching {
namespace {

// --- Rows
// A vector of indices along `dim`, and whole dimensions before it.
TensorList indices_at(const Tensor& self, int64_t dim, const Tensor& index) {
    if (index.dim() > 1 || !is_index(index)) throw NoRule{};
    TensorList indices(static_cast<size_t>(shifted(dim, self.dim()) - 1));
    indices.push_back(index.dim() == 0 ? ops::reshape(index, Dims{1}) : index);
    return indices;
}

// [1.., n, 1..]: which rows along `dim` an index names.
Tensor named_rows(const Tensor& self, int64_t dim, const Tensor& index) {
    const TensorList indices = indices_at(self, dim, index);
    Dims sizes(self.sizes().size(), 1);
    const size_t d = indices.size() - 1;
    sizes[d] = self.sizes()[d];
    const Tensor none = zeros(Dims{sizes[d]}, DType::Bool, self.device());
    return ops::reshape(ops::index_put(none, {&indices[d], 1}, scalar_tensor(true, DType::Bool, self.device())), sizes);
}

// Where each sample has an index of its own.
Tensor rows_put(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                bool accumulate) {
    const TensorList indices = indices_at(self, dim, index);
    Dims sizes = self.sizes();
    sizes[indices.size() - 1] = index.numel();
    if (source.sizes() != sizes || source.dtype() != self.dtype()) throw NoRule{};
    return scattered(batch, self, indices, source, accumulate);
}

void check_rows(const Tensor& self) {
    if (self.dim() == 0) throw NoRule{};
}

Tensor batch_of_rows(const Batch& batch, const Tensor& self, const Tensor& source) {
    if (source.dim() > 0) return batch.expanded(source);
    if (self.dim() > 1) throw NoRule{};
    return ops::unsqueeze(batch.expanded(source), 1);
}

// --- Elements
// All tensors have the rank of the first, and the batch is one more dimension. Numbers are lines of one element.
// f(tensors, dim) is in the shape of `like`.
template <class F>
Tensor each_along(const Batch& batch, int64_t dim, std::initializer_list<const Tensor*> given, const Tensor& like,
                  F f) {
    const bool numbers = std::ranges::any_of(given, [](const Tensor* t) { return t->dim() == 0; });
    TensorList tensors;
    for (const Tensor* t : given) {
        if (numbers && t->dim() > 1) throw NoRule{};
        const Tensor all = batch.expanded(*t);
        tensors.push_back(numbers ? ops::reshape(all, Dims{batch.size(), t->numel()}) : all);
    }
    const Tensor result = f(tensors, shifted(dim, (*given.begin())->dim()));
    return batch.wrap(numbers ? ops::reshape(result, with_batch(batch, like.sizes())) : result);
}

}  // namespace

Tensor selected(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index) {
    check_rows(self);
    if (batch.has(index)) return gathered(batch, self, indices_at(self, dim, index));
    return batch.wrap(ops::index_select(batch.front(self), shifted(dim, self.dim()), index));
}

Tensor rows_added(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  const Scalar& alpha) {
    check_rows(self);
    if (batch.has(index))
        return rows_put(batch, self, dim, index, alpha == Scalar(1) ? source : ops::mul(source, alpha), true);
    return batch.wrap(ops::index_add(batch.expanded(self), shifted(dim, self.dim()), index,
                                     batch_of_rows(batch, self, source), alpha));
}

Tensor rows_copied(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    check_rows(self);
    if (batch.has(index)) return rows_put(batch, self, dim, index, source, false);
    return batch.wrap(
        ops::index_copy(batch.expanded(self), shifted(dim, self.dim()), index, batch_of_rows(batch, self, source)));
}

Tensor rows_filled(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    check_rows(self);
    if (!batch.has(index))
        return batch.wrap(ops::index_fill(batch.front(self), shifted(dim, self.dim()), index, value));
    if (value.is_complex() && !is_complex(self.dtype())) throw NoRule{};
    return ops::where(named_rows(self, dim, index), scalar_tensor(value, self.dtype(), self.device()), self);
}

Tensor rows_filled(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    check_rows(self);
    if (value.dim() != 0) throw NoRule{};
    if (!batch.has(index) && !batch.has(value))
        return batch.wrap(ops::index_fill_tensor(batch.front(self), shifted(dim, self.dim()), index, value));
    return ops::where(named_rows(self, dim, index), ops::to_dtype(value, self.dtype()), self);
}

Tensor gathered_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
    return each_along(batch, dim, {&self, &index}, index,
                      [&](const TensorList& t, int64_t d) { return ops::gather(t[0], d, t[1], sparse_grad); });
}

Tensor scattered_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    return each_along(batch, dim, {&self, &index, &src}, self,
                      [](const TensorList& t, int64_t d) { return ops::scatter(t[0], d, t[1], t[2]); });
}

Tensor filled_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    return each_along(batch, dim, {&self, &index}, self,
                      [&](const TensorList& t, int64_t d) { return ops::scatter_value(t[0], d, t[1], value); });
}

Tensor added_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    return each_along(batch, dim, {&self, &index, &src}, self,
                      [](const TensorList& t, int64_t d) { return ops::scatter_add(t[0], d, t[1], t[2]); });
}

Tensor reduced_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     std::string_view reduce, bool include_self) {
    return each_along(batch, dim, {&self, &index, &src}, self, [&](const TensorList& t, int64_t d) {
        return ops::scatter_reduce(t[0], d, t[1], t[2], reduce, include_self);
    });
}

}  // namespace wengert::ops::batching
