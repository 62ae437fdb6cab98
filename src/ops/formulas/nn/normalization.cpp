#include "generated/ops/formulas/nn/normalization.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/reductions/reductions.h"
#include "generated/ops/indexing.h"
#include "generated/ops/normalization.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/resize.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "ops/known_values.h"
#include "ops/recording.h"
#include "tensor/dtype_limits.h"

namespace wengert::ops::formulas {

using ThreeGradients = std::tuple<Tensor, Tensor, Tensor>;

// --- softmax

namespace {

// Only differences of t matter, as the probabilities add up to 1. Measured from that of the most probable element nothing
// cancels where this one has almost all of the probability.
Tensor from_most_probable(const Tensor& t, const Tensor& result, int64_t dim) {
    if (t.dim() == 0) return t - t;
    if (t.numel() == 0) return t;
    return t - ops::gather(t, dim, ops::argmax(detach(result), dim, true));
}

}  // namespace

Tensor softmax_derivative(const Tensor& t, const Tensor& result, int64_t dim) {
    const Tensor difference = from_most_probable(t, result, dim);
    return chain_rule(difference - ops::sum(chain_rule(difference, result), Dims{dim}, true), result);
}

// grad - p * sum(grad). For a probability above 1/2, of which a row has one at most, it is written with 1 - p, taken from
// the logarithm, and with the sum over the others.
Tensor log_softmax_grad(const Tensor& grad, const Tensor& result, int64_t dim) {
    const Tensor p = ops::exp(result), dominant = ops::gt(result, -0.69314718055994531);
    const Tensor all = ops::sum(grad, Dims{dim}, true),
                 others = ops::sum(ops::where(dominant, 0, grad), Dims{dim}, true);
    return chain_rule(grad, ops::where(dominant, -ops::expm1(result), 1)) -
           chain_rule(ops::where(dominant, others, all), p);
}

Tensor log_softmax_tangent(const Tensor& tangent, const Tensor& result, int64_t dim) {
    const Tensor difference = from_most_probable(tangent, result, dim);
    return difference - ops::sum(chain_rule(difference, ops::exp(result)), Dims{dim}, true);
}

Tensor as_dtype(const Tensor& t, std::optional<DType> dtype) { return dtype ? ops::to_dtype(t, *dtype) : t; }

// --- Normalisation

namespace {

Tensor mean_over(const Tensor& t, const Dims& dims) {
    int64_t count = 1;
    for (int64_t d : dims) count *= t.sizes()[static_cast<size_t>(d)];
    return ops::sum(t, dims, true) / static_cast<double>(count);
}

// Of numbers that are equal it is that number, as the kernels find it.
Tensor exact_mean(const Tensor& t, const Dims& dims) {
    return t.numel() == 0 ? mean_over(t, dims) : std::get<1>(ops::var_mean(t, dims, 0, true));
}

// Whether squares of data that are in range are not.
bool leaves_range(const Tensor& variance, double eps) {
    Tensor beyond = ops::isinf(detach(variance));
    const double least = limits_of(variance.dtype()).min;
    if (eps < least) beyond = ops::logical_or(beyond, ops::lt(detach(variance), least / 1e-16));
    return ops::is_any_true(unbatched(beyond));
}

// x_hat = (x - mean) * rstd over `dims`, in the dtype that is computed in; the mean counts as 0 where not `centered`.
class Standardized {
public:
    Standardized(const Tensor& given, Dims dims, double eps, bool centered)
        : dims_(std::move(dims)), centered_(centered) {
        const Tensor x = ops::to_dtype(given, opmath_dtype(given.dtype()));
        const Tensor deviation = centered ? x - exact_mean(x, dims_) : x;
        const Tensor variance = mean_over(ops::square(deviation), dims_);
        if (leaves_range(variance, eps)) {
            const double n = static_cast<double>(reduced_count(x.sizes(), dims_));
            const Tensor length = ops::linalg_vector_norm(deviation, 2, dims_, true);
            rstd_ = 1 / ops::hypot(length / std::sqrt(n), std::sqrt(eps));
        } else {
            rstd_ = ops::rsqrt(variance + eps);
        }
        hat_ = deviation * rstd_;
    }
    const Tensor& hat() const { return hat_; }
    // Gradient and tangent alike: the Jacobian rstd (I - 1 1^T / n - hat hat^T / n) is symmetric.
    Tensor derivative(const Tensor& t) const {
        Tensor rest = t - chain_rule(mean_over(chain_rule(t, hat_), dims_), hat_);
        if (centered_) rest = rest - mean_over(t, dims_);
        return chain_rule(rest, rstd_);
    }

private:
    Dims dims_;
    bool centered_;
    Tensor rstd_, hat_;
};

Dims range(int64_t first, int64_t last) {
    Dims dims;
    for (int64_t d = first; d < last; ++d) dims.push_back(d);
    return dims;
}
Dims last_dims(const Tensor& t, size_t count) { return range(t.dim() - static_cast<int64_t>(count), t.dim()); }
Dims all_but_channel(const Tensor& t) {
    Dims dims{0};
    for (int64_t d = 2; d < t.dim(); ++d) dims.push_back(d);
    return dims;
}

double or_epsilon(std::optional<double> eps, DType dtype) { return eps ? *eps : limits_of(dtype).epsilon; }

// [N, C, ...] -> [N, G, C / G * ...]
Tensor grouped(const Tensor& t, int64_t groups) {
    const int64_t batch = t.sizes()[0];
    return ops::reshape(t, Dims{batch, groups, batch * groups == 0 ? 0 : t.numel() / (batch * groups)});
}
Tensor ungrouped(const Tensor& t, const Tensor& like) { return ops::reshape(t, like.sizes()); }

Tensor sum_channels(const Tensor& t) { return ops::sum(t, all_but_channel(t)); }

}  // namespace

Tensor times(const Tensor& t, const Tensor& weight) { return weight.defined() ? chain_rule(t, weight) : t; }

Tensor along_channels(const Tensor& weight, int64_t dim) {
    Dims shape(static_cast<size_t>(dim), 1);
    shape[1] = weight.numel();
    return ops::reshape(weight, shape);
}

Tensor times_channels(const Tensor& t, const Tensor& weight) {
    return weight.defined() ? chain_rule(t, along_channels(weight, t.dim())) : t;
}

ThreeGradients layer_norm_grads(const Tensor& grad, const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                                double eps, const std::array<bool, 3>& mask) {
    const Standardized x(input, last_dims(input, normalized_shape.size()), eps, true);
    ThreeGradients out;
    if (mask[0]) std::get<0>(out) = x.derivative(times(grad, weight));
    if (mask[1]) std::get<1>(out) = ops::sum_to_size(chain_rule(grad, x.hat()), normalized_shape);
    if (mask[2]) std::get<2>(out) = ops::sum_to_size(grad, normalized_shape);
    return out;
}
Tensor layer_norm_hat(const Tensor& input, IntSpan normalized_shape, double eps) {
    return Standardized(input, last_dims(input, normalized_shape.size()), eps, true).hat();
}
Tensor layer_norm_tangent(const Tensor& tangent, const Tensor& input, IntSpan normalized_shape, double eps) {
    return Standardized(input, last_dims(input, normalized_shape.size()), eps, true).derivative(tangent);
}

std::tuple<Tensor, Tensor> rms_norm_grads(const Tensor& grad, const Tensor& input, IntSpan normalized_shape,
                                          const Tensor& weight, std::optional<double> eps,
                                          const std::array<bool, 2>& mask) {
    const Standardized x(input, last_dims(input, normalized_shape.size()), or_epsilon(eps, input.dtype()), false);
    std::tuple<Tensor, Tensor> out;
    if (mask[0]) std::get<0>(out) = x.derivative(times(grad, weight));
    if (mask[1]) std::get<1>(out) = ops::sum_to_size(chain_rule(grad, x.hat()), normalized_shape);
    return out;
}
Tensor rms_norm_hat(const Tensor& input, IntSpan normalized_shape, std::optional<double> eps) {
    return Standardized(input, last_dims(input, normalized_shape.size()), or_epsilon(eps, input.dtype()), false).hat();
}
Tensor rms_norm_tangent(const Tensor& tangent, const Tensor& input, IntSpan normalized_shape,
                        std::optional<double> eps) {
    return Standardized(input, last_dims(input, normalized_shape.size()), or_epsilon(eps, input.dtype()), false)
        .derivative(tangent);
}

Tensor rms_norm_of(const Tensor& input, IntSpan normalized_shape, const Tensor& weight, std::optional<double> eps) {
    if (!is_complex(input.dtype())) return std::get<0>(ops::native_rms_norm(input, normalized_shape, weight, eps));
    const auto count = static_cast<int64_t>(normalized_shape.size());
    check(count > 0 && input.dim() >= count &&
              std::ranges::equal(IntSpan(input.sizes()).last(normalized_shape.size()), normalized_shape),
          ErrorKind::Runtime, "[rms_norm] normalized_shape ", ShapeOf{normalized_shape},
          " must be the last sizes of the input, ", ShapeOf{input.sizes()});
    Dims last;
    for (int64_t d = -count; d < 0; ++d) last.push_back(d);
    const double unit = limits_of(input.dtype()).epsilon;
    const Tensor scale = ops::rsqrt(ops::mean(ops::square(input), last, true) + eps.value_or(unit));
    return weight.defined() ? input * scale * weight : input * scale;
}

std::tuple<Tensor, Tensor, Tensor> group_norm_of_sizes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                       int64_t batch, int64_t channels, int64_t space, int64_t groups,
                                                       double eps) {
    check(
        input.dim() >= 2 && input.size(0) == batch && input.size(1) == channels &&
            input.numel() == checked_mul(checked_mul(batch, channels, "native_group_norm"), space, "native_group_norm"),
        ErrorKind::Runtime, "[native_group_norm] N, C and HxW, ", batch, ", ", channels, " and ", space,
        ", are not the sizes of the input, ", ShapeOf{input.sizes()});
    return ops::group_norm_statistics(input, groups, weight, bias, eps);
}

