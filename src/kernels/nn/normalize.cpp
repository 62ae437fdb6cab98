#include "kernels/nn/normalize.h"

#include <algorithm>
#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/nn/normalize_kernels.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "tensor/dtype_limits.h"
#include "tensor/writes/writable.h"

namespace wengert::kernels {
namespace {

Tensor dense(const Tensor& t, DType dtype) { return t.defined() ? contiguous(to_dtype(t, dtype)) : Tensor(); }

// A result of the backward kernels, if it is asked for.
Tensor empty_if(bool asked, IntSpan sizes, DType dtype, const Tensor& input) {
    return asked ? empty(sizes, dtype, input.device()) : Tensor();
}

// Statistics, weights and their gradients are of the dtype that is computed in, which the input need not be.
struct DTypes {
    DType input, math;
    DTypes(const Tensor& t, const char* op) : input(t.dtype()), math(opmath_dtype(t.dtype())) {
        check_floating(input, op);
    }
};

// The split into rows of layer_norm and rms_norm.
struct Rows {
    int64_t rows = 1, n = 1;
    Dims statistics;  // their shape
    Rows(const Tensor& input, IntSpan normalized, const Tensor& weight, const Tensor& bias, const char* op) {
        check(!normalized.empty(), ErrorKind::Runtime, "[", op,
              "] Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element");
        const size_t lead = input.sizes().size() - normalized.size();
        check(input.sizes().size() >= normalized.size() &&
                  std::equal(normalized.begin(), normalized.end(), input.sizes().begin() + lead),
              ErrorKind::Runtime, "[", op, "] Given normalized_shape=", ShapeOf{normalized},
              ", expected input with shape [*, ", ShapeOf{normalized}, "], but got input of size",
              ShapeOf{input.sizes()});
        for (const auto& [name, t] : {std::pair("weight", &weight), std::pair("bias", &bias)})
            check(!t->defined() || t->sizes() == Dims(normalized), ErrorKind::Runtime, "[", op, "] Expected ", name,
                  " to be of same shape as normalized_shape, but got ", name, " of shape ",
                  ShapeOf{t->defined() ? IntSpan(t->sizes()) : IntSpan()},
                  " and normalized_shape = ", ShapeOf{normalized});
        for (size_t d = 0; d < input.sizes().size(); ++d) {
            (d < lead ? rows : n) *= input.sizes()[d];
            statistics.push_back(d < lead ? input.sizes()[d] : 1);
        }
    }
};

ThreeTensors norm_forward(const Tensor& input, IntSpan normalized, const Tensor& weight, const Tensor& bias, double eps,
                          bool center, const char* op) {
    const Rows r(input, normalized, weight, bias, op);
    const DTypes dtypes(input, op);
    const Tensor in = contiguous(input), w = dense(weight, dtypes.math), b = dense(bias, dtypes.math);
    Tensor out = empty(input.sizes(), dtypes.input, input.device()),
           mean = empty_if(center, r.statistics, dtypes.math, input),
           rstd = empty(r.statistics, dtypes.math, input.device());
    layer_norm_kernel(out, mean, rstd, in, w, b, r.n, eps);
    return {out, mean, rstd};
}

ThreeTensors norm_backward(const Tensor& grad, const Tensor& input, IntSpan normalized, const Tensor& mean,
                           const Tensor& rstd, const Tensor& weight, OutputMask output_mask, const char* op) {
    const Rows r(input, normalized, weight, {}, op);
    const DTypes dtypes(input, op);
    const Tensor g = dense(grad, dtypes.input), in = contiguous(input), w = dense(weight, dtypes.math),
                 m = dense(mean, dtypes.math), s = dense(rstd, dtypes.math);
    Tensor grad_in = empty_if(output_mask[0], input.sizes(), dtypes.input, input),
           grad_weight = empty_if(output_mask[1], normalized, dtypes.math, input),
           grad_bias = empty_if(output_mask[2], normalized, dtypes.math, input);
    if (has_values(in) && !layer_norm_backward_kernel(grad_in, grad_weight, grad_bias, g, in, m, s, w, r.n)) return {};
    return {grad_in, grad_weight, grad_bias};
}

// [N, C, space]
struct Channels {
    int64_t batch, channels, space = 1;
    Channels(const Tensor& input, const Tensor& weight, const Tensor& bias, const char* op) {
        check(input.dim() >= 2, ErrorKind::Runtime, "[", op,
              "] Expected at least 2 dimensions for input tensor but received ", input.dim());
        batch = input.sizes()[0];
        channels = input.sizes()[1];
        for (int64_t d = 2; d < input.dim(); ++d) space *= input.sizes()[d];
        for (const auto& [name, t] : {std::pair("weight", &weight), std::pair("bias", &bias)})
            check(!t->defined() || (t->dim() == 1 && t->numel() == channels), ErrorKind::Runtime, "[", op,
                  "] Expected ", name, " to be a vector of size equal to the number of channels in input, but got ",
                  name, " of shape ", ShapeOf{t->defined() ? IntSpan(t->sizes()) : IntSpan()}, " and input of shape ",
                  ShapeOf{input.sizes()});
    }
};

}  // namespace

ThreeTensors layer_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight, const Tensor& bias,
                        double eps) {
    return norm_forward(input, normalized_shape, weight, bias, eps, true, "layer_norm");
}

