#include "generated/ops/formulas/shape/views.h"

#include <algorithm>

#include "base/checked_math.h"
#include "generated/ops/comparison.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/shape/shape.h"

namespace wengert::ops::formulas {

Dims inverse_permutation(IntSpan dims) {
    const int64_t n = static_cast<int64_t>(dims.size());
    Dims inverse(dims.size());
    for (int64_t i = 0; i < n; ++i)
        inverse[static_cast<size_t>(wrap_dim(dims[static_cast<size_t>(i)], n, "permute"))] = i;
    return inverse;
}

Tensor as_strided_grad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                       std::optional<int64_t> storage_offset) {
    return ops::as_strided_backward(grad, sizes, strides, offset, size, stride, storage_offset.value_or(offset));
}

// The adjoint of as_strided_backward: write into a flat picture of the storage, then look at that as the view did.
Tensor as_strided_regrad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                         IntSpan stride, int64_t storage_offset) {
    auto last = [](IntSpan sizes, IntSpan strides, int64_t offset) {
        for (size_t i = 0; i < sizes.size(); ++i) offset += (sizes[i] - 1) * strides[i];
        return offset;
    };
    if (numel_of(sizes) == 0 || numel_of(size) == 0) return zeros(size, grad.dtype(), grad.device());
    const int64_t base = std::min(offset, storage_offset);
    const int64_t length = std::max(last(sizes, strides, offset), last(size, stride, storage_offset)) - base + 1;
    Tensor memory = ops::as_strided_backward(grad, Dims{length}, Dims{1}, 0, sizes, strides, offset - base);
    return ops::as_strided(memory, size, stride, storage_offset - base);
}

Tensor outside_of_strided(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                          IntSpan stride, std::optional<int64_t> storage_offset) {
    return ops::where(
        kernels::strided_region(sizes, strides, offset, size, stride, storage_offset.value_or(offset), grad.device()),
        0, grad);
}

Tensor inside_of_strided(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                         IntSpan stride, std::optional<int64_t> storage_offset) {
    return as_strided_regrad(grad, sizes, strides, offset, size, stride, storage_offset.value_or(offset));
}

// --- Lists of views

Tensor unbind_grad(TensorSpan grads, IntSpan sizes, DType dtype, Device device, int64_t dim) {
    if (grads.empty()) return zeros(sizes, dtype, device);
    Dims part(sizes);
    part.erase(static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size()), "unbind")));
    TensorList parts;
    for (const Tensor& g : grads) parts.push_back(g.defined() ? g : zeros(part, dtype, device));
    return ops::stack(parts, dim);
}

Tensor split_with_sizes_grad(TensorSpan grads, IntSpan sizes, DType dtype, Device device, IntSpan split_sizes,
                             int64_t dim) {
    if (grads.empty()) return zeros(sizes, dtype, device);
    const auto at = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size()), "split"));
    Dims part(sizes);
    TensorList parts;
    for (size_t i = 0; i < grads.size(); ++i) {
        part[at] = split_sizes[i];
        parts.push_back(grads[i].defined() ? grads[i] : zeros(part, dtype, device));
    }
    return ops::cat(parts, dim);
}

Tensor split_grad(TensorSpan grads, IntSpan sizes, DType dtype, Device device, int64_t split_size, int64_t dim) {
    const int64_t size = sizes[static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size()), "split"))];
    split_size = std::min(split_size, size);
    Dims split_sizes(grads.size(), split_size);
    if (!grads.empty()) split_sizes.back() = size - split_size * static_cast<int64_t>(grads.size() - 1);
    return split_with_sizes_grad(grads, sizes, dtype, device, split_sizes, dim);
}

namespace {

// The sizes of the pieces that `chunk` makes.
Dims chunk_sizes(const Tensor& self, int64_t chunks, int64_t dim) {
    check(self.dim() > 0, ErrorKind::Runtime, "chunk expects at least a 1-dimensional tensor");
    check(chunks > 0, ErrorKind::Runtime, "chunk expects `chunks` to be greater than 0, got: ", chunks);
    const int64_t size = self.size(dim), part = ceil_div(size, chunks);
    check_parts(size == 0 ? chunks : 0, size, "chunk");
    if (size == 0) return Dims(static_cast<size_t>(chunks), 0);
    Dims sizes(static_cast<size_t>(ceil_div(size, part)), part);
    sizes.back() = size - part * (static_cast<int64_t>(sizes.size()) - 1);
    return sizes;
}

}  // namespace

