#include "ops/formulas/random.h"

#include <cmath>

#include "generated/ops/ops.h"
#include "kernels/random.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

Tensor uniform_like(const Tensor& self, std::optional<DType> dtype, Generator* generator) {
    Tensor out = empty_like(self, dtype.value_or(self.dtype()));
    kernels::uniform_(out, 0, 1, generator);
    return out;
}

Tensor normal_like(const Tensor& self, std::optional<DType> dtype, Generator* generator) {
    Tensor out = empty_like(self, dtype.value_or(self.dtype()));
    kernels::normal_(out, 0, 1, generator);
    return out;
}

Tensor integers_like(const Tensor& self, int64_t low, int64_t high, std::optional<DType> dtype, Generator* generator) {
    Tensor out = empty_like(self, dtype.value_or(self.dtype()));
    kernels::random_integers_(out, low, high, generator);
    return out;
}

Tensor ones_of_probability(const Tensor& self, double p, Generator* generator) {
    Tensor out = empty_like(self);
    kernels::bernoulli_(out, p, generator);
    return out;
}

Tensor normal_of(const Operand& mean, const Operand& std, Generator* generator) {
    const NoGradGuard unrecorded;
    const AutoForwardGradMode no_tangents(false);
    const Tensor like = ops::add(mean, std);
    return ops::add(ops::mul(normal_like(like, {}, generator), std), mean);
}

namespace {

void check_probability(double p) {
    check(p >= 0 && p <= 1, ErrorKind::Value, "[dropout] dropout probability has to be between 0 and 1, but got ", p);
}

// Ones for what is kept.
Tensor kept(const Tensor& input, double p, bool by_channel) {
    Dims shape = input.sizes();
    if (by_channel) {
        check(input.dim() >= 2, ErrorKind::Runtime, "[dropout] Feature dropout requires at least 2 dimensions in the input, got ",
              ShapeOf{shape});
        for (size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
    }
    Tensor mask = empty(shape, real_dtype(input.dtype()));
    kernels::bernoulli_(mask, 1 - p, nullptr);
    return mask;
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

}  // namespace wengert::ops::formulas
