#include "generated/ops/formulas/shape/rearranging.h"

#include <algorithm>

#include "base/checked_math.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/formulas/shape/views.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "kernels/shape/shape.h"

namespace wengert::ops::formulas {

Tensor zeros_of(IntSpan sizes, const Tensor& like) { return zeros(sizes, like.dtype(), like.device()); }

Tensor without_diagonal(const Tensor& grad, bool wrap) {
    Tensor out = ops::clone(grad);
    ops::fill_diagonal_(out, 0, wrap);
    return out;
}

Dims negated(IntSpan values) {
    Dims out;
    for (int64_t v : values) out.push_back(checked_neg(v, "negation"));
    return out;
}

Tensor made_contiguous(const Tensor& self, std::optional<MemoryFormat> asked) {
    const MemoryFormat format = asked.value_or(MemoryFormat::Contiguous);
    check(format != MemoryFormat::Preserve || self.is_contiguous(), ErrorKind::Runtime,
          "preserve memory format is unsupported by the contiguous operator");
    return is_laid_out(self, format) ? self : ops::clone_memory_format(self, format);
}

TensorList unraveled(const Tensor& indices, IntSpan shape) {
    check(is_integral(indices.dtype()) && indices.dtype() != DType::Bool, ErrorKind::Value,
          "[unravel_index] expected 'indices' to be integer dtype, but got ", indices.dtype());
    TensorList coordinates(shape.size());
    int64_t step = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        check(shape[d] >= 0, ErrorKind::Value, "[unravel_index] 'shape' cannot have negative values, but got ",
              ShapeOf{shape});
        const Tensor whole = step == 1 ? indices : ops::floor_divide(indices, step);
        coordinates[d] = shape[d] > 0 ? ops::remainder(whole, shape[d]) : whole;
        step = checked_mul(step, std::max<int64_t>(shape[d], 1), "unravel_index");
    }
    return coordinates;
}

// --- Joining

TensorList cat_grad(const Tensor& grad, const std::vector<Dims>& sizes, int64_t dim) {
    const int64_t n = grad.dim();
    TensorList parts;
    int64_t start = 0;
    for (const Dims& s : sizes) {
        const bool legacy = static_cast<int64_t>(s.size()) != n;  // an empty vector, which cat leaves out
        if (legacy) {
            parts.push_back(zeros(s, grad.dtype(), grad.device()));
            continue;
        }
        const int64_t size = s[static_cast<size_t>(wrap_dim(dim, n, "cat"))];
        parts.push_back(ops::slice(grad, dim, start, start + size));
        start += size;
    }
    return parts;
}

TensorList stack_grad(const Tensor& grad, int64_t dim) { return ops::unbind(grad, dim); }

Tensor stack_horizontally(TensorSpan tensors) {
    const TensorList parts = each_at_least(tensors, 1);
    check(!parts.empty(), ErrorKind::Runtime, "hstack expects a non-empty TensorList");
    return ops::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}
Tensor stack_vertically(TensorSpan tensors) { return ops::cat(each_at_least(tensors, 2), 0); }
Tensor stack_in_depth(TensorSpan tensors) { return ops::cat(each_at_least(tensors, 3), 2); }

Tensor stack_columns(TensorSpan tensors) {
    TensorList parts;
    for (const Tensor& t : tensors) parts.push_back(t.dim() <= 1 ? ops::reshape(t, Dims{t.numel(), 1}) : t);
    return ops::cat(parts, 1);
}

TensorList block_diag_grad(const Tensor& grad, const std::vector<Dims>& sizes) {
    TensorList parts;
    int64_t row = 0, column = 0;
    for (const Dims& s : sizes) {
        const int64_t rows = s.size() < 2 ? 1 : s[0], columns = s.empty() ? 1 : s.back();
        const Tensor block = ops::slice(ops::slice(grad, 0, row, row + rows), 1, column, column + columns);
        parts.push_back(s.size() == 2 ? block : ops::reshape(block, s));
        row += rows;
        column += columns;
    }
    return parts;
}

Tensor block_diagonal(TensorSpan tensors) {
    int64_t columns = 0, column = 0;
    for (const Tensor& t : tensors) columns += t.dim() == 0 ? 1 : t.size(-1);
    TensorList rows;
    for (const Tensor& t : tensors) {
        check(t.dim() <= 2, ErrorKind::Runtime, "block_diag: Input tensors must have 2 or fewer dimensions. Input ",
              rows.size(), " has ", t.dim(), " dimensions");
        Tensor block = at_least(t, 2);  // [m, n] in the middle of [m, columns]
        const int64_t m = block.size(0), n = block.size(1);
        const Tensor parts[] = {zeros(Dims{m, column}, t.dtype(), t.device()), block,
                                zeros(Dims{m, columns - column - n}, t.dtype(), t.device())};
        rows.push_back(ops::cat(parts, 1));
        column += n;
    }
    return rows.empty() ? zeros(Dims{1, 0}, default_dtype()) : ops::cat(rows, 0);
}