TensorList chunks_of(const Tensor& self, int64_t chunks, int64_t dim) {
    const Dims sizes = chunk_sizes(self, chunks, dim);
    return self.size(dim) == 0 ? ops::split_with_sizes(self, sizes, dim) : ops::split(self, sizes[0], dim);
}
TensorList unsafe_chunks_of(const Tensor& self, int64_t chunks, int64_t dim) {
    const Dims sizes = chunk_sizes(self, chunks, dim);
    return self.size(dim) == 0 ? ops::unsafe_split_with_sizes(self, sizes, dim)
                               : ops::unsafe_split(self, sizes[0], dim);
}

TensorList sections_of(const Tensor& self, int64_t sections, int64_t dim) {
    check(sections > 0, ErrorKind::Runtime, "number of sections must be larger than 0, got ", sections);
    const int64_t size = self.dim() > 0 ? self.size(dim) : 0;
    check_parts(sections, size, "tensor_split");
    Dims ends;
    for (int64_t i = 0, end = 0; i < sections - 1; ++i) ends.push_back(end += size / sections + (i < size % sections));
    return sections_at(self, ends, dim);
}

TensorList equal_sections(const Tensor& self, int64_t sections, int64_t dim) {
    if (dim == 1 && self.dim() == 1) dim = 0;
    const char* name = dim == 2 ? "dsplit" : dim == 1 || self.dim() == 1 ? "hsplit" : "vsplit";
    check(self.dim() > dim, ErrorKind::Runtime, "[", name, "] requires a tensor with at least ", dim + 1,
          " dimension, but got a tensor with ", self.dim(), " dimensions!");
    check(sections > 0 && self.size(dim) % sections == 0, ErrorKind::Runtime, "[", name,
          "] attempted to split along dimension ", dim, ", but the size of the dimension ", self.size(dim),
          " is not divisible by the split_size ", sections, "!");
    return sections_of(self, sections, dim);
}

TensorList sections_at(const Tensor& self, IntSpan indices, int64_t dim) {
    check(self.dim() > 0, ErrorKind::Runtime,
          "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", self.dim(), " dims");
    TensorList parts;
    int64_t start = 0;
    for (int64_t end : indices) {
        parts.push_back(ops::slice(self, dim, start, end));
        start = end;
    }
    parts.push_back(ops::slice(self, dim, start, self.size(dim)));
    return parts;
}

TensorList sections_by(const Tensor& self, const Tensor& given, int64_t dim) {
    check(is_integral(given.dtype()) && given.dim() <= 1, ErrorKind::Runtime,
          "tensor_split expected tensor_indices_or_sections to be zero-dimensional or one-dimensional integers, but "
          "got a tensor with ",
          given.dim(), " dims and dtype ", given.dtype());
    const Tensor numbers =
        kernels::contiguous(kernels::to_dtype(kernels::on_host(given, "tensor_split"), DType::Int64));
    const int64_t* first = numbers.data_as<int64_t>();
    return given.dim() == 0 ? sections_of(self, *first, dim)
                            : sections_at(self, IntSpan(first, first + numbers.numel()), dim);
}

TensorList meshgrid_of(TensorSpan tensors, std::string_view indexing) {
    TensorList grids;
    for (const Tensor& grid : kernels::meshgrid(tensors, indexing)) {  // the geometry is the kernel's
        const Tensor& t = tensors[grids.size()];
        Dims line(grid.sizes().size(), 1);
        const size_t at = indexing == "xy" && grids.size() < 2 && tensors.size() > 1 ? 1 - grids.size() : grids.size();
        line[at] = t.numel();
        grids.push_back(ops::expand(ops::reshape(t, line), grid.sizes()));
    }
    return grids;
}

TensorList broadcast_all(TensorSpan tensors) {
    Dims shape;
    for (const Tensor& t : tensors) shape = broadcast_shapes(shape, t.sizes(), "broadcast_tensors");
    TensorList out;
    for (const Tensor& t : tensors) out.push_back(ops::expand(t, shape));
    return out;
}

// --- Other shapes

Tensor view_or_copy(const Tensor& self, IntSpan shape) {
    const Dims sizes = infer_shape(shape, self.numel(), "reshape");
    Dims strides;
    return view_strides(self.sizes(), self.strides(), sizes, &strides) ? ops::view(self, sizes)
                                                                       : ops::reshaped_copy(self, sizes);
}

