#include "generated/ops/formulas/indexing/indexing.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/reductions/scans.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "kernels/shape/shape.h"
#include "kernels/sorting/histogram.h"
#include "kernels/sorting/sort.h"
#include "ops/known_values.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

namespace {

// 0, 1, 2, ... in a given shape.
Tensor numbers(IntSpan sizes, const Tensor& like) {
    return kernels::reshape(kernels::arange(0, numel_of(sizes), 1, beside(like, DType::Int64)), sizes);
}

}  // namespace

// --- index_put

Tensor index_put_grad_self(const Tensor& grad, TensorSpan indices, bool accumulate) {
    return accumulate ? grad : ops::index_put(grad, indices, zeros(Dims{}, grad.dtype(), grad.device()), false);
}

Tensor index_put_grad_values(const Tensor& grad, IntSpan self_sizes, TensorSpan indices, IntSpan values_sizes,
                             bool accumulate) {
    if (!accumulate && !asks_more_than_values(grad, indices))
        return fitted(kernels::index_survivors(grad, indices), values_sizes, grad.dtype());
    Tensor part = ops::index(grad, indices);
    if (!accumulate) {
        Tensor written = empty(self_sizes, DType::Int64, grad.device()),
               order = numbers(part.sizes(), grad);  // what is not written is not read
        ops::index_put_(written, indices, order);
        part = ops::where(ops::eq(ops::index(written, indices), order), part, 0);
    }
    return fitted(part, values_sizes, grad.dtype());
}

// --- Slices

Tensor slices_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes) {
    Tensor slices = ops::index_select(grad, dim, index);
    return std::ranges::equal(slices.sizes(), sizes) ? slices : ops::reshape(slices, sizes);
}

Tensor scaled_slices_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes, const Scalar& alpha) {
    Tensor slices = slices_at(grad, dim, index, sizes);
    return alpha.is_complex() ? slices * Operand(std::conj(alpha.to<std::complex<double>>())) : slices * alpha;
}

Tensor surviving_slices_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes) {
    if (index.numel() < 2) return slices_at(grad, dim, index, sizes);
    const int64_t d = wrap_dim(dim, grad.dim(), "index_copy");
    if (!asks_more_than_values(grad, index)) {
        TensorList indices(static_cast<size_t>(d));
        indices.push_back(index);
        return kernels::reshape(kernels::index_survivors(grad, indices), sizes);
    }
    Tensor slices = slices_at(grad, dim, index, sizes);
    Tensor written = empty(Dims{grad.size(d)}, DType::Int64, grad.device()), order = numbers(Dims{index.numel()}, grad);
    ops::index_copy_(written, 0, index, order);
    Dims line(sizes.size(), 1);
    line[static_cast<size_t>(d)] = index.numel();
    Tensor survived = ops::eq(ops::index_select(written, 0, index), order);
    return ops::where(ops::reshape(survived, line), slices, 0);
}

Tensor filled_sum(const Tensor& grad, int64_t dim, const Tensor& index) {
    const Tensor filled = ops::index_fill(zeros(grad.sizes(), DType::Bool, grad.device()), dim, index, true);
    return ops::sum(ops::where(filled, grad, 0));
}

// --- Elements

namespace {

// Zeros behind what the index covers of a bigger source.
Tensor padded(const Tensor& t, IntSpan sizes) {
    Tensor out = t;
    for (size_t d = 0; d < sizes.size(); ++d) {
        if (out.sizes()[d] == sizes[d]) continue;
        Dims wider = out.sizes();
        wider[d] = sizes[d];
        out = ops::slice_backward(out, wider, static_cast<int64_t>(d), 0, out.sizes()[d], 1);
    }
    return out;
}

// The part of `t` that an index covers.
Tensor covered(const Tensor& t, IntSpan sizes) {
    Tensor out = t;
    for (size_t d = 0; d < sizes.size(); ++d)
        if (out.sizes()[d] != sizes[d]) out = ops::slice(out, static_cast<int64_t>(d), 0, sizes[d]);
    return out;
}

}  // namespace

Tensor elements_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes) {
    return padded(ops::gather(grad, dim, index), sizes);
}

Tensor surviving_elements_at(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes) {
    if (!asks_more_than_values(grad, index)) return padded(kernels::gather_survivors(grad, dim, index), sizes);
    Tensor written = empty(grad.sizes(), DType::Int64, grad.device()), order = numbers(index.sizes(), grad);
    ops::scatter_(written, dim, index, order);
    Tensor survived = ops::eq(ops::gather(written, dim, index), order);
    return padded(ops::where(survived, ops::gather(grad, dim, index), 0), sizes);
}

