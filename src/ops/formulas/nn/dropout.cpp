#include "generated/ops/formulas/nn/dropout.h"

#include <cmath>

#include "generated/ops/activation.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/creation.h"
#include "generated/ops/exponential.h"
#include "generated/ops/indexing.h"
#include "generated/ops/normalization.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/where.h"
#include "kernels/random/random.h"
#include "ops/batching/random.h"

namespace wengert::ops::formulas {

namespace {

void check_probability(double p) {
    check(p >= 0 && p <= 1, ErrorKind::Value, "[dropout] dropout probability has to be between 0 and 1, but got ", p);
}

// Ones for what is kept.
Tensor kept(const Tensor& input, double p, bool by_channel) {
    Dims shape = input.sizes();
    if (by_channel) {
        check(input.dim() >= 2, ErrorKind::Runtime,
              "[dropout] Feature dropout requires at least 2 dimensions in the input, got ", ShapeOf{shape});
        for (size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
    }
    return batching::drawn(empty(shape, real_dtype(input.dtype()), input.device()),
                           [&](const Tensor& mask) { kernels::bernoulli_(mask, 1 - p, nullptr); });
}

}  // namespace

Tensor dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel) {
    check_probability(p);
    if (!training || p == 0) return input;
    Tensor mask = kept(input, p, by_channel);
    if (p < 1) mask = ops::div(mask, 1 - p);
    return inplace ? ops::mul_(input, mask) : ops::mul(input, mask);
}

// Klambauer et al. (2017): what is dropped becomes selu's limit at -inf, and an affine map restores mean and variance.
Tensor alpha_dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel) {
    check_probability(p);
    if (!training || p == 0) return input;
    constexpr double kLimit = -1.7580993408473766;
    const Tensor mask = kept(input, p, by_channel);
    if (p == 1) return inplace ? ops::mul_(input, mask) : ops::mul(input, mask);
    const double a = 1 / std::sqrt((1 - p) * (1 + p * kLimit * kLimit));
    const Tensor scale = mask * a, shift = (1 - mask) * (a * kLimit) - p * a * kLimit;
    return inplace ? ops::add_(ops::mul_(input, scale), shift) : input * scale + shift;
}

Tensor leaky_by_chance(const Tensor& input, double lower, double upper, bool training, bool inplace,
                       Generator* generator) {
    if (!training) {
        const Tensor mean = ops::leaky_relu(input, (lower + upper) / 2);
        return inplace ? ops::copy_(input, mean) : mean;
    }
    const Tensor slope = batching::drawn(
        empty_like(input), [&](const Tensor& memory) { kernels::uniform_(memory, lower, upper, generator); });
    const Tensor result = ops::where(ops::gt(input, 0), input, input * slope);
    return inplace ? ops::copy_(input, result) : result;
}

Tensor sampled_softmax(const Tensor& logits, double temperature, bool hard, int64_t dim, Generator* generator) {
    const Tensor waiting =
        batching::drawn(empty_like(logits), [&](const Tensor& memory) { kernels::exponential_(memory, 1, generator); });
    const Tensor soft = ops::softmax((logits - ops::log(waiting)) / temperature, dim);
    if (!hard) return soft;
    const Tensor chosen = ops::scatter_value(ops::zeros_like(logits, {}), dim, ops::argmax(soft, dim, true), 1.0);
    return chosen - detach(soft) + soft;
}

}  // namespace wengert::ops::formulas
