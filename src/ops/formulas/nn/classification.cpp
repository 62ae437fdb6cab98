#include "generated/ops/formulas/nn/classification.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/classification.h"
#include "generated/ops/comparison.h"
#include "generated/ops/formulas/nn/losses.h"
#include "generated/ops/formulas/nn/normalization.h"
#include "generated/ops/formulas/products/chain_products.h"
#include "generated/ops/indexing.h"
#include "generated/ops/matmul.h"
#include "generated/ops/normalization.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "ops/formulas/nn/losses.h"

namespace wengert::ops::formulas {

namespace {

// [C] beside [N, C, ...]
Tensor along_classes(const Tensor& weight, const Tensor& input, int64_t dim) {
    Dims shape(input.sizes().size(), 1);
    shape[static_cast<size_t>(dim)] = weight.numel();
    return ops::reshape(weight, shape);
}

Tensor of_probabilities(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight, int64_t dim,
                        std::string_view reduction, double smoothing) {
    const double classes = static_cast<double>(log_probabilities.sizes()[static_cast<size_t>(dim)]);
    const Tensor smoothed = smoothing > 0 ? target * (1 - smoothing) + smoothing / classes : target;
    Tensor terms = ops::chain(smoothed, log_probabilities);  // 0 for an impossible class of probability 0
    if (weight.defined()) terms = terms * along_classes(weight, log_probabilities, dim);
    const Tensor loss = ops::neg(ops::sum(terms, Dims{dim}));
    return reduce_loss(loss, reduction);
}

// The loss against an even distribution: minus the (weighted) mean over all classes.
Tensor of_even_targets(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                       int64_t ignore_index, int64_t dim, std::string_view reduction, const Tensor& total_weight) {
    const double classes = static_cast<double>(log_probabilities.sizes()[static_cast<size_t>(dim)]);
    const Tensor terms =
        weight.defined() ? log_probabilities * along_classes(weight, log_probabilities, dim) : log_probabilities;
    Tensor loss = ops::sum(terms, Dims{dim}) * (-1 / classes);
    loss = ops::where(ops::eq(target, ignore_index), 0, loss);
    if (reduction == "none") return loss;
    return reduction == "mean" ? ops::sum(loss) / total_weight : ops::sum(loss);
}

}  // namespace

Tensor cross_entropy_of(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                        std::string_view reduction, double label_smoothing) {
    check(input.dim() >= 1, ErrorKind::Value,
          "[cross_entropy] input must have a dimension of classes, but is 0-dimensional");
    check(label_smoothing >= 0 && label_smoothing <= 1, ErrorKind::Runtime,
          "[cross_entropy] label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
    const int64_t dim = input.dim() == 1 ? 0 : 1;
    const Tensor log_probabilities = ops::log_softmax_along(input, dim);
    if (is_floating(target.dtype()) && target.dim() == input.dim()) {
        check(same_shape(input, target), ErrorKind::Runtime,
              "[cross_entropy] probabilities must have the shape of the input, ", ShapeOf{input.sizes()}, ", but have ",
              ShapeOf{target.sizes()});
        check(ignore_index < 0, ErrorKind::Runtime,
              "[cross_entropy] ignore_index is not supported for floating point target");
        return of_probabilities(log_probabilities, target, weight, dim, reduction, label_smoothing);
    }
    const auto [loss, total_weight] = ops::nll_loss_forward(log_probabilities, target, weight, reduction, ignore_index);
    if (label_smoothing == 0) return loss;
    return loss * (1 - label_smoothing) +
           of_even_targets(log_probabilities, target, weight, ignore_index, dim, reduction, total_weight) *
               label_smoothing;
}

// --- Of a linear map
std::tuple<Tensor, Tensor, Tensor> linear_nll_grads(const Tensor& grad, const Tensor& input,
                                                    const Tensor& linear_weight, const Tensor& linear_bias,
                                                    const Tensor& target, int64_t ignore_index,
                                                    const std::array<bool, 3>& mask) {
    const Tensor scores = ops::log_softmax_along(ops::linear(input, linear_weight, linear_bias), 1);  // [N, C]
    const Tensor picked = ops::nll_loss_backward(grad, target, Tensor(), "none", ignore_index,
                                                 full(Dims{}, 1, grad.dtype(), grad.device()), scores.sizes());
    const Tensor of_scores = log_softmax_grad(picked, scores, 1);
    return {mask[0] ? chain_rule_matmul(of_scores, linear_weight) : Tensor(),
            mask[1] ? chain_rule_matmul(ops::transpose(of_scores, 0, 1), input) : Tensor(),
            mask[2] ? ops::sum(of_scores, Dims{0}) : Tensor()};
}

Tensor linear_nll_tangent(const Tensor& scores_t, const Tensor& input, const Tensor& linear_weight,
                          const Tensor& linear_bias, const Tensor& target, int64_t ignore_index) {
    const Tensor scores = ops::log_softmax_along(ops::linear(input, linear_weight, linear_bias), 1);
    const Tensor tangent = log_softmax_tangent(ops::expand(scores_t, scores.sizes()), scores, 1);
    return std::get<0>(ops::nll_loss_forward(tangent, target, Tensor(), "none", ignore_index));
}

Tensor linear_cross_entropy_of(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
                               const Tensor& linear_bias, const Tensor& weight, std::string_view reduction,
                               std::optional<int64_t> ignore_index, double label_smoothing) {
    const int64_t ignored = ignore_index.value_or(-100), features = linear_weight.size(-1);
    check(input.dim() == 1 || input.dim() == 2, ErrorKind::Value,
          "[linear_cross_entropy] input must be [features] or [N, features], but has shape ", ShapeOf{input.sizes()});
    check(linear_weight.dim() >= 2 && input.size(-1) == features, ErrorKind::Value,
          "[linear_cross_entropy] linear_weight must be [classes, ..., ", input.size(-1), "], but has shape ",
          ShapeOf{linear_weight.sizes()});
    if (is_floating(target.dtype()) || linear_weight.dim() > 2) {
        // Probabilities are as many as the scores; of several positions the classes stand in front.
        const Dims positions(linear_weight.sizes().begin(), linear_weight.sizes().end() - 1);
        Tensor bias = linear_bias;
        if (bias.defined()) {
            Dims shape(positions.size(), 1);
            shape[0] = positions[0];
            if (bias.dim() == 1) bias = ops::expand(ops::reshape(bias, shape), positions);
            bias = ops::reshape(bias, Dims{-1});
        }
        Dims sizes(input.sizes().begin(), input.sizes().end() - 1);
        for (const int64_t s : positions) sizes.push_back(s);
        const Tensor scores =
            ops::reshape(ops::linear(input, ops::reshape(linear_weight, Dims{-1, features}), bias), sizes);
        return cross_entropy_of(scores, target, weight, ignored, reduction, label_smoothing);
    }
    check(label_smoothing >= 0 && label_smoothing <= 1, ErrorKind::Runtime,
          "[linear_cross_entropy] label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
    const Tensor rows = input.dim() == 1 ? ops::unsqueeze(input, 0) : input;
    const Tensor labels = input.dim() == 1 ? ops::reshape(target, Dims{1}) : target;
    check(labels.dim() == 1 && labels.numel() == rows.size(0), ErrorKind::Value, "[linear_cross_entropy] Expected ",
          rows.size(0), " targets, got shape ", ShapeOf{target.sizes()});
    Tensor loss = ops::linear_nll(rows, linear_weight, linear_bias, labels, ignored);
    const Tensor counted = ops::ne(labels, ignored);
    const Tensor named = ops::where(counted, labels, 0);  // a class, also where it is ignored
    const Tensor factors = weight.defined() ? ops::where(counted, ops::index_select(weight, 0, named), 0)
                                            : ops::to_dtype(counted, loss.dtype());
    if (label_smoothing > 0) {
        // The mean over classes of log sum exp(z) - z_c = loss + z_target - z_c, weighted: no scores but the target's.
        const double classes = static_cast<double>(linear_weight.size(0));
        Tensor target_score = ops::sum(rows * ops::index_select(linear_weight, 0, named), Dims{1});
        Tensor total = full(Dims{}, linear_weight.size(0), loss.dtype(), loss.device()),
               direction = ops::sum(linear_weight, Dims{0});
        if (weight.defined()) {
            total = ops::sum(weight);
            direction = ops::matmul(weight, linear_weight);  // [C] x [C, K]
        }
        Tensor mean_score = ops::matmul(rows, direction);
        if (linear_bias.defined()) {
            target_score = target_score + ops::index_select(linear_bias, 0, named);
            mean_score = mean_score + ops::sum(weight.defined() ? linear_bias * weight : linear_bias);
        }
        const Tensor even = ops::where(counted, total * (loss + target_score) - mean_score, 0) / classes;
        loss = (1 - label_smoothing) * (weight.defined() ? ops::chain(factors, loss) : loss) + label_smoothing * even;
    } else if (weight.defined()) {
        loss = ops::chain(factors, loss);
    }
    if (reduction == "none") return input.dim() == 1 ? ops::squeeze_dim(loss, 0) : loss;
    if (reduction == "sum") return ops::sum(loss);
    check(reduction == "mean", ErrorKind::Value, reduction,
          " is not a valid value for reduction; use 'mean', 'sum' or 'none'");
    return ops::sum(loss) / ops::sum(factors);
}

}  // namespace wengert::ops::formulas
