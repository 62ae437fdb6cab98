// Where the elements of an index lie along a dimension: self is walked with stride 0 there, and the index supplies the missing
// term.
#pragma once

#include <algorithm>

#include "backends/cpu/indexing/bounds.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

struct Along {
    int64_t dim, size = 1, stride = 0;
    const Tensor& index;
    Dims strides;  // of self, with 0 at dim

    // An error where an index is out of bounds.
    Along(const Tensor& self, int64_t dim, const Tensor& index, const char* op)
        : dim(dim), index(index), strides(self.strides()) {
        if (self.dim() > 0) {
            size = self.sizes()[dim];
            stride = self.strides()[dim];
            strides[dim] = 0;
        }
        strides.resize(index.sizes().size());
        int64_t count = 1;  // of those that lie in memory, without repetitions
        for (size_t d = 0; d < index.sizes().size(); ++d)
            count *= index.strides()[d] == 0 ? std::min<int64_t>(index.sizes()[d], 1) : index.sizes()[d];
        const int64_t* p = index.data_as<int64_t>();
        if (all_within(p, count, 0, size)) [[likely]]
            return;
        for (int64_t i = 0; i < count; ++i)
            if (p[i] < 0 || p[i] >= size)
                fail(ErrorKind::Index, "[", op, "] index ", p[i], " is out of bounds for dimension ", dim,
                     " with size ", size);
    }
};

}  // namespace wengert::kernels
