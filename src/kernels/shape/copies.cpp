// Copies that rearrange elements (see shape.h). Each describes its result as views of the operand and copies those.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"
#include "kernels/shape/shape_kernels.h"
#include "tensor/promotion.h"

namespace wengert::kernels {

Tensor clone_in(const Tensor& self, std::optional<MemoryFormat> format) {
    if (format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve) return clone(self);
    Tensor out = empty_strided(self.sizes(), strides_in(self.sizes(), *format), self.dtype(), self.device());
    copy_disjoint(out, self);
    return out;
}

Tensor full_of(const Tensor& like, const Tensor& value) {
    check(value.dim() == 0, ErrorKind::Runtime, "fill only supports 0-dimension value tensor but got tensor with ",
          value.dim(), " dimensions; use where");
    Tensor out = empty_like(like);
    copy_into(out, expand(value, like.sizes()));
    return out;
}

Tensor fresh(const Tensor& view) { return clone_in(view, MemoryFormat::Contiguous); }
TensorList fresh(const TensorList& views) {
    TensorList copies;
    for (const Tensor& view : views) copies.push_back(fresh(view));
    return copies;
}

Tensor cat(TensorSpan tensors, int64_t dim) {
    check(!tensors.empty(), ErrorKind::Value, "cat(): expected a non-empty list of Tensors");
    // Empty one-dimensional tensors go with any shape, as they always did.
    auto skipped = [](const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; };
    const Tensor* first = nullptr;
    DType dtype = tensors[0].dtype();
    SmallVector<Operand, 8> operands;
    for (size_t i = 0; i < tensors.size(); ++i) {
        check(tensors[i].dim() > 0, ErrorKind::Runtime, "[cat] zero-dimensional tensor (at position ", i,
              ") cannot be concatenated; use stack");
        operands.push_back(tensors[i]);
        if (!first && !skipped(tensors[i])) first = &tensors[i];
    }
    check_one_device(tensors, "cat");
    dtype = result_type(operands);
    if (!first) {
        wrap_dim(dim, 1, "cat");
        return empty(Dims{0}, dtype, tensors[0].device());
    }
    dim = wrap_dim(dim, first->dim(), "cat");
    Dims sizes = first->sizes();
    sizes[dim] = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& t = tensors[i];
        if (skipped(t)) continue;
        check(t.dim() == first->dim(), ErrorKind::Runtime, "[cat] Tensors must have same number of dimensions: got ",
              first->dim(), " and ", t.dim());
        for (int64_t d = 0; d < t.dim(); ++d)
            check(d == dim || t.sizes()[d] == sizes[d], ErrorKind::Runtime,
                  "[cat] Sizes of tensors must match except in dimension ", dim, ". Expected size ", sizes[d],
                  " but got size ", t.sizes()[d], " for tensor number ", i, " in the list.");
        sizes[dim] = checked_add(sizes[dim], t.sizes()[dim], "cat");
    }
    Tensor out = empty(sizes, dtype, first->device());
    int64_t start = 0;
    for (const Tensor& t : tensors) {
        if (skipped(t)) continue;
        Tensor part = alias(out, t.sizes(), out.strides(), start * out.strides()[dim]);
        copy_disjoint(part, t);
        start += t.sizes()[dim];
    }
    return out;
}

Tensor block_diag(TensorSpan tensors) {
    if (tensors.empty()) return zeros(Dims{1, 0}, default_dtype());
    check_one_device(tensors, "block_diag");
    SmallVector<Operand, 8> operands;
    int64_t rows = 0, columns = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& t = tensors[i];
        check(t.dim() <= 2, ErrorKind::Runtime, "block_diag: Input tensors must have 2 or fewer dimensions. Input ", i,
              " has ", t.dim(), " dimensions");
        operands.push_back(t);
        rows = checked_add(rows, t.dim() < 2 ? 1 : t.size(0), "block_diag");
        columns = checked_add(columns, t.dim() == 0 ? 1 : t.size(-1), "block_diag");
    }
    Tensor out = zeros(Dims{rows, columns}, result_type(operands), tensors[0].device());
    int64_t row = 0, column = 0;
    for (const Tensor& t : tensors) {
        const Dims sizes{t.dim() < 2 ? 1 : t.size(0), t.dim() == 0 ? 1 : t.size(-1)},
            strides{t.dim() < 2 ? 0 : t.strides()[0], t.dim() == 0 ? 0 : t.strides().back()};
        if (t.numel() > 0)
            copy_disjoint(alias(out, sizes, out.strides(), row * columns + column),
                          alias(t, sizes, strides, t.offset()));
        row += sizes[0];
        column += sizes[1];
    }
    return out;
}

