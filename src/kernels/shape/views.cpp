// Views: geometry only (see shape.h).
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

Tensor with_geometry(const Tensor& self, const Dims& sizes, const Dims& strides) {
    return alias(self, sizes, strides, self.offset());
}

Dims wrapped_dims(IntSpan dims, int64_t ndim, const char* op) {
    Dims out;
    for (int64_t d : dims) out.push_back(wrap_dim(d, ndim, op));
    Dims sorted = out;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 1; i < sorted.size(); ++i)
        check(sorted[i] != sorted[i - 1], ErrorKind::Runtime, "[", op, "] dim ", sorted[i],
              " appears multiple times in the list of dims");
    return out;
}

}  // namespace

Tensor view(const Tensor& self, IntSpan size) {
    Dims shape = infer_shape(size, self.numel(), "view"), strides;
    check(view_strides(self.sizes(), self.strides(), shape, &strides), ErrorKind::Runtime,
          "[view] view size is not compatible with input tensor's size and stride (at least one dimension spans across "
          "two contiguous subspaces): ",
          ShapeOf{self.sizes()}, " with strides ", ShapeOf{self.strides()}, " as ", ShapeOf{shape},
          ". Use .reshape(...) instead.");
    return with_geometry(self, shape, strides);
}

Tensor view_dtype(const Tensor& self, DType dtype) {
    const int64_t from = item_size(self.dtype()), to = item_size(dtype);
    if (from == to) return alias_as(self, dtype, self.sizes(), self.strides(), self.offset());
    check(self.dim() > 0, ErrorKind::Runtime, "[view] self.dim() cannot be 0 to view ", self.dtype(), " as ", dtype,
          " (different element sizes)");
    Dims sizes = self.sizes(), strides = self.strides();
    check(strides.back() == 1, ErrorKind::Runtime, "[view] self.stride(-1) must be 1 to view ", self.dtype(), " as ",
          dtype, " (different element sizes), but got ", strides.back());
    const int64_t ratio = std::max(from, to) / std::min(from, to);
    for (size_t d = 0; d + 1 < sizes.size(); ++d) {
        check(from > to || strides[d] % ratio == 0, ErrorKind::Runtime, "[view] self.stride(", d,
              ") must be divisible by ", ratio, " to view ", self.dtype(), " as ", dtype);
        strides[d] = from > to ? strides[d] * ratio : strides[d] / ratio;
    }
    strides.back() = 1;
    if (from > to) {
        sizes.back() *= ratio;
        return alias_as(self, dtype, sizes, strides, self.offset() * ratio);
    }
    check(sizes.back() % ratio == 0 && self.offset() % ratio == 0, ErrorKind::Runtime,
          "[view] self.size(-1) must be divisible by ", ratio, " to view ", self.dtype(), " as ", dtype,
          " (different element sizes), but got ", sizes.back());
    sizes.back() /= ratio;
    return alias_as(self, dtype, sizes, strides, self.offset() / ratio);
}

Tensor reshape(const Tensor& self, IntSpan shape) {
    Dims sizes = infer_shape(shape, self.numel(), "reshape"), strides;
    if (view_strides(self.sizes(), self.strides(), sizes, &strides)) return with_geometry(self, sizes, strides);
    Tensor dense = contiguous(self);
    return alias(dense, sizes, contiguous_strides(sizes), dense.offset());
}

Tensor permute(const Tensor& self, IntSpan dims) {
    check(static_cast<int64_t>(dims.size()) == self.dim(), ErrorKind::Runtime,
          "[permute] number of dimensions in the tensor input does not match the length of the desired ordering of "
          "dimensions i.e. input.dim() = ",
          self.dim(), " is not equal to len(dims) = ", dims.size());
    Dims sizes, strides;
    SmallVector<bool, 8> seen(dims.size(), false);
    for (int64_t dim : dims) {
        int64_t d = wrap_dim(dim, self.dim(), "permute");
        check(!seen[d], ErrorKind::Runtime, "permute(): duplicate dims are not allowed, got ", ShapeOf{dims});
        seen[d] = true;
        sizes.push_back(self.sizes()[d]);
        strides.push_back(self.strides()[d]);
    }
    return with_geometry(self, sizes, strides);
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
    dim0 = wrap_dim(dim0, self.dim(), "transpose");
    dim1 = wrap_dim(dim1, self.dim(), "transpose");
    Dims sizes = self.sizes(), strides = self.strides();
    if (self.dim() > 0) {
        std::swap(sizes[dim0], sizes[dim1]);
        std::swap(strides[dim0], strides[dim1]);
    }
    return with_geometry(self, sizes, strides);
}

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) { return transpose(self, axis0, axis1); }

