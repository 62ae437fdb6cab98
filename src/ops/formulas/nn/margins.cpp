#include "generated/ops/activation.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/classification.h"
#include "generated/ops/comparison.h"
#include "generated/ops/creation.h"
#include "generated/ops/formulas/nn/classification.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::ops::formulas {
namespace {

void check_classes(const Tensor& input, const char* name) {
    check(input.dim() <= 2 && (input.dim() == 0 || input.size(-1) != 0), ErrorKind::Runtime, "[", name,
          "] Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", ShapeOf{input.sizes()});
}

Tensor as_rows(const Tensor& t) { return t.dim() == 2 ? t : ops::reshape(t, Dims{1, -1}); }
// A loss for each row, or for the only sample.
Tensor of_samples(const Tensor& rows, const Tensor& input) {
    return input.dim() == 2 ? rows : ops::squeeze_dim(rows, 0);
}

}  // namespace

Tensor multi_margin(const Tensor& input, const Tensor& target, int64_t p, double margin, const Tensor& weight) {
    check(p == 1 || p == 2, ErrorKind::Runtime, "multi_margin_loss: only p == 1 and p == 2 supported, got ", p);
    check_classes(input, "multi_margin_loss");
    const Tensor scores = as_rows(input), labels = ops::reshape(target, Dims{-1, 1});
    Tensor violation = ops::clamp_min(margin - ops::gather(scores, 1, labels) + scores, 0);
    if (p == 2) violation = ops::square(violation);
    if (weight.defined())
        violation = violation * ops::reshape(ops::index_select(weight, 0, ops::flatten(labels)), Dims{-1, 1});
    const int64_t classes = scores.size(1);
    const Tensor others = ops::where(ops::eq(kernels::arange(0, classes, 1, beside(labels)), labels), 0, violation);
    return of_samples(ops::sum(others, Dims{1}) / classes, input);
}

Tensor multilabel_margin(const Tensor& input, const Tensor& target) {
    check_classes(input, "multilabel_margin_loss");
    const Tensor scores = as_rows(input), labels = as_rows(target);
    return of_samples(std::get<0>(ops::multilabel_margins(scores, labels)), input);
}

Tensor multilabel_soft_margin(const Tensor& input, const Tensor& target, const Tensor& weight) {
    const Tensor loss = -(target * ops::log_sigmoid(input) + (1 - target) * ops::log_sigmoid(-input));
    return ops::mean(weight.defined() ? loss * weight : loss, Dims{-1});
}

}  // namespace wengert::ops::formulas