// --- Repeating

// [r0 s0, r1 s1, ...] -> [r0, s0, r1, s1, ...] -> [s0, s1, ...]
Tensor repeat_grad(const Tensor& grad, IntSpan sizes, IntSpan repeats) {
    const size_t leading = repeats.size() - sizes.size();
    Dims shape, summed;
    for (size_t d = 0; d < repeats.size(); ++d) {
        summed.push_back(static_cast<int64_t>(shape.size()));
        shape.push_back(repeats[d]);
        if (d >= leading) shape.push_back(sizes[d - leading]);
    }
    return summed.empty() ? grad : ops::sum(ops::reshape(grad, shape), summed);
}

Dims tile_repeats(int64_t n, IntSpan dims) {
    Dims repeats(std::max(static_cast<size_t>(n), dims.size()), 1);
    std::copy(dims.begin(), dims.end(), repeats.end() - dims.size());
    return repeats;
}

namespace {

void check_output_size(const Tensor& out, int64_t dim, std::optional<int64_t> size) {
    if (size)
        check(out.size(dim) == *size, ErrorKind::Runtime, "[repeat_interleave] output_size is ", *size,
              ", but the result has ", out.size(dim), " elements along dimension ", dim);
}

}  // namespace

Tensor interleaved(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> size) {
    check(repeats >= 0, ErrorKind::Runtime, "repeats has to be positive (non-negative), got ", repeats);
    Tensor t = dim && self.dim() > 0 ? self : ops::reshape(self, Dims{-1});
    const int64_t d = wrap_dim(dim.value_or(0), t.dim(), "repeat_interleave");
    Tensor wide = ops::unsqueeze(t, d + 1);
    Dims shape = wide.sizes();
    shape[static_cast<size_t>(d + 1)] = repeats;
    Tensor out = ops::flatten(ops::expand(wide, shape), d, d + 1);
    check_output_size(out, d, size);
    return out;
}

Tensor interleaved_by(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                      std::optional<int64_t> output_size) {
    Tensor t = dim && self.dim() > 0 ? self : ops::reshape(self, Dims{-1});
    const int64_t d = dim.value_or(0), size = t.size(d);
    check(repeats.dim() <= 1, ErrorKind::Runtime, "repeats must be 0-dim or 1-dim tensor");
    check(repeats.numel() == 1 || repeats.numel() == size, ErrorKind::Runtime,
          "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.numel(),
          " and input.size(", d, ") = ", size);
    Tensor each = repeats.numel() == size && repeats.dim() == 1
                      ? repeats
                      : kernels::expand(kernels::reshape(repeats, Dims{1}), Dims{size});
    Tensor out = ops::index_select(t, d, kernels::repeat_interleave_index(each));
    check_output_size(out, d, output_size);
    return out;
}

Tensor diagonal_or_matrix(const Tensor& self, int64_t diagonal) {
    check(self.dim() == 1 || self.dim() == 2, ErrorKind::Runtime, "diag(): Supports 1D or 2D tensors. Got ", self.dim(),
          "D");
    return self.dim() == 1 ? ops::diag_embed(self, diagonal) : ops::diagonal(self, diagonal);
}

Tensor channels_shuffled(const Tensor& self, int64_t groups) {
    check(self.dim() > 2, ErrorKind::Runtime, "channel_shuffle expects input with > 2 dims, but got input with sizes ",
          ShapeOf{self.sizes()});
    const int64_t channels = self.size(1);
    check(groups > 0 && channels % groups == 0, ErrorKind::Runtime,
          "Number of channels must be divisible by groups. Got ", channels, " channels and ", groups, " groups.");
    const Tensor split = ops::unflatten(self, 1, Dims{groups, channels / groups});
    return ops::clone(ops::flatten(ops::transpose(split, 1, 2), 1, 2));
}

Tensor vandermonde(const Tensor& x, std::optional<int64_t> n, bool increasing) {
    const int64_t columns = n.value_or(x.dim() > 0 ? x.size(-1) : 1);
    check(columns >= 0, ErrorKind::Runtime, "vander: N must be non-negative, got ", columns);
    const Tensor matrix = ops::powers(x.dim() > 0 ? x : ops::unsqueeze(x, 0), columns);
    return increasing ? matrix : ops::flip(matrix, Dims{-1});
}

}  // namespace wengert::ops::formulas
