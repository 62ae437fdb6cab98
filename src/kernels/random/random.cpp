#include "kernels/random/random.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/random/random_kernels.h"
#include "kernels/shape/shape.h"
#include "tensor/dtype_limits.h"
#include "tensor/promotion.h"

namespace wengert::kernels {
namespace {

Generator* or_default(Generator* generator) { return generator ? generator : &default_generator(); }

// fill(out) on `self`, or on memory in its place that has no gaps.
template <class Fill>
void fill_dense(const Tensor& self, Fill&& fill) {
    check_no_internal_overlap(self, "a random fill");
    const Tensor out = self.is_contiguous() ? self : empty(self.sizes(), self.dtype(), self.device());
    fill(out);
    if (!out.is_same(self)) copy_into(self, out);
}

void draw(const Tensor& self, Distribution d, double a, double b, Generator* generator) {
    fill_dense(self, [&](const Tensor& out) { random_kernel(out, d, a, b, or_default(generator)); });
}

void check_real(const Tensor& self, const char* op) {
    check(is_floating(self.dtype()), ErrorKind::Runtime, "[", op, "] needs a floating-point tensor, got ",
          self.dtype());
}

// What is less than this is less than `high` when it has been rounded to a reduced dtype, too.
double below(double low, double high, DType dtype) {
    if (!is_reduced_floating(dtype) || !(low < high)) return high;
    const double rounded = dtype == DType::Float16 ? double{Half(high)} : double{BFloat16(high)};
    if (rounded < high || !std::isfinite(rounded)) return high;
    const auto [epsilon, min, max] = limits_of(dtype);
    int exponent;
    const bool is_power = std::frexp(std::max(std::abs(rounded), min), &exponent) == 0.5 && rounded > 0;
    return std::max(low, rounded - std::ldexp(epsilon, exponent - (is_power ? 3 : 2)));
}

}  // namespace

void uniform_(const Tensor& self, double low, double high, Generator* generator) {
    check_real(self, "uniform_");
    check(low <= high, ErrorKind::Runtime, "uniform_ expects to return a [from, to) range, but found from=", low,
          " > to=", high);
    draw(self, Distribution::Uniform, low, below(low, high, self.dtype()), generator);
}

void uniform_real_and_imaginary_(const Tensor& self, Generator* generator) {
    uniform_(is_complex(self.dtype()) ? view_as_real(self) : self, 0, 1, generator);
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
    check(is_differentiable(self.dtype()), ErrorKind::Runtime,
          "[normal_] needs a floating-point or complex tensor, got ", self.dtype());
    check(std >= 0, ErrorKind::Runtime, "normal expects std >= 0.0, but found std ", std);
    draw(self, Distribution::Normal, mean, std, generator);
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
    check_real(self, "log_normal_");
    check(std > 0, ErrorKind::Runtime, "log_normal_ expects std > 0.0, but found std=", std);
    draw(self, Distribution::LogNormal, mean, std, generator);
}

void exponential_(const Tensor& self, double lambd, Generator* generator) {
    check_real(self, "exponential_");
    check(lambd > 0, ErrorKind::Runtime, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
    draw(self, Distribution::Exponential, lambd, 0, generator);
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
    check_real(self, "cauchy_");
    check(sigma > 0, ErrorKind::Runtime, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
    draw(self, Distribution::Cauchy, median, sigma, generator);
}

void geometric_(const Tensor& self, double p, Generator* generator) {
    check(0 < p && p < 1, ErrorKind::Runtime, "geometric_ expects p to be in (0, 1), but got p=", p);
    draw(self, Distribution::Geometric, p, 0, generator);
}

void bernoulli_(const Tensor& self, double p, Generator* generator) {
    check(0 <= p && p <= 1, ErrorKind::Runtime, "bernoulli_ expects p to be in [0, 1], but got p=", p);
    draw(self, Distribution::Bernoulli, p, 0, generator);
}

namespace {

void draw_integers(const Tensor& self, int64_t low, uint64_t range, Generator* generator) {
    fill_dense(self, [&](const Tensor& out) { random_integers_kernel(out, low, range, or_default(generator)); });
}

// The largest integer that a dtype counts up to without gaps; one less where there are 2^63 or 2^64.
uint64_t largest_integer(DType d) {
    switch (d) {
        case DType::Float16:
            return uint64_t{1} << 11;
        case DType::BFloat16:
            return uint64_t{1} << 8;
        case DType::Float32:
        case DType::Complex64:
            return uint64_t{1} << 24;
        case DType::Float64:
        case DType::Complex128:
            return uint64_t{1} << 53;
        case DType::Bool:
            return 1;
        case DType::Int64:
            return INT64_MAX - 1;
        case DType::UInt64:
            return UINT64_MAX - 1;
        default:
            return (uint64_t{1} << (8 * item_size(d) - is_signed(d))) - 1;
    }
}

}  // namespace

void random_integers_(const Tensor& self, int64_t low, int64_t high, Generator* generator) {
    check(low < high, ErrorKind::Runtime, "random_ expects 'from' to be less than 'to', but got from=", low,
          " >= to=", high);
    draw_integers(self, low, static_cast<uint64_t>(high) - static_cast<uint64_t>(low), generator);
}

void random_from_(const Tensor& self, int64_t low, std::optional<int64_t> high, Generator* generator) {
    if (high) return random_integers_(self, low, *high, generator);
    const uint64_t end = largest_integer(self.dtype()) + 1;
    check(low < 0 || static_cast<uint64_t>(low) < end, ErrorKind::Runtime,
          "random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", end);
    draw_integers(self, low, end - static_cast<uint64_t>(low), generator);
}

void random_permutations_(const Tensor& self, Generator* generator) {
    fill_dense(self, [&](const Tensor& out) { random_permutations_kernel(out, or_default(generator)); });
}

void check_probabilities(const Tensor& p) {
    check_real(p, "bernoulli");
    check_probabilities_kernel(contiguous(p));
}

void check_deviations(const Tensor& std) { check_deviations_kernel(contiguous(std)); }

Tensor bernoulli(const Tensor& probabilities, Generator* generator) {
    check_probabilities(probabilities);
    Tensor out = clone(contiguous(probabilities));
    bernoulli_of_kernel(out, or_default(generator));
    return out;
}

void bernoulli_with_(const Tensor& self, const Tensor& p, Generator* generator) {
    copy_into(self, bernoulli(expand(p, self.sizes()), generator));
}

Tensor bernoulli_like(const Tensor& self, double p, Generator* generator) {
    Tensor out = empty_like(self);
    bernoulli_(out, p, generator);
    return out;
}

Tensor normal(const Operand& mean, const Operand& std, Generator* generator) {
    const Device device = (mean.is_tensor() ? mean : std).impl()->storage->device();
    Tensor out = empty(broadcast_shapes(mean.sizes(), std.sizes(), "normal"), result_type({mean, std}), device);
    const auto whole = [&](const Operand& o) {
        if (!o.is_tensor()) return full(out.sizes(), o.scalar(), out.dtype(), device);
        return contiguous(expand(to_dtype(o.tensor(), out.dtype()), out.sizes()));
    };
    const Tensor means = whole(mean), deviations = whole(std);
    check_deviations(std.is_tensor() ? to_dtype(std.tensor(), out.dtype()) : deviations);
    normal_(out, 0, 1, generator);
    shift_normal_kernel(out, means, deviations);
    return out;
}

Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement, Generator* generator) {
    check(weights.dim() == 1 || weights.dim() == 2, ErrorKind::Runtime, "prob_dist must be 1 or 2 dim, got ",
          weights.dim());
    check_real(weights, "multinomial");
    const int64_t categories = weights.size(-1), rows = weights.dim() == 2 ? weights.sizes()[0] : 1;
    check(num_samples > 0, ErrorKind::Runtime, "cannot sample n_sample <= 0 samples");
    check(replacement || num_samples <= categories, ErrorKind::Runtime,
          "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    const Tensor w = contiguous(to_dtype(weights, DType::Float64));
    Dims sizes = weights.dim() == 2 ? Dims{rows, num_samples} : Dims{num_samples};
    Tensor out = empty(sizes, DType::Int64, weights.device());
    multinomial_kernel(out, w, rows, num_samples, replacement, or_default(generator));
    return out;
}

}  // namespace wengert::kernels
