#include "kernels/nn/normalize.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/reductions/reduce.h"
#include "tensor/writes/writable.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(NormTable, norm_table)

namespace {

template <class T>
const NormLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return norm_table().of_float;
    else
        return norm_table().of_double;
}

Tensor dense(const Tensor& t, DType dtype) { return t.defined() ? contiguous(to_dtype(t, dtype)) : Tensor(); }

template <class T>
T* pointer(const Tensor& t) {
    return t.defined() ? t.data_as<T>() : nullptr;
}

template <class T>
Tensor rounded(const std::vector<double>& values, IntSpan sizes) {
    Tensor out = empty(sizes, dtype_of<T>);
    std::transform(values.begin(), values.end(), out.data_as<T>(), [](double v) { return static_cast<T>(v); });
    return out;
}

// Sums over rows of n elements are made of so many, each over some rows, which `summed` adds in order.
int64_t number_of_sums(int64_t rows, int64_t n) noexcept {
    return std::clamp<int64_t>(rows * n / (1 << 15), 1, std::clamp<int64_t>(rows, 1, 16));
}
std::vector<double> summed(std::vector<double> parts, int64_t count) {
    const size_t n = parts.size() / static_cast<size_t>(count);
    for (size_t i = n; i < parts.size(); ++i) parts[i % n] += parts[i];
    parts.resize(n);
    return parts;
}

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
    Rows r(input, normalized, weight, bias, op);
    DType dtype = input.dtype();
    Tensor in = dense(input, dtype), w = dense(weight, dtype), b = dense(bias, dtype);
    Tensor out = empty(input.sizes(), dtype), mean = center ? empty(r.statistics, dtype) : Tensor(),
           rstd = empty(r.statistics, dtype);
    dispatch_floating(dtype, op, [&]<class T> {
        parallel_for(r.rows, rows_of(r.n), [&](int64_t begin, int64_t end) {
            T* means = pointer<T>(mean);
            loops<T>().rows(in.data_as<T>() + begin * r.n, pointer<T>(w), pointer<T>(b), out.data_as<T>() + begin * r.n,
                            means ? means + begin : nullptr, rstd.data_as<T>() + begin, end - begin, r.n, eps, center);
        });
    });
    return {out, mean, rstd};
}

ThreeTensors norm_backward(const Tensor& grad, const Tensor& input, IntSpan normalized, const Tensor& mean,
                           const Tensor& rstd, const Tensor& weight, OutputMask output_mask, const char* op) {
    Rows r(input, normalized, weight, {}, op);
    DType dtype = input.dtype();
    Tensor g = dense(grad, dtype), in = dense(input, dtype), w = dense(weight, dtype), m = dense(mean, dtype),
           s = dense(rstd, dtype), grad_in, grad_weight, grad_bias;
    if (output_mask[0]) grad_in = empty(input.sizes(), dtype);
    const bool finite = dispatch_floating(dtype, op, [&]<class T> {
        const int64_t sums = number_of_sums(r.rows, r.n);
        std::vector<double> gw(output_mask[1] ? sums * r.n : 0), gb(output_mask[2] ? sums * r.n : 0);
        std::atomic<bool> all = true;
        parallel_for(sums, 1, [&](int64_t begin, int64_t end) {
            std::vector<T> partial(2 * r.n);
            for (int64_t k = begin; k < end; ++k) {
                const int64_t row = r.rows * k / sums, rows = r.rows * (k + 1) / sums - row, at = row * r.n;
                std::fill(partial.begin(), partial.end(), T(0));
                T *means = pointer<T>(m), *to = pointer<T>(grad_in);
                if (!loops<T>().rows_backward(
                        g.data_as<T>() + at, in.data_as<T>() + at, pointer<T>(w), means ? means + row : nullptr,
                        s.data_as<T>() + row, to ? to + at : nullptr, output_mask[1] ? gw.data() + k * r.n : nullptr,
                        output_mask[2] ? gb.data() + k * r.n : nullptr, partial.data(), rows, r.n))
                    all.store(false, std::memory_order_relaxed);
            }
        });
        if (output_mask[1]) grad_weight = rounded<T>(summed(gw, sums), normalized);
        if (output_mask[2]) grad_bias = rounded<T>(summed(gb, sums), normalized);
        return all.load();
    });
    if (!finite) return {};
    return {grad_in, grad_weight, grad_bias};
}