Tensor scatter_with(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
    if (reduce == "add") return ops::scatter_add(self, dim, index, src);
    check(reduce == "multiply", ErrorKind::Runtime, "reduce argument must be either add or multiply, got ", reduce);
    return ops::scatter_reduce(self, dim, index, src, "prod");
}

Tensor taken_along_dim(const Tensor& self, const Tensor& given, std::optional<int64_t> dim) {
    const int64_t size = dim ? self.dim() == 0 ? 1 : self.size(*dim) : self.numel();
    const Tensor indices = ops::where(ops::lt(given, 0), ops::add(given, size), given);  // negative ones from the end
    if (!dim) return ops::gather(ops::reshape(self, Dims{-1}), 0, ops::reshape(indices, Dims{-1}));
    check(self.dim() == indices.dim(), ErrorKind::Runtime,
          "take_along_dim(): input and indices should have the same number of dimensions, but got ", self.dim(),
          " dimensions for input, and ", indices.dim(), " dimensions for indices");
    if (self.dim() == 0) return ops::gather(self, *dim, indices);
    const auto d = static_cast<size_t>(wrap_dim(*dim, self.dim(), "take_along_dim"));
    Dims a = self.sizes(), b = indices.sizes();
    a[d] = b[d] = 1;
    a = b = broadcast_shapes(a, b, "take_along_dim");
    a[d] = self.sizes()[d];
    b[d] = indices.sizes()[d];
    return ops::gather(ops::expand(self, a), *dim, ops::expand(indices, b));
}

// --- scatter_reduce
//
// A place of self and the elements of src that go there are a group. The partial derivatives of the group's result with
// respect to its members, [self] and [index]:

namespace {

struct GroupPartials {
    Tensor self, src;  // undefined: one
};

// Of the product, by products of those before and those behind each member of its group, which members stand in when they
// are sorted by group: without a division, and made of products and sums alone, so that derivatives of any order are right.
GroupPartials product_partials_by_scans(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                        bool include_self) {
    auto neighbour = [&](const Tensor& t) {  // the element before each one, of the first any
        const Tensor parts[] = {ops::slice(t, dim, 0, 1), ops::slice(t, dim, 0, t.size(dim) - 1)};
        return ops::cat(parts, dim);
    };
    const Tensor order = ops::argsort(index, dim, false, true), group = ops::gather(index, dim, order),
                 places = ops::argsort(order, dim), x = ops::gather(src, dim, order);
    auto product_before = [&](const Tensor& x, const Tensor& group) {
        Tensor same = ops::eq(group, neighbour(group));
        Dims one = same.sizes();
        one[static_cast<size_t>(dim)] = 1;
        const Tensor parts[] = {full(one, false, DType::Bool, x.device()), ops::slice(same, dim, 1, same.size(dim))};
        same = ops::cat(parts, dim);
        return linear_scan(ops::where(same, neighbour(x), 0), ops::where(same, zeros_like(x), 1), dim);
    };
    auto reversed = [&](const Tensor& t) { return ops::flip(t, Dims{dim}); };
    Tensor others = product_before(x, group) * reversed(product_before(reversed(x), reversed(group)));
    if (include_self) others = others * ops::gather(self, dim, group);
    GroupPartials partials;
    partials.src = ops::gather(others, dim, places);
    partials.self = ops::scatter_reduce(full(self.sizes(), 1, self.dtype(), self.device()), dim, index, src, "prod");
    if (!include_self) partials.self = ops::scatter_value(partials.self, dim, index, 0);
    return partials;
}

// Of the product. Zeros are left out of the product and counted: with one zero only its own derivative is not zero, with
// two there is none.
GroupPartials product_partials(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                               bool include_self) {
    Tensor self_zero = ops::eq(self, 0), src_zero = ops::eq(src, 0);
    Tensor counts = ops::to_dtype(self_zero, DType::Int64);
    if (!include_self) counts = ops::scatter_value(counts, dim, index, 0);
    counts = ops::scatter_add(counts, dim, index, ops::to_dtype(src_zero, DType::Int64));
    if (GradMode::is_enabled() && self.dim() > 0 && index.numel() > 0 && !ops::are_all_true(ops::eq(counts, 0)))
        return product_partials_by_scans(self, wrap_dim(dim, self.dim(), "scatter_reduce"), index, src, include_self);
    Tensor nonzero_self = ops::where(self_zero, 1, self), nonzero_src = ops::where(src_zero, 1, src);
    Tensor product = ops::scatter_reduce(nonzero_self, dim, index, nonzero_src, "prod", include_self);
    auto others = [&](const Tensor& product, const Tensor& count, const Tensor& is_zero, const Tensor& x) {
        Tensor remaining = count - ops::to_dtype(is_zero, DType::Int64);
        return ops::where(ops::eq(remaining, 0), product / x, 0);
    };
    GroupPartials partials;
    partials.src = others(ops::gather(product, dim, index), ops::gather(counts, dim, index), src_zero, nonzero_src);
    partials.self = others(product, counts, self_zero, nonzero_self);
    if (!include_self) partials.self = ops::scatter_value(partials.self, dim, index, 0);
    return partials;
}

// Which members are equal to the result, divided by their number.
GroupPartials extreme_partials(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                               const Tensor& result, bool include_self) {
    Tensor of_self = ops::to_dtype(ops::eq(self, result), result.dtype());
    if (!include_self) of_self = ops::scatter_value(of_self, dim, index, 0);
    Tensor of_src = ops::to_dtype(ops::eq(src, ops::gather(result, dim, index)), result.dtype());
    Tensor count = ops::scatter_add(of_self, dim, index, of_src);
    count = ops::where(ops::eq(count, 0), 1, count);
    GroupPartials partials{of_self / count, of_src / ops::gather(count, dim, index)};
    if (!include_self) {  // places without elements keep their value
        Tensor untouched = ops::scatter_value(full(self.sizes(), 1, result.dtype(), result.device()), dim, index, 0);
        partials.self = ops::where(ops::eq(untouched, 1), 1, partials.self);
    }
    return partials;
}

GroupPartials group_partials(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                             const Tensor& result, std::string_view reduce, bool include_self) {
    const Tensor src = covered(source, index.sizes());
    if (reduce == "prod") return product_partials(self, dim, index, src, include_self);
    if (reduce == "amax" || reduce == "amin")
        return extreme_partials(detach(self), dim, index, detach(src), detach(result), include_self);
    if (reduce == "sum" && include_self) return {};
    Tensor of_self = full(self.sizes(), 1, self.dtype(), self.device());
    if (!include_self) of_self = ops::scatter_value(of_self, dim, index, 0);
    if (reduce == "sum") return {of_self, {}};
    const Tensor ones = full(index.sizes(), 1, self.dtype(), self.device());
    const Tensor count = ops::scatter_add(of_self, dim, index, ones);
    return {of_self / count, ones / ops::gather(count, dim, index)};
}

Tensor adjoint_of(const Tensor& grad, const Tensor& partial) {
    if (!partial.defined()) return grad;
    return chain_rule(grad, is_complex(partial.dtype()) ? ops::conj(partial) : partial);
}
Tensor image_of(const Tensor& tangent, const Tensor& partial) {
    return partial.defined() ? chain_rule(tangent, partial) : tangent;
}

}  // namespace

