#include "ops/formulas/classification.h"

#include "generated/ops/ops.h"
#include "ops/formulas/losses.h"

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

}  // namespace wengert::ops::formulas