ThreeGradients group_norm_grads(const Tensor& grad, const Tensor& input, int64_t num_groups, const Tensor& weight,
                                double eps, const std::array<bool, 3>& mask) {
    const Standardized x(grouped(input, num_groups), Dims{2}, eps, true);
    ThreeGradients out;
    if (mask[0]) std::get<0>(out) = ungrouped(x.derivative(grouped(times_channels(grad, weight), num_groups)), input);
    if (mask[1]) std::get<1>(out) = sum_channels(chain_rule(grad, ungrouped(x.hat(), input)));
    if (mask[2]) std::get<2>(out) = sum_channels(grad);
    return out;
}
Tensor group_norm_hat(const Tensor& input, int64_t num_groups, double eps) {
    return ungrouped(Standardized(grouped(input, num_groups), Dims{2}, eps, true).hat(), input);
}
Tensor group_norm_tangent(const Tensor& tangent, const Tensor& input, int64_t num_groups, double eps) {
    return ungrouped(
        Standardized(grouped(input, num_groups), Dims{2}, eps, true).derivative(grouped(tangent, num_groups)), input);
}

ThreeGradients batch_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                const Tensor& rstd, bool training, double eps, const std::array<bool, 3>& mask) {
    ThreeGradients out;
    const Tensor scaled = times_channels(grad, weight);
    if (mask[0]) std::get<0>(out) = batch_norm_tangent(scaled, input, rstd, training, eps);
    if (mask[1]) std::get<1>(out) = sum_channels(chain_rule(grad, batch_norm_hat(input, mean, rstd, training, eps)));
    if (mask[2]) std::get<2>(out) = sum_channels(grad);
    return out;
}
Tensor batch_norm_hat(const Tensor& input, const Tensor& mean, const Tensor& rstd, bool training, double eps) {
    if (training) return Standardized(input, all_but_channel(input), eps, true).hat();
    return (input - along_channels(mean, input.dim())) * along_channels(rstd, input.dim());
}
Tensor batch_norm_tangent(const Tensor& tangent, const Tensor& input, const Tensor& rstd, bool training, double eps) {
    if (training) return Standardized(input, all_but_channel(input), eps, true).derivative(tangent);
    return chain_rule(tangent, along_channels(rstd, input.dim()));
}

