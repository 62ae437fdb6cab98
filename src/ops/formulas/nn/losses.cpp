#include "ops/formulas/nn/losses.h"
#include "generated/ops/formulas/nn/losses.h"

#include <cmath>
#include <numbers>

#include "generated/ops/activation.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/exponential.h"
#include "generated/ops/losses.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {

Tensor reduce_loss(const Tensor& loss, std::string_view reduction) {
    switch (reduction_of(reduction)) {
        case LossReduction::None:
            return loss;
        case LossReduction::Sum:
            return ops::sum(loss);
        case LossReduction::Mean:
            return ops::mean(loss);
    }
    return loss;
}

Tensor reduce_batch_loss(const Tensor& loss, const Tensor& input, std::string_view reduction) {
    if (reduction != "batchmean") return reduce_loss(loss, reduction);
    return ops::sum(loss) / (input.dim() == 0 ? 1 : input.sizes()[0]);
}

namespace {

Tensor widened(const Tensor& t, std::initializer_list<IntSpan> sizes) {
    Dims all;
    for (IntSpan some : sizes) all = broadcast_shapes(all, some, "reduction");
    return t.sizes() == all ? t : ops::expand(t, all);
}
Operand factor(const Tensor& weight) { return weight.defined() ? Operand(weight) : Operand(1); }

}  // namespace

Tensor reduced(const Tensor& tangents, std::string_view reduction, std::initializer_list<IntSpan> sizes) {
    return reduction == "none" ? tangents : reduce_loss(widened(tangents, sizes), reduction);
}

Tensor unreduced(const Tensor& grad, std::string_view reduction, std::initializer_list<IntSpan> sizes) {
    if (reduction == "none") return grad;
    const Tensor wide = widened(grad, sizes);
    return reduction == "sum" ? wide : widened(grad / wide.numel(), sizes);
}

Tensor cross_entropy_of_probabilities(const Tensor& input, const Tensor& target, const Tensor& weight,
                                      std::string_view reduction) {
    return ops::weighted_binary_cross_entropy(input, target, factor(weight), reduction);
}

Tensor cross_entropy_of_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                               const Tensor& pos_weight, std::string_view reduction) {
    check(input.sizes() == target.sizes(), ErrorKind::Value, "[binary_cross_entropy_with_logits] Target size (",
          ShapeOf{target.sizes()}, ") must be the same as input size (", ShapeOf{input.sizes()}, ")");
    if (!pos_weight.defined()) return ops::bce_with_logits(input, target, factor(weight), reduction);
    return ops::weighted_bce_with_logits(input, target, factor(weight), pos_weight, reduction);
}

Tensor gaussian_nll(const Tensor& input, const Tensor& target, const Operand& var, bool full, double eps) {
    Tensor variance;
    if (var.is_tensor()) {
        variance = var.tensor();
        // One variance for each row: [N] beside [N, D].
        if (variance.dim() + 1 == input.dim() && variance.dim() > 0) variance = ops::unsqueeze(variance, -1);
    } else {
        variance = ops::sum(input * 0.0) + var;  // a number, in the dtype of the input
    }
    variance = ops::clamp_min(variance, eps);
    Tensor loss = 0.5 * (ops::log(variance) + ops::square(input - target) / variance);
    return full ? loss + 0.5 * std::log(2 * std::numbers::pi) : loss;
}

Tensor poisson_nll(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps) {
    Tensor loss = log_input ? ops::exp(input) - target * input : input - target * ops::log(input + eps);
    if (!full) return loss;
    Tensor stirling = target * ops::log(target) - target + 0.5 * ops::log(2 * std::numbers::pi * target);
    return loss + ops::where(ops::gt(target, 1), stirling, 0);
}

Tensor cosine(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
    const Dims sizes = broadcast_shapes(x1.sizes(), x2.sizes(), "cosine_similarity");
    const Dims along{wrap_dim(dim, static_cast<int64_t>(sizes.size()), "cosine_similarity")};
    auto direction = [&](const Tensor& x) {  // broadcast first: it may repeat elements along `dim`
        const Tensor wide = x.sizes() == sizes ? x : ops::expand(x, sizes);
        return wide / ops::clamp_min(ops::linalg_vector_norm(wide, 2, along, true), eps);
    };
    return ops::sum(direction(x1) * direction(x2), along);
}

Tensor cosine_embedding(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin) {
    const Tensor similarity = cosine(input1, input2, -1, 1e-12);
    return ops::where(ops::gt(target, 0), 1 - similarity, ops::relu(similarity - margin));
}

Tensor triplet_margin(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p,
                      double eps, bool swap) {
    Tensor near = ops::pairwise_distance(anchor, positive, p, eps);
    Tensor far = ops::pairwise_distance(anchor, negative, p, eps);
    if (swap) far = ops::minimum(far, ops::pairwise_distance(positive, negative, p, eps));
    return ops::clamp_min(near - far + margin, 0);
}

}  // namespace wengert::ops::formulas
