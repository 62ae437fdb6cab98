#include "generated/ops/formulas/indexing/tables.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/creation.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "graph/strict_singular.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/bags.h"
#include "kernels/indexing/indexing.h"
#include "kernels/shape/shape.h"

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

void check_table(const Tensor& weight, const Tensor& input) {
    check(weight.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D, got shape ", ShapeOf{weight.sizes()});
    check(is_integral(input.dtype()), ErrorKind::Runtime,
          "Expected tensor for argument 'indices' to have integral dtype, got ", input.dtype());
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
    check_table(weight, input);
    const int64_t padding = padding_row(weight, padding_idx);
    if (max_norm) limit_rows(weight, input, *max_norm, norm_type);  // when all has been validated
    return ops::embedding(weight, input, padding, scale_grad_by_freq);
}

bool zeros_stay() { return !strict_singular(); }

Tensor over_frequency(const Tensor& grad, const Tensor& indices, bool scale_grad_by_freq) {
    if (!scale_grad_by_freq) return grad;
    const Tensor once = full(Dims{}, 1, grad.dtype(), grad.device()),
                 none = zeros(Dims{grad.size(0)}, grad.dtype(), grad.device());
    const Tensor counts = ops::index_add(none, 0, indices, ops::expand(once, indices.sizes()));
    return grad / ops::unsqueeze(ops::clamp_min(counts, 1), 1);
}

namespace {

// [bags + 1]: where each begins among the elements of `input`, and where the last one ends.
Tensor bounds_of_bags(const Tensor& input, const Tensor& offsets, bool include_last_offset) {
    if (input.dim() == 2) {
        check(!offsets.defined(), ErrorKind::Value,
              "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
              "sequences.");
        const Tensor each = ops::arange(input.size(0) + 1, beside(input, DType::Int64));
        return input.size(1) == 1 ? each : ops::mul(each, input.size(1));
    }
    check(input.dim() == 1, ErrorKind::Value, "input has to be 1D or 2D Tensor, but got Tensor of dimension ",
          input.dim());
    check(offsets.defined(), ErrorKind::Value, "offsets has to be a 1D Tensor but got None");
    check(offsets.dim() == 1, ErrorKind::Value, "offsets has to be a 1D Tensor, got shape ", ShapeOf{offsets.sizes()});
    const Tensor starts = ops::to_dtype(offsets, DType::Int64);
    if (include_last_offset) return starts;
    const Tensor both[] = {starts, full(Dims{1}, input.numel(), DType::Int64, starts.device())};
    return ops::cat(both, 0);
}

// The greatest elements, 0 for an empty bag; only the first of several has a gradient.
Tensor maxima_of_bags(const Tensor& weight, const Tensor& indices, const Tensor& bounds, int64_t padding) {
    const Tensor rows = ops::bag_maxima(detach(weight), indices, bounds, padding);
    return ops::where(ops::ge(rows, 0), ops::gather(weight, 0, ops::clamp_min(rows, 0)), 0);
}

}  // namespace

Tensor bags(const Tensor& input, const Tensor& weight, const Tensor& offsets, std::optional<double> max_norm,
            double norm_type, bool scale_grad_by_freq, std::string_view mode, const Tensor& per_sample_weights,
            bool include_last_offset, std::optional<int64_t> padding_idx) {
    check(mode == "mean" || mode == "sum" || mode == "max", ErrorKind::Value, "mode has to be one of sum or mean, got ",
          mode);
    check(mode != "max" || !scale_grad_by_freq, ErrorKind::Value,
          "max mode does not support scaling the gradient by the frequency");
    check(!per_sample_weights.defined() || mode == "sum", ErrorKind::NotImplemented,
          "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
          "mode='",
          mode, "').");
    check(!per_sample_weights.defined() || per_sample_weights.sizes() == input.sizes(), ErrorKind::Value,
          "embedding_bag: If per_sample_weights is not None, it must have the same shape as the input");
    check_table(weight, input);
    const int64_t padding = padding_row(weight, padding_idx);
    const Tensor indices = ops::reshape(input, Dims{-1}), bounds = bounds_of_bags(input, offsets, include_last_offset);
    if (max_norm) limit_rows(weight, input, *max_norm, norm_type);
    if (mode == "max") return maxima_of_bags(weight, indices, bounds, padding);
    const Tensor factors = per_sample_weights.defined()
                               ? ops::reshape(per_sample_weights, Dims{-1})
                               : ops::expand(full(Dims{}, 1, weight.dtype(), weight.device()), indices.sizes());
    const Tensor sums = ops::bag_sums(weight, factors, indices, bounds, padding, scale_grad_by_freq, false);
    if (mode == "sum") return sums;
    const Tensor sizes = input.dim() == 2 && padding < 0 ? Tensor() : kernels::bag_sizes(indices, bounds, padding);
    if (!sizes.defined()) return input.size(1) > 1 ? sums / input.size(1) : sums;
    return sums / ops::unsqueeze(ops::clamp_min(sizes, 1), 1);
}

}  // namespace wengert::ops::formulas
