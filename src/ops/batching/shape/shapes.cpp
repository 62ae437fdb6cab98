#include "ops/batching/shape/shapes.h"

#include <algorithm>

#include "base/checked_math.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"

namespace wengert::ops::batching {

// --- Sizes

namespace {

// A size of -1 is found out from one sample: an empty batch has no elements to find it from.
Dims inferred(const Batch& batch, const Tensor& self, IntSpan size, const char* name) {
    return with_batch(batch, infer_shape(size, self.numel(), name));
}

// With the batch and as many dimensions as `counts`, which stand for the last ones.
Tensor aligned_to(const Batch& batch, const Tensor& self, IntSpan counts) {
    const auto rank = static_cast<int64_t>(counts.size());
    if (rank < self.dim()) throw NoRule{};  // one sample says what is wrong
    return batch.aligned(self, rank);
}

Tensor to_expand(const Batch& batch, const Tensor& self, IntSpan size) {
    const Tensor value = aligned_to(batch, self, size);
    const auto added = size.first(size.size() - static_cast<size_t>(self.dim()));
    if (std::ranges::any_of(added, [](int64_t n) { return n < 0; })) throw NoRule{};
    return value;
}

}  // namespace

Tensor view(const Batch& batch, const Tensor& self, IntSpan size) {
    return batch.wrap(ops::view(batch.front(self), inferred(batch, self, size, "view")));
}
Tensor reshaped_copy(const Batch& batch, const Tensor& self, IntSpan shape) {
    return batch.wrap(ops::reshaped_copy(batch.front(self), inferred(batch, self, shape, "reshape")));
}

Tensor expand(const Batch& batch, const Tensor& self, IntSpan size) {
    return batch.wrap(ops::expand(to_expand(batch, self, size), with_batch(batch, size)));
}

Tensor repeat(const Batch& batch, const Tensor& self, IntSpan repeats) {
    Dims counts{1};
    for (const int64_t count : repeats) counts.push_back(count);
    return batch.wrap(ops::repeat(aligned_to(batch, self, repeats), counts));
}

Tensor sum_to_size(const Batch& batch, const Tensor& self, IntSpan size) {
    const auto rank = static_cast<size_t>(self.dim());
    if (size.size() > rank) throw NoRule{};
    Dims kept{batch.size()};
    for (size_t d = size.size(); d < rank; ++d) kept.push_back(1);
    for (const int64_t n : size) kept.push_back(n);
    return batch.wrap(ops::reshape(ops::sum_to_size(batch.front(self), kept), with_batch(batch, size)));
}

// --- Order of dimensions

namespace {

Dims permuted(const Tensor& self, IntSpan dims) {
    if (static_cast<int64_t>(dims.size()) != self.dim()) throw NoRule{};
    Dims order{0};
    for (const int64_t dim : dims) order.push_back(shifted(dim, self.dim()));
    return order;
}

bool is_matrix(const Tensor& self) {
    if (self.dim() > 2) throw NoRule{};
    return self.dim() == 2;
}

Dims single(const Tensor& self) {
    Dims dims;
    for (int64_t d = 0; d < self.dim(); ++d)
        if (self.size(d) == 1) dims.push_back(d + 1);
    return dims;
}

}  // namespace

Tensor permute(const Batch& batch, const Tensor& self, IntSpan dims) {
    return batch.wrap(ops::permute(batch.front(self), permuted(self, dims)));
}

Tensor t(const Batch& batch, const Tensor& self) {
    const Tensor value = batch.front(self);
    return batch.wrap(is_matrix(self) ? ops::transpose(value, 1, 2) : ops::alias(value));
}

Tensor squeeze(const Batch& batch, const Tensor& self) {
    return batch.wrap(ops::squeeze_dims(batch.front(self), single(self)));
}

// --- Storage

namespace {

// How far the last of elements lies behind the first.
int64_t reach_of(IntSpan size, IntSpan stride) {
    int64_t reach = 0;
    for (size_t d = 0; d < size.size(); ++d)
        reach = checked_add(reach, checked_mul(size[d] - 1, stride[d], "as_strided"), "as_strided");
    return reach;
}

void check_within_sample(const Tensor& self, IntSpan size, IntSpan stride, std::optional<int64_t> offset) {
    check(size.size() == stride.size(), ErrorKind::Runtime,
          "[as_strided] size and stride must have the same length, got ", ShapeOf{size}, " and ", ShapeOf{stride});
    if (std::ranges::find(size, 0) != size.end()) return;
    const int64_t first = self.offset(), last = first + reach_of(self.sizes(), self.strides());
    const int64_t start = offset.value_or(first), end = checked_add(start, reach_of(size, stride), "as_strided");
    check(first <= start && start <= end && end <= last, ErrorKind::Runtime, "result = tensor.as_strided(",
          ShapeOf{size}, ", ", ShapeOf{stride}, ", ", start,
          ") can access memory outside of `tensor`: the first sample ends at element ", last,
          " of the storage. This is not supported inside of vmap, where each sample is as_strided in the same way: "
          "choose "
          "sizes and strides that stay in it");
}

// Where nothing is between samples, or there is one at most, they need no distance.
Dims with_distance(const Batch& batch, const Tensor& value, IntSpan stride) {
    Dims all{batch.size() > 1 ? value.stride(0) : 0};
    for (const int64_t step : stride) all.push_back(step);
    return all;
}

}  // namespace

Tensor as_strided(const Batch& batch, const Tensor& self, IntSpan size, IntSpan stride,
                  std::optional<int64_t> storage_offset) {
    check_within_sample(self, size, stride, storage_offset);
    const Tensor value = batch.front(self);
    return batch.wrap(
        ops::as_strided(value, with_batch(batch, size), with_distance(batch, value, stride), storage_offset));
}

// Channels last is an order of four or five dimensions: the first one of a sample, which stays the outermost, takes in
// the batch.
Tensor clone_memory_format(const Batch& batch, const Tensor& self, std::optional<MemoryFormat> format) {
    const Tensor value = batch.front(self);
    const bool channels_last = format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
    if (!channels_last || self.dim() == 0) return batch.wrap(ops::clone_memory_format(value, format));
    const Tensor all = ops::clone_memory_format(ops::flatten(value, 0, 1), format);
    return batch.wrap(ops::view(all, with_batch(batch, self.sizes())));
}

}  // namespace wengert::ops::batching