// The standard deviation, if any variance has left the range of its dtype, which the data have not. One that is too small
// matters beside a small eps only.
Tensor deviation_beyond(const Tensor& variance, const Tensor& values, const Dims& dims, double eps) {
    bool beyond = false;
    dispatch_floating(variance.dtype(), "var", [&]<class T> {
        for (int64_t i = 0; i < variance.numel(); ++i) {
            const T v = variance.data_as<T>()[i];
            beyond |= std::isinf(v) || (v < std::numeric_limits<T>::min() && eps < 1e-30);
        }
    });
    return beyond ? std(values, dims, 0) : Tensor();
}
template <class T>
double rstd_of(const Tensor& variance, const Tensor& deviation, int64_t i, double eps) {
    if (deviation.defined()) return 1 / std::hypot(static_cast<double>(deviation.data_as<T>()[i]), std::sqrt(eps));
    return 1 / std::sqrt(static_cast<double>(variance.data_as<T>()[i]) + eps);
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

// f(samples, first element, first coefficient of a sample) on several threads.
template <class F>
void each_sample(const Channels& c, F&& f) {
    const int64_t size = c.channels * c.space;
    parallel_for(c.batch, units_of(size),
                 [&](int64_t begin, int64_t end) { f(end - begin, begin * size, begin * c.channels); });
}

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
    double e = eps.value_or(input.dtype() == DType::Float32 ? std::numeric_limits<float>::epsilon()
                                                            : std::numeric_limits<double>::epsilon());
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

// --- Groups: statistics over rows of (channels / groups) * space elements, coefficients per (sample, channel).

ThreeTensors group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
    Channels c(input, weight, bias, "group_norm");
    check(num_groups > 0 && c.channels % num_groups == 0, ErrorKind::Runtime,
          "[group_norm] Expected number of channels in input to be divisible by num_groups, but got input of shape ",
          ShapeOf{input.sizes()}, " and num_groups=", num_groups);
    DType dtype = input.dtype();
    const int64_t each = c.channels / num_groups, groups = c.batch * num_groups;
    Tensor in = dense(input, dtype), w = dense(weight, dtype), b = dense(bias, dtype),
           out = empty(input.sizes(), dtype);
    Tensor rows = alias(in, Dims{groups, each * c.space}, Dims{each * c.space, 1}, in.offset());
    auto [variance, mean] = var_mean(rows, Dims{1}, 0);
    const Tensor deviation = deviation_beyond(variance, rows, Dims{1}, eps);
    Dims shape{c.batch, num_groups}, strides{num_groups, 1};
    Tensor rstd = empty(shape, dtype);
    dispatch_floating(dtype, "group_norm", [&]<class T> {
        std::vector<T> center(c.batch * c.channels), scale(center.size()), shift(center.size());
        for (int64_t g = 0; g < groups; ++g) {
            const double s = rstd_of<T>(variance, deviation, g, eps);
            rstd.data_as<T>()[g] = static_cast<T>(s);
            for (int64_t i = 0; i < each; ++i) {
                int64_t channel = g % num_groups * each + i;
                center[g * each + i] = mean.data_as<T>()[g];
                scale[g * each + i] = static_cast<T>(s * (w.defined() ? w.data_as<T>()[channel] : T{1}));
                shift[g * each + i] = b.defined() ? b.data_as<T>()[channel] : T{0};
            }
        }
        each_sample(c, [&](int64_t n, int64_t at, int64_t of) {
            loops<T>().affine(in.data_as<T>() + at, center.data() + of, scale.data() + of, shift.data() + of,
                              out.data_as<T>() + at, n, c.channels, c.space, true);
        });
    });
    return {out, alias(mean, shape, strides, 0), rstd};
}

