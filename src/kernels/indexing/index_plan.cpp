#include "kernels/indexing/index_plan.h"

#include "kernels/device_kernel.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/on_host.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// One entry per dimension of self: an int64 tensor or undefined. Masks become the positions of their elements.
TensorList expand_masks(Tensor& self, TensorSpan indices) {
    TensorList entries;
    for (const Tensor& index : indices) {
        const auto position = static_cast<int64_t>(entries.size());
        if (!index.defined()) {
            entries.push_back(Tensor());
        } else if (is_mask(index)) {
            Tensor mask = index;
            if (mask.dim() == 0) {
                self = unsqueeze(self, position);
                mask = alias(mask, Dims{1}, Dims{1}, mask.offset());
            }
            for (int64_t d = 0; d < mask.dim(); ++d)
                check(position + d < self.dim() && mask.sizes()[d] == self.sizes()[position + d], ErrorKind::Index,
                      "The shape of the mask ", ShapeOf{mask.sizes()}, " at index ", d,
                      " does not match the shape of the indexed tensor ", ShapeOf{self.sizes()}, " at index ",
                      position + d);
            Tensor positions = beside(self, nonzero(mask));
            for (int64_t d = 0; d < mask.dim(); ++d) entries.push_back(select(positions, 1, d));
        } else {
            check(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, ErrorKind::Index,
                  "tensors used as indices must be long, int, byte or bool tensors, got ", index.dtype());
            entries.push_back(beside(self, to_dtype(index, DType::Int64)));
        }
    }
    check(static_cast<int64_t>(entries.size()) <= self.dim(), ErrorKind::Index,
          "too many indices for tensor of dimension ", self.dim(), ": got ", entries.size());
    entries.resize(self.sizes().size());
    return entries;
}

Dims broadcast_indices(const TensorList& entries) {
    Dims shape;
    for (const Tensor& e : entries) {
        if (!e.defined()) continue;
        if (!is_broadcastable_to(e.sizes(), shape) && !is_broadcastable_to(shape, e.sizes())) {
            bool fits = true;
            for (size_t i = 1; i <= std::min(shape.size(), e.sizes().size()); ++i) {
                int64_t a = shape[shape.size() - i], b = e.sizes()[e.sizes().size() - i];
                fits &= a == b || a == 1 || b == 1;
            }
            check(fits, ErrorKind::Index,
                  "shape mismatch: indexing tensors could not be broadcast together with shapes ", ShapeOf{shape}, ", ",
                  ShapeOf{e.sizes()});
        }
        shape = broadcast_shapes(shape, e.sizes(), "index");
    }
    return shape;
}

}  // namespace

Tensor beside(const Tensor& self, Tensor t) {
    if (t.device() == self.device() || t.device().type != DeviceType::Cpu) return t;
    return on_device(t, self.device());
}

PlannedIndex plan_index(const Tensor& tensor, TensorSpan indices) {
    PlannedIndex planned{tensor, {}, {}};
    const Tensor& self = planned.self;
    IndexPlan& plan = planned.plan;
    TensorList entries = expand_masks(planned.self, indices);
    plan.index_sizes = broadcast_indices(entries);
    size_t first = entries.size(), last = 0, used = 0;
    for (size_t d = 0; d < entries.size(); ++d) {
        if (!entries[d].defined()) continue;
        first = std::min(first, d);
        last = d;
        ++used;
    }
    check(used > 0, ErrorKind::Index, "[index] needs at least one index tensor");
    const bool adjacent = last - first + 1 == used;
    for (size_t d = 0; d < entries.size(); ++d) {
        int64_t size = self.sizes()[d], stride = self.strides()[d];
        if (entries[d].defined()) {
            planned.indices.push_back(std::move(entries[d]));
            plan.indexed.push_back(static_cast<int64_t>(d));
        } else if (adjacent && d < first) {
            plan.before_sizes.push_back(size);
            plan.before_strides.push_back(stride);
        } else {
            plan.after_sizes.push_back(size);
            plan.after_strides.push_back(stride);
        }
    }
    return planned;
}

Tensor dense_index(const Tensor& index, const char* op) {
    check(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, ErrorKind::Runtime, op,
          "(): Expected dtype int32 or int64 for index, got ", index.dtype());
    return contiguous(to_dtype(index, DType::Int64));
}

PlannedIndex plan_index_select(const Tensor& self, int64_t dim, const Tensor& index, bool wrap_negative,
                               const char* op) {
    dim = wrap_dim(dim, self.dim(), op);
    check(index.dim() <= 1, ErrorKind::Index, op, "(): Index is supposed to be a vector, got shape ",
          ShapeOf{index.sizes()});
    const Tensor both[] = {self, index};
    check_one_device(both, op);
    PlannedIndex planned{self, {}, {}};
    planned.indices.push_back(dense_index(index, op));
    IndexPlan& plan = planned.plan;
    plan.wraps_negative = wrap_negative;
    plan.index_sizes = Dims{index.numel()};
    plan.indexed = Dims{dim};
    for (int64_t d = 0; d < self.dim(); ++d) {
        if (d == dim) continue;
        (d < dim ? plan.before_sizes : plan.after_sizes).push_back(self.sizes()[d]);
        (d < dim ? plan.before_strides : plan.after_strides).push_back(self.strides()[d]);
    }
    return planned;
}

}  // namespace wengert::kernels