Tensor stack(TensorSpan tensors, int64_t dim) {
    check(!tensors.empty(), ErrorKind::Runtime, "stack expects a non-empty TensorList");
    dim = wrap_dim(dim, tensors[0].dim() + 1, "stack");
    TensorList rows;
    for (size_t i = 0; i < tensors.size(); ++i) {
        check(same_shape(tensors[i], tensors[0]), ErrorKind::Runtime,
              "stack expects each tensor to be equal size, but got ", ShapeOf{tensors[0].sizes()}, " at entry 0 and ",
              ShapeOf{tensors[i].sizes()}, " at entry ", i);
        rows.push_back(unsqueeze(tensors[i], dim));
    }
    return cat(rows, dim);
}

Tensor repeat(const Tensor& self, IntSpan repeats) {
    check(repeats.size() >= self.sizes().size(), ErrorKind::Runtime,
          "[repeat] Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: ",
          ShapeOf{repeats}, " and ", ShapeOf{self.sizes()});
    const size_t lead = repeats.size() - self.sizes().size();
    // Result and operand are seen with two dimensions for each one: (repeats, size), the first with stride 0 in self.
    Dims sizes, pair_sizes, pair_strides;
    for (size_t d = 0; d < repeats.size(); ++d) {
        check(repeats[d] >= 0, ErrorKind::Runtime, "Trying to create tensor with negative dimension ", repeats[d],
              ": repeats ", ShapeOf{repeats});
        int64_t size = d < lead ? 1 : self.sizes()[d - lead];
        sizes.push_back(checked_mul(repeats[d], size, "repeat"));
        pair_sizes.push_back(repeats[d]), pair_sizes.push_back(size);
        pair_strides.push_back(0), pair_strides.push_back(d < lead ? 0 : self.strides()[d - lead]);
    }
    Tensor out = empty(sizes, self.dtype(), self.device());
    copy_disjoint(alias(out, pair_sizes, contiguous_strides(pair_sizes), 0),
                  alias(self, pair_sizes, pair_strides, self.offset()));
    return out;
}

Tensor repeat_interleave_index(const Tensor& repeats) {
    check(repeats.dim() == 1, ErrorKind::Runtime, "repeat_interleave only accept 1D vector as repeat, got shape ",
          ShapeOf{repeats.sizes()});
    check(repeats.dtype() == DType::Int64 || repeats.dtype() == DType::Int32, ErrorKind::Runtime,
          "repeats has to be Long or Int tensor, got ", repeats.dtype());
    Tensor counts = contiguous(to_dtype(repeats, DType::Int64));
    const int64_t total = counts.numel() == 0 ? 0 : total_of_repeats_kernel(counts);
    Tensor out = empty(Dims{total}, DType::Int64, counts.device());
    if (total > 0) repeated_positions_kernel(out, counts);
    return out;
}

namespace {

// A view in reversed order, which no tensor of a user may be.
Tensor reversed(const Tensor& self, IntSpan dims) {
    Dims strides = self.strides();
    SmallVector<bool, 8> seen(std::max<size_t>(strides.size(), 1), false);
    int64_t offset = self.offset();
    for (int64_t dim : dims) {
        int64_t d = wrap_dim(dim, self.dim(), "flip");
        check(!seen[d], ErrorKind::Runtime, "[flip] dim ", d, " appears multiple times in the list of dims");
        seen[d] = true;
        if (self.dim() == 0 || self.sizes()[d] == 0) continue;
        offset += (self.sizes()[d] - 1) * strides[d];
        strides[d] = -strides[d];
    }
    return alias(self, self.sizes(), strides, offset);
}

Tensor copy_of(const Tensor& view) {
    Tensor out = empty(view.sizes(), view.dtype(), view.device());
    if (view.numel() > 0) copy_disjoint(out, view);
    return out;
}

}  // namespace

