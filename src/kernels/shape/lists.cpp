// Views that come as lists, and lists brought to one shape (see shape.h).
#include <algorithm>

#include "base/checked_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {

TensorList unbind(const Tensor& self, int64_t dim) {
    check(self.dim() > 0, ErrorKind::Index, "[unbind] Dimension specified as ", dim, " but tensor has no dimensions");
    dim = wrap_dim(dim, self.dim(), "unbind");
    TensorList out;
    for (int64_t i = 0; i < self.sizes()[dim]; ++i) out.push_back(select(self, dim, i));
    return out;
}

TensorList split(const Tensor& self, int64_t split_size, int64_t dim) {
    check(self.dim() > 0, ErrorKind::Runtime, "split expects at least a 1-dimensional tensor");
    check(split_size >= 0, ErrorKind::Runtime,
          "split expects split_size be non-negative, but got split_size=", split_size);
    dim = wrap_dim(dim, self.dim(), "split");
    const int64_t size = self.sizes()[dim];
    check(split_size > 0 || size == 0, ErrorKind::Runtime,
          "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
    TensorList out;
    if (size == 0) {
        out.push_back(alias(self));
        return out;
    }
    split_size = std::min(split_size, size);
    for (int64_t start = 0; start < size; start += split_size)
        out.push_back(slice(self, dim, start, std::min(start + split_size, size), 1));
    return out;
}

TensorList split_with_sizes(const Tensor& self, IntSpan split_sizes, int64_t dim) {
    check(self.dim() > 0, ErrorKind::Runtime, "split expects at least a 1-dimensional tensor");
    dim = wrap_dim(dim, self.dim(), "split_with_sizes");
    int64_t start = 0;
    for (int64_t s : split_sizes) {
        check(s >= 0, ErrorKind::Runtime,
              "split_with_sizes expects split_sizes have only non-negative entries, but got ",
              "split_sizes=", ShapeOf{split_sizes});
        start = checked_add(start, s, "split_with_sizes");
    }
    check(start == self.sizes()[dim], ErrorKind::Runtime, "split_with_sizes expects split_sizes to sum exactly to ",
          self.sizes()[dim], " (input tensor's size at dimension ", dim,
          "), but got split_sizes=", ShapeOf{split_sizes});
    TensorList out;
    start = 0;
    for (int64_t s : split_sizes) {
        out.push_back(slice(self, dim, start, start + s, 1));
        start += s;
    }
    return out;
}

TensorList meshgrid(TensorSpan tensors, std::string_view indexing) {
    check(indexing == "ij" || indexing == "xy", ErrorKind::Runtime,
          "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
    check(!tensors.empty(), ErrorKind::Runtime, "meshgrid expects a non-empty TensorList");
    const bool swap = indexing == "xy" && tensors.size() >= 2;
    Dims shape;
    for (const Tensor& t : tensors) {
        check(t.dim() <= 1, ErrorKind::Runtime, "meshgrid: Expected 0D or 1D tensor in the tensor list but got shape ",
              ShapeOf{t.sizes()});
        check(t.dtype() == tensors[0].dtype(), ErrorKind::Runtime,
              "meshgrid expects all tensors to have the same dtype");
        shape.push_back(t.numel());
    }
    if (swap) std::swap(shape[0], shape[1]);
    TensorList out;
    for (size_t i = 0; i < tensors.size(); ++i) {
        Dims line(tensors.size(), 1);
        line[swap && i < 2 ? 1 - i : i] = tensors[i].numel();
        out.push_back(expand(view(tensors[i], line), shape));
    }
    return out;
}

}  // namespace wengert::kernels