Tensor t(const Tensor& self) {
    check(self.dim() <= 2, ErrorKind::Runtime, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(),
          "D; use transpose(dim0, dim1)");
    return self.dim() < 2 ? alias(self) : transpose(self, 0, 1);
}

namespace {
Tensor squeeze_where(const Tensor& self, const SmallVector<bool, 8>& chosen) {
    Dims sizes, strides;
    for (size_t d = 0; d < self.sizes().size(); ++d) {
        if (chosen[d] && self.sizes()[d] == 1) continue;
        sizes.push_back(self.sizes()[d]);
        strides.push_back(self.strides()[d]);
    }
    return with_geometry(self, sizes, strides);
}
}  // namespace

Tensor squeeze(const Tensor& self) { return squeeze_where(self, SmallVector<bool, 8>(self.sizes().size(), true)); }

Tensor squeeze_dim(const Tensor& self, int64_t dim) { return squeeze_dims(self, IntSpan(&dim, 1)); }

Tensor squeeze_dims(const Tensor& self, IntSpan dims) {
    SmallVector<bool, 8> chosen(std::max<size_t>(self.sizes().size(), 1), false);
    for (int64_t d : wrapped_dims(dims, self.dim(), "squeeze")) chosen[d] = true;
    return squeeze_where(self, chosen);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
    dim = wrap_dim(dim, self.dim() + 1, "unsqueeze");
    Dims sizes = self.sizes(), strides = self.strides();
    int64_t stride = dim < self.dim() ? sizes[dim] * strides[dim] : 1;
    sizes.insert(dim, 1);
    strides.insert(dim, stride);
    return with_geometry(self, sizes, strides);
}