ThreeTensors layer_norm_backward(const Tensor& grad, const Tensor& input, IntSpan normalized_shape, const Tensor& mean,
                                 const Tensor& rstd, const Tensor& weight, OutputMask output_mask) {
    return norm_backward(grad, input, normalized_shape, mean, rstd, weight, output_mask, "layer_norm");
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                                    std::optional<double> eps) {
    const double e = eps.value_or(limits_of(input.dtype()).epsilon);
    auto [out, mean, rstd] = norm_forward(input, normalized_shape, weight, {}, e, false, "rms_norm");
    return {out, rstd};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad, const Tensor& input, IntSpan normalized_shape,
                                             const Tensor& rstd, const Tensor& weight,
                                             std::array<bool, 2> output_mask) {
    auto [grad_in, grad_weight, unused] = norm_backward(grad, input, normalized_shape, {}, rstd, weight,
                                                        {output_mask[0], output_mask[1], false}, "rms_norm");
    return {grad_in, grad_weight};
}

// --- Groups: statistics over rows of (channels / groups) * space elements.

ThreeTensors group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
    const Channels c(input, weight, bias, "group_norm");
    check(num_groups > 0 && c.channels % num_groups == 0, ErrorKind::Runtime,
          "[group_norm] Expected number of channels in input to be divisible by num_groups, but got input of shape ",
          ShapeOf{input.sizes()}, " and num_groups=", num_groups);
    const DTypes dtypes(input, "group_norm");
    const int64_t row = c.channels / num_groups * c.space;
    const Tensor in = contiguous(input), w = dense(weight, dtypes.math), b = dense(bias, dtypes.math);
    const Tensor rows = alias(in, Dims{c.batch * num_groups, row}, Dims{row, 1}, in.offset());
    auto [variance, mean] = var_mean(to_dtype(rows, dtypes.math), Dims{1}, 0);
    const Dims shape{c.batch, num_groups};
    Tensor out = empty(input.sizes(), dtypes.input, input.device()), rstd = empty(shape, dtypes.math, input.device());
    group_norm_kernel(out, rstd, in, mean, variance, w, b, eps);
    return {out, alias(mean, shape, Dims{num_groups, 1}, 0), rstd};
}

ThreeTensors group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                 const Tensor& weight, int64_t num_groups, OutputMask output_mask) {
    const Channels c(input, weight, {}, "group_norm");
    const DTypes dtypes(input, "group_norm");
    const Tensor g = dense(grad, dtypes.input), in = contiguous(input), w = dense(weight, dtypes.math),
                 m = dense(mean, dtypes.math), s = dense(rstd, dtypes.math);
    Tensor grad_in = empty_if(output_mask[0], input.sizes(), dtypes.input, input),
           grad_weight = empty_if(output_mask[1], Dims{c.channels}, dtypes.math, input),
           grad_bias = empty_if(output_mask[2], Dims{c.channels}, dtypes.math, input);
    if (has_values(in) && !group_norm_backward_kernel(grad_in, grad_weight, grad_bias, g, in, m, s, w, num_groups))
        return {};
    return {grad_in, grad_weight, grad_bias};
}