ThreeTensors group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                 const Tensor& weight, int64_t num_groups, OutputMask output_mask) {
    Channels c(input, weight, {}, "group_norm");
    DType dtype = input.dtype();
    const int64_t each = c.channels / num_groups, groups = c.batch * num_groups, all = c.batch * c.channels;
    Tensor g = dense(grad, dtype), in = dense(input, dtype), w = dense(weight, dtype), m = dense(mean, dtype),
           s = dense(rstd, dtype), grad_in, grad_weight, grad_bias;
    if (output_mask[0]) grad_in = empty(input.sizes(), dtype);
    const bool finite = dispatch_floating(dtype, "group_norm", [&]<class T> {
        double met = 0;  // NaN once something was not finite
        std::vector<double> sums(all), dots(all), gw(c.channels), gb(c.channels);
        std::vector<T> mean_of(all), weight_of(all), a(all), b(all), scale_of(all);
        for (int64_t i = 0; i < all; ++i) mean_of[i] = m.data_as<T>()[i / each];
        each_sample(c, [&](int64_t n, int64_t at, int64_t of) {
            loops<T>().sums(g.data_as<T>() + at, in.data_as<T>() + at, mean_of.data() + of, sums.data() + of,
                            dots.data() + of, n, c.channels, c.space, true);
        });
        const double count = static_cast<double>(each * c.space);
        for (int64_t k = 0; k < groups; ++k) {
            const double scale = s.data_as<T>()[k];
            double sum_t = 0, sum_td = 0;  // of t = grad * weight, and of t * (x - mean), over the group
            for (int64_t i = k * each; i < (k + 1) * each; ++i) {
                double weight_i = w.defined() ? static_cast<double>(w.data_as<T>()[i % c.channels]) : 1.0;
                sum_t += weight_i * sums[i];
                sum_td += weight_i * dots[i];
                gw[i % c.channels] += dots[i] * scale;
                gb[i % c.channels] += sums[i];
            }
            // grad_in = rstd * (t - (x - mean) * slope - mean(t))
            const double slope = sum_td * scale / count * scale;
            met += 0 * (slope + sum_t + scale);
            for (int64_t i = k * each; i < (k + 1) * each; ++i) {
                double weight_i = w.defined() ? static_cast<double>(w.data_as<T>()[i % c.channels]) : 1.0;
                weight_of[i] = static_cast<T>(weight_i);
                a[i] = static_cast<T>(-slope);
                b[i] = static_cast<T>(-sum_t / count);
                scale_of[i] = static_cast<T>(scale);
            }
        }
        if (output_mask[0])
            each_sample(c, [&](int64_t n, int64_t at, int64_t of) {
                loops<T>().combine(g.data_as<T>() + at, in.data_as<T>() + at, mean_of.data() + of,
                                   weight_of.data() + of, a.data() + of, b.data() + of, scale_of.data() + of,
                                   grad_in.data_as<T>() + at, n, c.channels, c.space, true);
            });
        if (output_mask[1]) grad_weight = rounded<T>(gw, Dims{c.channels});
        if (output_mask[2]) grad_bias = rounded<T>(gb, Dims{c.channels});
        return met == 0;
    });
    if (!finite) return {};
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
    Channels c(input, weight, bias, "batch_norm");
    DType dtype = input.dtype();
    const int64_t count = c.batch * c.space;
    Tensor in = dense(input, dtype), w = dense(weight, dtype), b = dense(bias, dtype),
           out = empty(input.sizes(), dtype);
    Tensor mean, variance, deviation;
    if (training) {
        check(count > 1, ErrorKind::Value, "Expected more than 1 value per channel when training, got input size ",
              ShapeOf{input.sizes()});
        Tensor blocks =
            alias(in, Dims{c.batch, c.channels, c.space}, Dims{c.channels * c.space, c.space, 1}, in.offset());
        std::tie(variance, mean) = var_mean(blocks, Dims{0, 2}, 0);
        deviation = deviation_beyond(variance, blocks, Dims{0, 2}, eps);
    } else {
        check(running_mean.defined(), ErrorKind::Runtime,
              "[batch_norm] running_mean must be defined in evaluation mode");
        check(running_var.defined(), ErrorKind::Runtime, "[batch_norm] running_var must be defined in evaluation mode");
        mean = dense(running_mean, dtype);
        variance = dense(running_var, dtype);
    }
    check_running(running_mean, "running_mean", c.channels, dtype, training);
    check_running(running_var, "running_var", c.channels, dtype, training);
    Tensor rstd = empty(Dims{c.channels}, dtype), saved_mean = mean;
    if (!training) saved_mean = clone(mean);
    dispatch_floating(dtype, "batch_norm", [&]<class T> {
        std::vector<T> scale(c.channels), shift(c.channels);
        for (int64_t i = 0; i < c.channels; ++i) {
            const double s = rstd_of<T>(variance, deviation, i, eps);
            rstd.data_as<T>()[i] = static_cast<T>(s);
            scale[i] = static_cast<T>(s * (w.defined() ? w.data_as<T>()[i] : T{1}));
            shift[i] = b.defined() ? b.data_as<T>()[i] : T{0};
        }
        each_sample(c, [&](int64_t n, int64_t at, int64_t) {
            loops<T>().affine(in.data_as<T>() + at, mean.data_as<T>(), scale.data(), shift.data(),
                              out.data_as<T>() + at, n, c.channels, c.space, false);
        });
        if (!training) return;
        const double unbias = static_cast<double>(count) / static_cast<double>(count - 1);
        auto move = [&](const Tensor& running, const Tensor& batch, double factor) {
            if (!running.defined()) return;
            dispatch_floating(running.dtype(), "batch_norm", [&]<class R> {
                for (int64_t i = 0; i < c.channels; ++i) {
                    R& r = running.data_as<R>()[i * running.strides()[0]];
                    r = static_cast<R>((1 - momentum) * r + momentum * factor * batch.data_as<T>()[i]);
                }
            });
        };
        move(running_mean, mean, 1);
        move(running_var, variance, unbias);
    });
    return {out, saved_mean, rstd};
}