Tensor expand(const Tensor& self, IntSpan size) {
    check(size.size() >= self.sizes().size(), ErrorKind::Runtime, "[expand] the number of sizes provided (",
          size.size(), ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
    const size_t lead = size.size() - self.sizes().size();
    Dims sizes(size), strides(size.size(), 0);
    for (size_t d = 0; d < size.size(); ++d) {
        if (d < lead) {
            check(size[d] >= 0, ErrorKind::Runtime, "[expand] The expanded size of the tensor (", size[d],
                  ") isn't allowed in a leading, non-existing dimension ", d);
            continue;
        }
        int64_t have = self.sizes()[d - lead];
        if (size[d] == -1) sizes[d] = have;
        check(sizes[d] >= 0 && (have == 1 || have == sizes[d]), ErrorKind::Runtime,
              "[expand] The expanded size of the tensor (", size[d], ") must match the existing size (", have,
              ") at non-singleton dimension ", d, ".  Target sizes: ", ShapeOf{size},
              ".  Tensor sizes: ", ShapeOf{self.sizes()});
        strides[d] = have == 1 && sizes[d] != 1 ? 0 : self.strides()[d - lead];
    }
    return with_geometry(self, sizes, strides);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
    check(self.dim() > 0, ErrorKind::Runtime, "narrow() cannot be applied to a 0-dim tensor.");
    check(length >= 0, ErrorKind::Runtime, "narrow(): length must be non-negative, got ", length);
    dim = wrap_dim(dim, self.dim(), "narrow");
    int64_t size = self.sizes()[dim];
    check(-size <= start && start <= size, ErrorKind::Index,
          "[narrow] start out of range (expected to be in range of [", -size, ", ", size, "], but got ", start, ")");
    if (start < 0) start += size;
    check(start <= size - length, ErrorKind::Runtime, "[narrow] start (", start, ") + length (", length,
          ") exceeds dimension size (", size, ").");
    return slice(self, dim, start, start + length, 1);
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
    check(self.dim() > 0, ErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
    if (dim != 0) dim = wrap_dim(dim, self.dim(), "select");
    int64_t size = self.sizes()[dim];
    check(-size <= index && index < size, ErrorKind::Index, "select(): index ", index,
          " out of range for tensor of size ", ShapeOf{self.sizes()}, " at dimension ", dim);
    if (index < 0) index += size;
    if (dim == 0)  // nearly always: the rest as it is
        return alias_as(self, self.dtype(), IntSpan(self.sizes()).subspan(1), IntSpan(self.strides()).subspan(1),
                        self.offset() + index * self.strides()[0]);
    Dims sizes, strides;
    for (size_t d = 0; d < self.sizes().size(); ++d)
        if (d != static_cast<size_t>(dim)) {
            sizes.push_back(self.sizes()[d]);
            strides.push_back(self.strides()[d]);
        }
    return alias(self, sizes, strides, self.offset() + index * self.strides()[dim]);
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
    check(self.dim() > 0, ErrorKind::Index, "slice() cannot be applied to a 0-dim tensor.");
    check(step > 0, ErrorKind::Value, "slice step must be positive, got ", step, "; use flip to reverse");
    dim = wrap_dim(dim, self.dim(), "slice");
    Dims sizes = self.sizes(), strides = self.strides();
    const int64_t size = sizes[dim];
    auto clamp = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
    int64_t first = clamp(start.value_or(0)), last = std::max(first, clamp(end.value_or(size)));
    int64_t offset = self.offset() + first * strides[dim];
    sizes[dim] = (last - first) / step + ((last - first) % step != 0);
    strides[dim] = saturated_mul(strides[dim], step);
    return alias(self, sizes, strides, offset);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
    int64_t a = wrap_dim(dim1, self.dim(), "diagonal"), b = wrap_dim(dim2, self.dim(), "diagonal");
    check(a != b, ErrorKind::Runtime, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
    Dims sizes = self.sizes(), strides = self.strides();
    offset = std::clamp(offset, -sizes[a], sizes[b]);
    int64_t rows = sizes[a] - std::max<int64_t>(-offset, 0), cols = sizes[b] - std::max<int64_t>(offset, 0);
    int64_t length = std::max<int64_t>(std::min(rows, cols), 0);
    int64_t start = self.offset();
    if (length > 0) start += offset >= 0 ? offset * strides[b] : -offset * strides[a];
    int64_t stride = strides[a] + strides[b];
    sizes.erase(std::max(a, b)), sizes.erase(std::min(a, b));
    strides.erase(std::max(a, b)), strides.erase(std::min(a, b));
    sizes.push_back(length);
    strides.push_back(stride);
    return alias(self, sizes, strides, start);
}

Tensor unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step) {
    dim = wrap_dim(dim, self.dim(), "unfold");
    Dims sizes = self.sizes(), strides = self.strides();
    if (self.dim() == 0) {
        sizes = {1};
        strides = {1};
    }
    check(size >= 0, ErrorKind::Runtime, "[unfold] size is ", size, " but must be >= 0");
    check(step > 0, ErrorKind::Runtime, "[unfold] step is ", step, " but must be > 0");
    check(size <= sizes[dim], ErrorKind::Runtime, "[unfold] maximum size for tensor at dimension ", dim, " is ",
          sizes[dim], " but size is ", size);
    int64_t windows = (sizes[dim] - size) / step + 1, stride = strides[dim];
    if (self.dim() > 0) {
        sizes[dim] = windows;
        strides[dim] = saturated_mul(stride, step);
    } else {
        sizes.clear();
        strides.clear();
    }
    sizes.push_back(size);
    strides.push_back(stride);
    return with_geometry(self, sizes, strides);
}

Tensor as_strided(const Tensor& self, IntSpan size, IntSpan stride, std::optional<int64_t> storage_offset) {
    check(size.size() == stride.size(), ErrorKind::Runtime,
          "[as_strided] mismatch in length of strides and shape: ", ShapeOf{stride}, " and ", ShapeOf{size});
    int64_t offset = storage_offset.value_or(self.offset()), last = offset;
    const bool empty = std::ranges::find(size, 0) != size.end();
    for (size_t d = 0; d < size.size(); ++d) {
        check(stride[d] >= 0, ErrorKind::Runtime,
              "as_strided: Negative strides are not supported at the moment, got strides: ", ShapeOf{stride});
        if (empty) continue;
        const int64_t steps = checked_add(size[d], -1, "as_strided");
        last = checked_add(last, checked_mul(steps, stride[d], "as_strided"), "as_strided");
    }
    int64_t needed = empty ? 0 : checked_mul(checked_add(last, 1, "as_strided"), item_size(self.dtype()), "as_strided");
    check(offset >= 0 && needed <= self.storage()->bytes(), ErrorKind::Runtime, "setStorage: sizes ", ShapeOf{size},
          ", strides ", ShapeOf{stride}, ", storage offset ", offset, ", and itemsize ", item_size(self.dtype()),
          " requiring a storage size of ", needed, " are out of bounds for storage of size ", self.storage()->bytes());
    return alias(self, size, stride, offset);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
    start_dim = wrap_dim(start_dim, self.dim(), "flatten");
    end_dim = wrap_dim(end_dim, self.dim(), "flatten");
    check(start_dim <= end_dim, ErrorKind::Runtime,
          "flatten() has invalid args: start_dim cannot come after end_dim, got ", start_dim, " and ", end_dim);
    if (self.dim() == 0) return reshape(self, Dims{1});
    Dims shape(self.sizes().begin(), self.sizes().begin() + start_dim);
    shape.push_back(1);
    for (int64_t d = start_dim; d <= end_dim; ++d) shape.back() *= self.sizes()[d];
    for (int64_t d = end_dim + 1; d < self.dim(); ++d) shape.push_back(self.sizes()[d]);
    return reshape(self, shape);
}

Tensor movedim(const Tensor& self, IntSpan source, IntSpan destination) {
    check(source.size() == destination.size(), ErrorKind::Runtime,
          "movedim: Invalid source or destination dims: source (", ShapeOf{source},
          " dims) should contain the same number of dims as destination (", ShapeOf{destination}, " dims)");
    auto wrapped = [&](IntSpan dims, const char* name) {
        Dims out;
        for (int64_t dim : dims) {
            int64_t d = wrap_dim(dim, self.dim(), "movedim");
            check(std::find(out.begin(), out.end(), d) == out.end(), ErrorKind::Runtime, "movedim: repeated dim in `",
                  name, "` (", ShapeOf{dims}, ")");
            out.push_back(d);
        }
        return out;
    };
    Dims from = wrapped(source, "source"), to = wrapped(destination, "destination");
    if (self.dim() == 0) return alias(self);
    Dims order(self.sizes().size(), -1);
    for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
    int64_t next = 0;
    for (int64_t& d : order) {
        if (d >= 0) continue;
        while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
        d = next++;
    }
    return permute(self, order);
}

Tensor view_as_real(const Tensor& self) {
    check(is_complex(self.dtype()), ErrorKind::Runtime, "view_as_real is only supported for complex tensors, got ",
          self.dtype());
    Dims sizes = self.sizes(), strides;
    for (int64_t s : self.strides()) strides.push_back(2 * s);
    sizes.push_back(2);
    strides.push_back(1);
    return alias_as(self, real_dtype(self.dtype()), sizes, strides, 2 * self.offset());
}

Tensor view_as_complex(const Tensor& self) {
    check(is_floating(self.dtype()) && !is_reduced_floating(self.dtype()), ErrorKind::Runtime,
          "view_as_complex is only supported for float and double tensors, but got a tensor of dtype ", self.dtype());
    check(self.dim() > 0 && self.sizes().back() == 2, ErrorKind::Runtime,
          "[view_as_complex] Tensor must have a last dimension of size 2, got shape ", ShapeOf{self.sizes()});
    check(self.strides().back() == 1, ErrorKind::Runtime,
          "[view_as_complex] Tensor must have a last dimension with stride 1, got ", self.strides().back());
    Dims sizes(self.sizes().begin(), self.sizes().end() - 1), strides(self.strides().begin(), self.strides().end() - 1);
    for (size_t d = 0; d < strides.size(); ++d) {
        check(strides[d] % 2 == 0 || sizes[d] <= 1, ErrorKind::Runtime,
              "[view_as_complex] Tensor must have a stride divisible by 2 for all but last dimension, got ",
              strides[d]);
        strides[d] /= 2;
    }
    check(self.offset() % 2 == 0, ErrorKind::Runtime,
          "[view_as_complex] Tensor must have a storage_offset divisible by 2");
    return alias_as(self, complex_dtype(self.dtype()), sizes, strides, self.offset() / 2);
}

Tensor real(const Tensor& self) { return is_complex(self.dtype()) ? select(view_as_real(self), -1, 0) : alias(self); }

Tensor imag(const Tensor& self) {
    check(is_complex(self.dtype()), ErrorKind::Runtime,
          "imag is not implemented for tensors with non-complex dtypes, got ", self.dtype());
    return select(view_as_real(self), -1, 1);
}

}  // namespace wengert::kernels
