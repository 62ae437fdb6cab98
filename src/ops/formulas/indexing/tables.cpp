#include "generated/ops/formulas/indexing/tables.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/on_host.h"
#include "kernels/shape/shape.h"
#include "kernels/sorting/histogram.h"
#include "kernels/sorting/sort.h"

namespace wengert::ops::formulas {

Tensor index_along(const Tensor& index, int64_t dim, const Tensor& source, std::string_view reduce) {
    check(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", ErrorKind::Runtime,
          "index_reduce(): reduce argument must be either prod, mean, amax or amin, got ", reduce, ".");
    check(index.dim() <= 1, ErrorKind::Index, "index_reduce_(): Index is supposed to be a vector, got shape ",
          ShapeOf{index.sizes()});
    if (source.dim() == 0) return ops::reshape(index, Dims{});
    dim = wrap_dim(dim, source.dim(), "index_reduce");
    check(index.numel() == source.size(dim), ErrorKind::Runtime,
          "index_reduce_(): Number of indices should be equal to self.size(dim), got ", index.numel(), " and ",
          source.size(dim));
    Dims shape(static_cast<size_t>(source.dim()), 1);
    shape[static_cast<size_t>(dim)] = index.numel();
    return ops::expand(ops::reshape(index, shape), source.sizes());
}

namespace {

int64_t padding_row(const Tensor& weight, std::optional<int64_t> padding_idx) {
    if (!padding_idx) return -1;
    const int64_t rows = weight.size(0), row = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
    check(row >= 0 && row < rows, ErrorKind::Runtime, "Padding_idx must be within num_embeddings, got ", *padding_idx,
          " for ", rows, " rows");
    return row;
}

void limit_rows(const Tensor& weight, const Tensor& input, double max_norm, double p) {
    AutoGradMode no_grad(false);
    Tensor table = detach(weight);
    Tensor named = kernels::contiguous(kernels::reshape(input, Dims{-1}));
    Tensor rows = ops::index_select(table, 0, named);
    Tensor norm = ops::linalg_vector_norm(rows, p, Dims{1}, true);
    ops::index_copy_(table, 0, named, ops::mul(rows, ops::where(ops::gt(norm, max_norm), max_norm / (norm + 1e-7), 1)));
}

}  // namespace

Tensor looked_up(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq) {
    check(weight.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D, got shape ", ShapeOf{weight.sizes()});
    check(is_integral(input.dtype()), ErrorKind::Runtime,
          "Expected tensor for argument 'indices' to have integral dtype, got ", input.dtype());
    const int64_t padding = padding_row(weight, padding_idx);
    if (max_norm) limit_rows(weight, input, *max_norm, norm_type);  // when all has been validated
    return ops::embedding(weight, input, padding, scale_grad_by_freq);
}

namespace {

// [number of elements]: the bag of each element; and how many bags there are.
std::pair<Tensor, int64_t> bags_of(const Tensor& input, const Tensor& offsets, bool include_last_offset) {
    if (input.dim() == 2) {
        check(!offsets.defined(), ErrorKind::Value,
              "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
              "sequences.");
        Tensor each = kernels::arange(0, input.size(0), 1, beside(input));
        return {kernels::reshape(kernels::expand(kernels::unsqueeze(each, 1), input.sizes()), Dims{-1}), input.size(0)};
    }
    check(input.dim() == 1, ErrorKind::Value, "input has to be 1D or 2D Tensor, but got Tensor of dimension ",
          input.dim());
    check(offsets.defined(), ErrorKind::Value, "offsets has to be a 1D Tensor but got None");
    check(offsets.dim() == 1, ErrorKind::Value, "offsets has to be a 1D Tensor, got shape ", ShapeOf{offsets.sizes()});
    Tensor starts = kernels::to_dtype(offsets, DType::Int64);
    const int64_t count = starts.numel() - (include_last_offset ? 1 : 0);
    check(count >= 0, ErrorKind::Value, "include_last_offset: number of offsets should be at least 1");
    if (starts.numel() > 0 && kernels::has_values(starts)) {
        Tensor in_order = kernels::contiguous(kernels::on_host(starts, "embedding_bag"));
        const int64_t* start = in_order.data_as<int64_t>();
        check(start[0] == 0, ErrorKind::Value,
              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
              "However, got ",
              start[0]);
        for (int64_t i = 0; i < starts.numel(); ++i)
            check(start[i] <= input.numel() && (i == 0 || start[i - 1] <= start[i]), ErrorKind::Value,
                  "offsets have to rise and can not be greater than input's length ", input.numel(), ", but got ",
                  start[i]);
    }
    // The last bag that begins at or before an element is its own; elements behind a last offset belong to none.
    Tensor bag = kernels::searchsorted(kernels::slice(starts, 0, 0, count),
                                       kernels::arange(0, input.numel(), 1, beside(input)), false, true);
    return {ops::sub(bag, 1), count};
}

}  // namespace

Tensor bags(const Tensor& rows, const Tensor& input, const Tensor& weight, const Tensor& offsets, std::string_view mode,
            const Tensor& per_sample_weights, bool include_last_offset, std::optional<int64_t> padding_idx) {
    check(mode == "mean" || mode == "sum" || mode == "max", ErrorKind::Value, "mode has to be one of sum or mean, got ",
          mode);
    check(!per_sample_weights.defined() || mode == "sum", ErrorKind::NotImplemented,
          "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
          "mode='",
          mode, "').");
    check(!per_sample_weights.defined() || per_sample_weights.sizes() == input.sizes(), ErrorKind::Value,
          "embedding_bag: If per_sample_weights is not None, it must have the same shape as the input");
    auto [bag, count] = bags_of(input, offsets, include_last_offset);
    Tensor all = ops::reshape(rows, Dims{input.numel(), weight.size(1)});
    Tensor factors = per_sample_weights.defined() ? ops::reshape(per_sample_weights, Dims{-1}) : Tensor();
    if (padding_idx) {
        Tensor flat = kernels::reshape(input, Dims{-1});
        Tensor kept = kernels::reshape(kernels::nonzero(ops::ne(flat, padding_row(weight, padding_idx))), Dims{-1});
        bag = ops::index_select(bag, 0, kept);
        all = ops::index_select(all, 0, kept);
        if (factors.defined()) factors = ops::index_select(factors, 0, kept);
    }
    if (factors.defined()) all = ops::mul(all, ops::unsqueeze(factors, 1));
    Tensor empty_bags = zeros(Dims{count, weight.size(1)}, all.dtype(), all.device());
    if (mode == "max")
        return ops::scatter_reduce(empty_bags, 0, ops::expand(ops::unsqueeze(bag, 1), all.sizes()), all, "amax", false);
    Tensor sums = ops::index_add(empty_bags, 0, bag, all);
    if (mode == "sum") return sums;
    Tensor sizes = kernels::counts_of(bag, count);
    return sums / ops::unsqueeze(ops::clamp_min(sizes, 1), 1);
}

}  // namespace wengert::ops::formulas