Tensor flattened(const Tensor& self, int64_t start_dim, int64_t end_dim) {
    if (self.dim() == 0) return ops::reshape(self, Dims{1});
    const auto start = static_cast<size_t>(wrap_dim(start_dim, self.dim(), "flatten"));
    const auto end = static_cast<size_t>(wrap_dim(end_dim, self.dim(), "flatten"));
    check(start <= end, ErrorKind::Runtime, "flatten() has invalid args: start_dim cannot come after end_dim");
    if (start == end) return self;
    const IntSpan sizes = self.sizes();
    Dims shape(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(start));
    shape.push_back(numel_of(sizes.subspan(start, end - start + 1)));
    for (size_t d = end + 1; d < sizes.size(); ++d) shape.push_back(sizes[d]);
    return ops::reshape(self, shape);
}

Tensor unflattened(const Tensor& self, int64_t dim, IntSpan sizes) {
    check(self.dim() > 0, ErrorKind::Runtime, "unflatten: the input must have at least one dimension");
    const auto at = static_cast<size_t>(wrap_dim(dim, self.dim(), "unflatten"));
    const int64_t size = self.sizes()[at];
    const Dims inner = infer_shape(sizes, size, "unflatten");
    check(numel_of(inner) == size, ErrorKind::Runtime, "unflatten: Provided sizes ", ShapeOf{sizes},
          " don't multiply up to the size of dim ", dim, " (", size, ") in the input tensor");
    Dims shape;
    for (size_t d = 0; d < self.sizes().size(); ++d) {
        if (d != at) shape.push_back(self.sizes()[d]);
        if (d == at)
            for (int64_t s : inner) shape.push_back(s);
    }
    return ops::view(self, shape);
}

Dims reversed_dims(int64_t n) {
    Dims order;
    for (int64_t d = n - 1; d >= 0; --d) order.push_back(d);
    return order;
}

Dims moved_dims(int64_t n, IntSpan source, IntSpan destination) {
    check(source.size() == destination.size(), ErrorKind::Runtime,
          "movedim: Invalid source or destination dims: source (", ShapeOf{source},
          " dims) should contain the same number of dims as destination (", ShapeOf{destination}, " dims)");
    Dims order(static_cast<size_t>(n), -1);
    SmallVector<bool, 8> moved(static_cast<size_t>(n), false);
    for (size_t i = 0; i < source.size(); ++i) {
        const auto from = static_cast<size_t>(wrap_dim(source[i], n, "movedim"));
        const auto to = static_cast<size_t>(wrap_dim(destination[i], n, "movedim"));
        if (n == 0) continue;  // 0 and -1 are dimensions of numbers too, as everywhere
        check(!moved[from] && order[to] < 0, ErrorKind::Runtime, "movedim: repeated dim in `source` ", ShapeOf{source},
              " or `destination` ", ShapeOf{destination});
        moved[from] = true;
        order[to] = static_cast<int64_t>(from);
    }
    size_t next = 0;
    for (int64_t& d : order) {
        if (d >= 0) continue;
        while (moved[next]) ++next;
        d = static_cast<int64_t>(next++);
    }
    return order;
}

Tensor narrowed(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
    check(self.dim() > 0, ErrorKind::Runtime, "narrow() cannot be applied to a 0-dim tensor.");
    check(length >= 0, ErrorKind::Runtime, "narrow(): length must be non-negative.");
    const int64_t size = self.size(dim);
    check(-size <= start && start <= size, ErrorKind::Index, "start out of range (expected to be in range of [", -size,
          ", ", size, "], but got ", start, ")");
    if (start < 0) start += size;
    check(length <= size - start, ErrorKind::Runtime, "start (", start, ") + length (", length,
          ") exceeds dimension size (", size, ").");
    return ops::slice(self, dim, start, start + length);
}

Tensor at_least(const Tensor& self, int64_t dims) {
    Tensor t = self;
    if (t.dim() == 0) t = ops::reshape(t, Dims{1});
    if (dims >= 2 && t.dim() == 1) t = ops::unsqueeze(t, 0);
    if (dims >= 3 && t.dim() == 2) t = ops::unsqueeze(t, -1);
    return t;
}

TensorList each_at_least(TensorSpan tensors, int64_t dims) {
    TensorList out;
    for (const Tensor& t : tensors) out.push_back(at_least(t, dims));
    return out;
}

}  // namespace wengert::ops::formulas
