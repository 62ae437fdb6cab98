#include "ops/batching/indexing/indexing.h"

#include <algorithm>

#include "generated/ops/indexing.h"
#include "generated/ops/scans.h"
#include "generated/ops/views.h"
#include "kernels/creation.h"
#include "kernels/shape/shape.h"

namespace wengert::ops::batching {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// The tensors among the indices.
struct Places {
    TensorList given;
    Dims at;               // where they stand
    int64_t rank = 0;      // that they broadcast to
    int64_t consumed = 0;  // dimensions

    explicit Places(TensorSpan indices) {
        for (size_t i = 0; i < indices.size(); ++i) {
            if (!indices[i].defined()) continue;
            given.push_back(indices[i]);
            at.push_back(static_cast<int64_t>(i));
            rank = std::max<int64_t>(rank, is_mask(indices[i]) ? 1 : indices[i].dim());
            consumed += is_mask(indices[i]) ? indices[i].dim() : 1;
        }
    }
    bool are_neighbours() const { return at[at.size() - 1] - at[0] + 1 == static_cast<int64_t>(at.size()); }
    // Where their result stands: in the place of neighbours, else in front.
    int64_t first() const { return are_neighbours() ? at[0] : 0; }
};

TensorList behind_batch(TensorSpan indices) {
    TensorList found{Tensor()};
    for (const Tensor& index : indices) found.push_back(index);
    return found;
}

// The positions that masks select, in place of these. A place counts dimensions then.
TensorList without_masks(const Batch& batch, const Tensor& self, TensorSpan indices) {
    TensorList found;
    for (const Tensor& index : indices) {
        if (!index.defined() || !is_mask(index)) {
            found.push_back(index);
            continue;
        }
        check(!batch.has(index), ErrorKind::Runtime,
              "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
              "indexing with a boolean mask: each sample would select another number of elements. Use "
              "wengert.where(mask, x, other).");
        if (index.dim() == 0) throw NoRule{};
        const auto place = static_cast<int64_t>(found.size());
        for (int64_t d = 0; d < index.dim(); ++d)
            check(place + d < self.dim() && index.size(d) == self.size(place + d), ErrorKind::Index,
                  "The shape of the mask ", ShapeOf{index.sizes()}, " at index ", d,
                  " does not match the shape of the indexed tensor ", ShapeOf{self.sizes()}, " at index ", place + d);
        for (const Tensor& positions : ops::nonzero_numpy(index)) found.push_back(positions);
    }
    check(static_cast<int64_t>(found.size()) <= self.dim(), ErrorKind::Index,
          "too many indices for tensor of dimension ", self.dim(), ": got ", found.size());
    return found;
}

TensorList beside_counter(const Batch& batch, const Places& places) {
    Dims sizes(static_cast<size_t>(places.rank) + 1, 1);
    sizes[0] = batch.size();
    TensorList found{kernels::reshape(kernels::arange(0, batch.size(), 1, beside(places.given[0])), sizes)};
    for (const Tensor& index : places.given) found.push_back(batch.aligned(index, places.rank));
    return found;
}

// --- Dimensions
// The batch, the indexed dimensions of a sample, and its others.
Dims indexed_first(int64_t rank, const Places& places) {
    Dims order{0};
    for (const int64_t d : places.at) order.push_back(d + 1);
    for (int64_t d = 0; d < rank; ++d)
        if (std::ranges::find(places.at, d) == places.at.end()) order.push_back(d + 1);
    return order;
}

Dims unmoved(int64_t rank) {
    Dims order;
    for (int64_t d = 0; d <= rank; ++d) order.push_back(d);
    return order;
}

Dims inverse(const Dims& order) {
    Dims found(order.size());
    for (size_t i = 0; i < order.size(); ++i) found[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return found;
}

Tensor permuted(const Tensor& t, const Dims& order) {
    return std::ranges::is_sorted(order) ? t : ops::permute(t, order);
}

// `count` neighbouring dimensions in another place.
Tensor block_moved(const Tensor& t, int64_t count, int64_t from, int64_t to) {
    if (from == to || count == 0) return t;
    Dims source, destination;
    for (int64_t i = 0; i < count; ++i) {
        source.push_back(from + i);
        destination.push_back(to + i);
    }
    return ops::movedim(t, source, destination);
}

// --- Writing
struct Written {
    Dims order;  // of the dimensions of the target
    TensorList indices;
    Tensor values;
};

Written written(const Batch& batch, const Tensor& target, TensorSpan indices, const Tensor& values) {
    Places places(indices);
    check(!places.given.empty(), ErrorKind::Index, "[index] needs at least one index tensor");
    const bool alike = !batch.has(indices) && places.are_neighbours();
    if (!alike) places = Places(without_masks(batch, target, indices));
    const int64_t rank = target.dim() - places.consumed + places.rank;  // of what is written
    Tensor source = values;
    while (source.dim() > rank && source.size(0) == 1) source = ops::select(source, 0, 0);
    check(source.dim() <= rank, ErrorKind::Runtime, "shape mismatch: value tensor of shape ", ShapeOf{values.sizes()},
          " cannot be broadcast to an indexing result of ", rank, " dimensions");
    if (alike) return {unmoved(target.dim()), behind_batch(indices), batch.aligned(source, rank)};
    const int64_t first = places.first();
    source = first == 0 ? batch.aligned(source, rank)
                        : block_moved(batch.expanded_to(source, rank), places.rank, first + 1, 1);
    return {indexed_first(target.dim(), places), beside_counter(batch, places), std::move(source)};
}

}  // namespace

bool is_index(const Tensor& t) noexcept { return t.dtype() == DType::Int64 || t.dtype() == DType::Int32; }

Tensor gathered(const Batch& batch, const Tensor& self, TensorSpan indices) {
    const Places given(indices);
    if (given.given.empty()) throw NoRule{};
    if (!batch.has(indices))
        return batch.wrap(ops::index(batch.front(self), behind_batch(indices)),
                          given.are_neighbours() ? 0 : given.rank);
    TensorList positions = without_masks(batch, self, indices);
    const Places places(positions);
    if (!batch.has(self)) {
        for (Tensor& index : positions) index = batch.aligned(index, places.rank);
        return batch.wrap(ops::index(self, positions), places.first());
    }
    const Tensor moved = permuted(batch.front(self), indexed_first(self.dim(), places));
    return batch.wrap(
        block_moved(ops::index(moved, beside_counter(batch, places)), places.rank, 1, places.first() + 1));
}

Tensor scattered(const Batch& batch, const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate) {
    const Written w = written(batch, self, indices, values);
    const Tensor result = ops::index_put(permuted(batch.expanded(self), w.order), w.indices, w.values, accumulate);
    return batch.wrap(permuted(result, inverse(w.order)));
}

const Tensor& put(const Batch& batch, const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate) {
    TensorList sources(indices.begin(), indices.end());
    sources.push_back(values);
    ensure_batched(batch, self, sources);
    const Written w = written(batch, self, indices, values);
    ops::index_put_(permuted(batch.front(self), w.order), w.indices, w.values, accumulate);
    return self;
}

Tensor taken(const Batch& batch, const Tensor& self, const Tensor& index) {
    if (index.dtype() != DType::Int64) throw NoRule{};
    return gathered(batch, ops::reshape(self, Dims{self.numel()}), {&index, 1});
}

}  // namespace wengert::ops::batching
