// The geometry of one indexing operation.
//
// Whatever the index looks like, the elements it names form a block with three groups of dimensions, in this order:
// `before` and `after`, which are plain dimensions of self, around the broadcast shape B of the index tensors. An
// element lies at  self.offset + before . strides + (indices at b) . strides + after . strides. What is at the other
// end, the result of a read, the values of a write, is seen in the shape before x B x after.
#pragma once

#include "tensor/tensor_list.h"

namespace wengert::kernels {

struct IndexPlan {
    Dims before_sizes, before_strides;
    Dims index_sizes;  // B
    Dims indexed;      // dimensions of self, one for each index tensor
    Dims after_sizes, after_strides;
    bool wraps_negative = true;  // whether negative indices count from the end

    bool is_empty() const { return numel_of(index_sizes) == 0; }  // no index: nothing is out of bounds
    Dims result_sizes() const {
        Dims sizes = before_sizes;
        for (int64_t s : index_sizes) sizes.push_back(s);
        for (int64_t s : after_sizes) sizes.push_back(s);
        return sizes;
    }
};

struct PlannedIndex {
    Tensor self;         // with one more dimension for each 0-dimensional mask
    TensorList indices;  // int64, broadcast to B
    IndexPlan plan;
};

// Values of indices are not looked at, but for those of masks.
PlannedIndex plan_index(const Tensor& self, TensorSpan indices);
// index: a vector or a single number.
PlannedIndex plan_index_select(const Tensor& self, int64_t dim, const Tensor& index, bool wrap_negative,
                               const char* op);

// Index tensors and single numbers of the CPU may stand beside tensors of any device: `t` where self is, if it is one.
Tensor beside(const Tensor& self, Tensor t);

// The elements of an index tensor (int64 or int32) as dense int64.
Tensor dense_index(const Tensor& index, const char* op);

}  // namespace wengert::kernels