Tensor scatter_reduce_grad_self(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& src, const Tensor& result, std::string_view reduce, bool include_self) {
    return adjoint_of(grad, group_partials(self, dim, index, src, result, reduce, include_self).self);
}

Tensor scatter_reduce_grad_src(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& src, const Tensor& result, std::string_view reduce, bool include_self) {
    const Tensor partial = group_partials(self, dim, index, src, result, reduce, include_self).src;
    return padded(adjoint_of(ops::gather(grad, dim, index), partial), src.sizes());
}

Tensor scatter_reduce_tangent(const Tensor& self_t, const Tensor& src_t, const Tensor& self, int64_t dim,
                              const Tensor& index, const Tensor& src, const Tensor& result, std::string_view reduce,
                              bool include_self) {
    const GroupPartials partials = group_partials(self, dim, index, src, result, reduce, include_self);
    return ops::scatter_add(image_of(self_t, partials.self), dim, index,
                            image_of(covered(src_t, index.sizes()), partials.src));
}

// --- embedding

// Rows of `grad`, with what the backward did to them: none of padding_idx, divided by how often they were read.
Tensor embedding_regrad(const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq) {
    Tensor rows = ops::embedding(grad, indices);
    if (padding_idx >= 0) rows = ops::where(ops::unsqueeze(ops::eq(indices, padding_idx), -1), 0, rows);
    if (scale_grad_by_freq) {
        Tensor counts = kernels::counts_of(ops::reshape(indices, Dims{-1}), grad.size(0));
        Tensor each = ops::index_select(counts, 0, ops::reshape(indices, Dims{-1}));
        rows = rows / ops::unsqueeze(ops::reshape(each, indices.sizes()), -1);
    }
    return rows;
}

}  // namespace wengert::ops::formulas