// --- Layers

Tensor batch_norm_checked(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                          const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
    check(input.dim() >= 2, ErrorKind::Value, "[batch_norm] expected at least 2D input (got ", input.dim(), "D input)");
    if (training) {
        const int64_t per_channel = input.sizes()[1] == 0 ? 0 : input.numel() / input.sizes()[1];
        check(per_channel != 1, ErrorKind::Value,
              "[batch_norm] Expected more than 1 value per channel when training, got input size ",
              ShapeOf{input.sizes()});
    } else {
        check(running_mean.defined() && running_var.defined(), ErrorKind::Runtime,
              "[batch_norm] Expected running_mean and running_var to be defined when training=False");
    }
    for (const Tensor* running : {&running_mean, &running_var})
        if (training && running->defined()) check_inplace(*running, false);
    Tensor out =
        std::get<0>(ops::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
    if (training && running_mean.defined()) bump_version(running_mean, "batch_norm");
    if (training && running_var.defined()) bump_version(running_var, "batch_norm");
    return out;
}

Tensor instance_norm_composed(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                              const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
                              double eps) {
    check(input.dim() >= 2, ErrorKind::Value, "[instance_norm] expected at least 2D input (got ", input.dim(),
          "D input)");
    if (!use_input_stats)
        return batch_norm_checked(input, running_mean, running_var, weight, bias, false, momentum, eps);
    const Dims space = range(2, input.dim());
    Tensor normalized = ops::group_norm(input, input.sizes()[1], weight, bias, eps);
    if (running_mean.defined() || running_var.defined()) {  // means over the batch of the statistics of each sample
        const NoGradGuard unrecorded;
        auto moved = [&](const Tensor& running, const Tensor& statistic) {
            if (!running.defined()) return Tensor();
            check(running.dim() == 1 && running.numel() == input.sizes()[1], ErrorKind::Runtime,
                  "[instance_norm] running statistics should have ", input.sizes()[1],
                  " elements in one dimension, got shape ", ShapeOf{running.sizes()});
            check(is_floating(running.dtype()), ErrorKind::Runtime,
                  "[instance_norm] running statistics should be floating-point, got ", running.dtype());
            check_inplace(running, false);
            kernels::check_no_internal_overlap(running, "instance_norm");
            return ops::add(ops::mul(running, 1 - momentum), ops::mul(kernels::mean(statistic, Dims{0}), momentum));
        };
        auto update = [](const Tensor& running, const Tensor& value) {
            if (!running.defined()) return;
            kernels::copy_into(running, value);
            bump_version(running, "instance_norm");
        };
        const Tensor mean = moved(running_mean, kernels::mean(input, space)),
                     var = moved(running_var, kernels::var(input, space, 1));
        update(running_mean, mean);
        update(running_var, var);
    }
    return normalized;
}

Tensor divided_by_neighbours(const Tensor& input, int64_t size, double alpha, double beta, double k) {
    check(input.dim() >= 3, ErrorKind::Value, "[local_response_norm] Expected 3D or higher dimensionality input (got ",
          input.dim(), " dimensions)");
    Dims pad(static_cast<size_t>(2 * (input.dim() - 2)), 0);  // the last dimension first
    pad.push_back(size / 2);
    pad.push_back((size - 1) / 2);
    const Tensor squares = ops::constant_pad_nd(ops::square(input), pad);
    const Tensor means = ops::mean(ops::unfold(squares, 1, size, 1), Dims{-1});
    return input / ops::pow(means * alpha + k, beta);
}

}  // namespace wengert::ops::formulas