ThreeTensors batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                 const Tensor& rstd, bool training, OutputMask output_mask) {
    Channels c(input, weight, {}, "batch_norm");
    DType dtype = input.dtype();
    Tensor g = dense(grad, dtype), in = dense(input, dtype), w = dense(weight, dtype), m = dense(mean, dtype),
           s = dense(rstd, dtype), grad_in, grad_weight, grad_bias;
    if (output_mask[0]) grad_in = empty(input.sizes(), dtype);
    const bool finite = dispatch_floating(dtype, "batch_norm", [&]<class T> {
        double met = 0;  // NaN once something was not finite
        std::vector<T> weight_of(c.channels), a(c.channels), b(c.channels), scale_of(c.channels);
        const int64_t parts = number_of_sums(c.batch, c.channels * c.space);
        std::vector<double> sums(parts * c.channels), dots(parts * c.channels);
        parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                const int64_t first = c.batch * k / parts, n = c.batch * (k + 1) / parts - first,
                              at = first * c.channels * c.space;
                loops<T>().sums(g.data_as<T>() + at, in.data_as<T>() + at, m.data_as<T>(), sums.data() + k * c.channels,
                                dots.data() + k * c.channels, n, c.channels, c.space, false);
            }
        });
        sums = summed(std::move(sums), parts);
        dots = summed(std::move(dots), parts);
        const double count = static_cast<double>(c.batch * c.space);
        for (int64_t i = 0; i < c.channels; ++i) {
            const double scale = s.data_as<T>()[i];
            weight_of[i] = w.defined() ? w.data_as<T>()[i] : T{1};
            const double weight_i = static_cast<double>(weight_of[i]);
            const double slope = training ? weight_i * (dots[i] * scale) / count * scale : 0;
            a[i] = static_cast<T>(-slope);
            b[i] = static_cast<T>(training ? -weight_i * sums[i] / count : 0.0);
            scale_of[i] = static_cast<T>(scale);
            dots[i] *= scale;
            met += 0 * (weight_i * scale + sums[i] + dots[i]);
        }
        if (output_mask[0])
            each_sample(c, [&](int64_t n, int64_t at, int64_t) {
                loops<T>().combine(g.data_as<T>() + at, in.data_as<T>() + at, m.data_as<T>(), weight_of.data(),
                                   a.data(), b.data(), scale_of.data(), grad_in.data_as<T>() + at, n, c.channels,
                                   c.space, false);
            });
        if (output_mask[1]) grad_weight = rounded<T>(dots, Dims{c.channels});
        if (output_mask[2]) grad_bias = rounded<T>(sums, Dims{c.channels});
        return met == 0;
    });
    if (!finite) return {};
    return {grad_in, grad_weight, grad_bias};
}

}  // namespace wengert::kernels