Tensor flip(const Tensor& self, IntSpan dims) { return copy_of(reversed(self, dims)); }

Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims) {
    check(!shifts.empty(), ErrorKind::Runtime, "[roll] `shifts` required");
    if (dims.empty() && shifts.size() == 1) {
        Tensor dense = contiguous(self);
        Dims line{self.numel()}, zero{0};
        Tensor rolled = roll(alias(dense, line, Dims{1}, dense.offset()), shifts, zero);
        return alias(rolled, self.sizes(), contiguous_strides(self.sizes()), 0);
    }
    check(shifts.size() == dims.size(), ErrorKind::Runtime,
          "[roll] shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
    check(self.dim() > 0, ErrorKind::Index, "[roll] Dimension specified as ", dims[0], " but tensor has no dimensions");
    Tensor current = self;
    for (size_t i = 0; i < dims.size(); ++i) {
        int64_t d = wrap_dim(dims[i], self.dim(), "roll");
        Tensor out = empty(self.sizes(), self.dtype(), self.device());
        if (self.numel() == 0) return out;
        (void)checked_neg(shifts[i], "roll");  // the shift of the gradient
        int64_t size = self.sizes()[d], shift = ((shifts[i] % size) + size) % size;
        copy_disjoint(slice(out, d, 0, shift), slice(current, d, size - shift, size));
        copy_disjoint(slice(out, d, shift, size), slice(current, d, 0, size - shift));
        current = out;
    }
    return current;
}

Tensor rot90(const Tensor& self, int64_t k, IntSpan dims) {
    Dims plane = dims.empty() ? Dims{0, 1} : Dims(dims);
    check(plane.size() == 2, ErrorKind::Runtime,
          "[rot90] expected total rotation dims == 2, but got dims = ", plane.size());
    check(self.dim() >= 2, ErrorKind::Runtime, "[rot90] expected total dims >= 2, but got total dims = ", self.dim());
    int64_t a = wrap_dim(plane[0], self.dim(), "rot90"), b = wrap_dim(plane[1], self.dim(), "rot90");
    check(a != b, ErrorKind::Runtime, "[rot90] expected rotation dims to be different, but got dim0 = ", plane[0],
          " and dim1 = ", plane[1]);
    (void)checked_neg(k, "rot90");  // the turn of the gradient
    switch (((k % 4) + 4) % 4) {
        case 1:
            return copy_of(transpose(reversed(self, Dims{b}), a, b));
        case 2:
            return flip(self, Dims{a, b});
        case 3:
            return copy_of(transpose(reversed(self, Dims{a}), a, b));
        default:
            return clone(self);
    }
}

namespace {
Tensor triangle(const Tensor& self, int64_t diagonal, bool lower, const char* op) {
    check(self.dim() >= 2, ErrorKind::Runtime, op, ": input tensor must have at least 2 dimensions, got shape ",
          ShapeOf{self.sizes()});
    const Tensor dense = contiguous(self);
    Tensor out = empty(self.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) triangle_kernel(out, dense, diagonal, lower);
    return out;
}

// The same diagonal, or the nearest one outside of the matrices.
int64_t within(const Tensor& self, int64_t diagonal) {
    if (self.dim() < 2) return 0;
    return std::clamp(diagonal, -self.sizes()[self.dim() - 2] - 1, self.sizes()[self.dim() - 1]);
}
}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle(self, within(self, diagonal), true, "tril"); }
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle(self, within(self, diagonal), false, "triu"); }

void fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap) {
    check(self.dim() >= 2, ErrorKind::Runtime, "[fill_diagonal_] dimensions must larger than 1, got ", self.dim());
    const int64_t height = self.sizes()[0], width = self.sizes()[1];
    int64_t step = 0, length = std::min(height, width);
    for (size_t d = 0; d < self.sizes().size(); ++d) {
        check(self.dim() == 2 || self.sizes()[d] == height, ErrorKind::Runtime,
              "[fill_diagonal_] all dimensions of input must be of equal length, got shape ", ShapeOf{self.sizes()});
        step += self.strides()[d];
    }
    // A tall matrix has one row without an element between diagonals.
    const bool again = wrap && self.dim() == 2 && height > width + 1;
    for (int64_t row = 0; row < (again ? height : 1); row += width + 1)
        fill_(alias(self, Dims{again ? std::min(height - row, width) : length}, Dims{step},
                    self.offset() + row * self.strides()[0]),
              fill_value);
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
    const int64_t ndim = self.dim() + 1;
    int64_t a = wrap_dim(dim1, ndim, "diag_embed"), b = wrap_dim(dim2, ndim, "diag_embed");
    check(a != b, ErrorKind::Runtime, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
    check(self.dim() > 0, ErrorKind::Runtime, "diag_embed() needs at least a 1-dimensional tensor");
    const int64_t n =
        checked_add(self.sizes().back(), offset < 0 ? checked_neg(offset, "diag_embed") : offset, "diag_embed");
    Dims sizes(self.sizes().begin(), self.sizes().end() - 1);
    sizes.insert(std::min(a, b), n);
    sizes.insert(std::max(a, b), n);
    Tensor out = zeros(sizes, self.dtype(), self.device());
    copy_disjoint(diagonal(out, offset, a, b), self);
    return out;
}

}  // namespace wengert::kernels