// --- Batches: statistics over [batch, space] of each channel.

namespace {

// Everything that could be wrong with a running statistic: it is written last.
void check_running(const Tensor& t, const char* name, int64_t channels, DType dtype, bool written) {
    if (!t.defined()) return;
    check(t.dim() == 1 && t.numel() == channels, ErrorKind::Runtime, "[batch_norm] ", name, " should contain ",
          channels, " elements in one dimension, got shape ", ShapeOf{t.sizes()});
    check(is_floating(t.dtype()), ErrorKind::Runtime, "[batch_norm] ", name, " should be floating-point as the input, ",
          dtype, ", got ", t.dtype());
    if (!written) return;
    check_writable(t);
    check_no_internal_overlap(t, "batch_norm");
}

}  // namespace

ThreeTensors batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, bool training, double momentum, double eps) {
    const Channels c(input, weight, bias, "batch_norm");
    const DTypes dtypes(input, "batch_norm");
    const int64_t count = c.batch * c.space;
    const Tensor in = contiguous(input), w = dense(weight, dtypes.math), b = dense(bias, dtypes.math);
    Tensor mean, variance;
    if (training) {
        check(count > 1, ErrorKind::Value, "Expected more than 1 value per channel when training, got input size ",
              ShapeOf{input.sizes()});
        const Tensor channels =
            alias(in, Dims{c.batch, c.channels, c.space}, Dims{c.channels * c.space, c.space, 1}, in.offset());
        std::tie(variance, mean) = var_mean(to_dtype(channels, dtypes.math), Dims{0, 2}, 0);
    } else {
        check(running_mean.defined(), ErrorKind::Runtime,
              "[batch_norm] running_mean must be defined in evaluation mode");
        check(running_var.defined(), ErrorKind::Runtime, "[batch_norm] running_var must be defined in evaluation mode");
        mean = dense(running_mean, dtypes.math);
        variance = dense(running_var, dtypes.math);
    }
    check_running(running_mean, "running_mean", c.channels, dtypes.input, training);
    check_running(running_var, "running_var", c.channels, dtypes.input, training);
    Tensor out = empty(input.sizes(), dtypes.input, input.device()),
           rstd = empty(Dims{c.channels}, dtypes.math, input.device());
    batch_norm_kernel(out, rstd, in, mean, variance, w, b, training, eps);
    if (!training) return {out, clone(mean), rstd};
    const double unbias = static_cast<double>(count) / static_cast<double>(count - 1);
    if (running_mean.defined()) move_running_kernel(running_mean, mean, momentum, 1);
    if (running_var.defined()) move_running_kernel(running_var, variance, momentum, unbias);
    return {out, mean, rstd};
}

ThreeTensors batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                 const Tensor& rstd, bool training, OutputMask output_mask) {
    const Channels c(input, weight, {}, "batch_norm");
    const DTypes dtypes(input, "batch_norm");
    const Tensor g = dense(grad, dtypes.input), in = contiguous(input), w = dense(weight, dtypes.math),
                 m = dense(mean, dtypes.math), s = dense(rstd, dtypes.math);
    Tensor grad_in = empty_if(output_mask[0], input.sizes(), dtypes.input, input),
           grad_weight = empty_if(output_mask[1], Dims{c.channels}, dtypes.math, input),
           grad_bias = empty_if(output_mask[2], Dims{c.channels}, dtypes.math, input);
    if (has_values(in) && !batch_norm_backward_kernel(grad_in, grad_weight, grad_bias, g, in, m, s, w, training))
        return {};
    return {grad_in, grad_weight, grad_bias};
}

}  // namespace wengert::kernels
