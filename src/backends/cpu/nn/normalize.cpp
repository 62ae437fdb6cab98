// The normalisation layers on the CPU (kernels/nn/normalize.h).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/normalize_loops.h"
#include "kernels/nn/normalize_kernels.h"
#include "kernels/reductions/reduce.h"

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

template <class T>
T* pointer(const Tensor& t) {
    return t.defined() ? t.data_as<T>() : nullptr;
}

// Into a gradient, if it is asked for.
template <class T>
void round_into(const Tensor& gradient, const std::vector<double>& values) {
    if (!gradient.defined()) return;
    std::transform(values.begin(), values.end(), gradient.data_as<T>(), [](double v) { return static_cast<T>(v); });
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

// --- Rows of n elements

void layer_norm(Result out, Result mean, Result rstd, const Tensor& in, const Tensor& weight, const Tensor& bias,
                int64_t n, double eps) {
    dispatch_floating(in.dtype(), "layer_norm", [&]<class T> {
        parallel_for(rstd->numel(), rows_of(n), [&](int64_t begin, int64_t end) {
            T* means = pointer<T>(mean);
            loops<T>().rows(in.data_as<T>() + begin * n, pointer<T>(weight), pointer<T>(bias),
                            out->data_as<T>() + begin * n, means ? means + begin : nullptr, rstd->data_as<T>() + begin,
                            end - begin, n, eps, means != nullptr);
        });
    });
}

bool layer_norm_backward(Result grad_in, Result grad_weight, Result grad_bias, const Tensor& grad, const Tensor& in,
                         const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t n) {
    return dispatch_floating(in.dtype(), "layer_norm", [&]<class T> {
        const int64_t all_rows = rstd.numel(), sums = number_of_sums(all_rows, n);
        std::vector<double> gw(grad_weight->defined() ? sums * n : 0), gb(grad_bias->defined() ? sums * n : 0);
        std::atomic<bool> all = true;
        parallel_for(sums, 1, [&](int64_t begin, int64_t end) {
            std::vector<T> partial(2 * n);
            for (int64_t k = begin; k < end; ++k) {
                const int64_t row = all_rows * k / sums, rows = all_rows * (k + 1) / sums - row, at = row * n;
                std::fill(partial.begin(), partial.end(), T(0));
                T *means = pointer<T>(mean), *to = pointer<T>(grad_in);
                if (!loops<T>().rows_backward(grad.data_as<T>() + at, in.data_as<T>() + at, pointer<T>(weight),
                                              means ? means + row : nullptr, rstd.data_as<T>() + row,
                                              to ? to + at : nullptr, gw.empty() ? nullptr : gw.data() + k * n,
                                              gb.empty() ? nullptr : gb.data() + k * n, partial.data(), rows, n))
                    all.store(false, std::memory_order_relaxed);
            }
        });
        round_into<T>(grad_weight, summed(std::move(gw), sums));
        round_into<T>(grad_bias, summed(std::move(gb), sums));
        return all.load();
    });
}

// --- Channels: [N, C, space]

// Whether any variance has left the range of its dtype, which the data have not: the standard deviation is taken then. One that
// is too small matters beside a small eps only.
bool is_beyond(const Tensor& variance, double eps) {
    bool beyond = false;
    dispatch_floating(variance.dtype(), "var", [&]<class T> {
        for (int64_t i = 0; i < variance.numel(); ++i) {
            const T v = variance.data_as<T>()[i];
            beyond |= std::isinf(v) || (v < std::numeric_limits<T>::min() && eps < 1e-30);
        }
    });
    return beyond;
}
template <class T>
double rstd_of(const Tensor& variance, const Tensor& deviation, int64_t i, double eps) {
    if (deviation.defined()) return 1 / std::hypot(static_cast<double>(deviation.data_as<T>()[i]), std::sqrt(eps));
    return 1 / std::sqrt(static_cast<double>(variance.data_as<T>()[i]) + eps);
}

struct Channels {
    int64_t batch, channels, space = 1;
    explicit Channels(const Tensor& in) : batch(in.sizes()[0]), channels(in.sizes()[1]) {
        for (int64_t d = 2; d < in.dim(); ++d) space *= in.sizes()[d];
    }
};

// f(samples, first element, first coefficient of a sample) on several threads.
template <class F>
void each_sample(const Channels& c, F&& f) {
    const int64_t size = c.channels * c.space;
    parallel_for(c.batch, units_of(size),
                 [&](int64_t begin, int64_t end) { f(end - begin, begin * size, begin * c.channels); });
}

// Groups: statistics over rows of (channels / groups) * space elements, coefficients per (sample, channel).
void group_norm(Result out, Result rstd, const Tensor& in, const Tensor& mean, const Tensor& variance, const Tensor& w,
                const Tensor& b, double eps) {
    const Channels c(in);
    const int64_t num_groups = rstd->sizes()[1], each = c.channels / num_groups, groups = c.batch * num_groups,
                  row = each * c.space;
    Tensor deviation;
    if (is_beyond(variance, eps)) deviation = std(alias(in, Dims{groups, row}, Dims{row, 1}, in.offset()), Dims{1}, 0);
    dispatch_floating(in.dtype(), "group_norm", [&]<class T> {
        std::vector<T> center(c.batch * c.channels), scale(center.size()), shift(center.size());
        for (int64_t g = 0; g < groups; ++g) {
            const double s = rstd_of<T>(variance, deviation, g, eps);
            rstd->data_as<T>()[g] = static_cast<T>(s);
            for (int64_t i = 0; i < each; ++i) {
                int64_t channel = g % num_groups * each + i;
                center[g * each + i] = mean.data_as<T>()[g];
                scale[g * each + i] = static_cast<T>(s * (w.defined() ? w.data_as<T>()[channel] : T{1}));
                shift[g * each + i] = b.defined() ? b.data_as<T>()[channel] : T{0};
            }
        }
        each_sample(c, [&](int64_t n, int64_t at, int64_t of) {
            loops<T>().affine(in.data_as<T>() + at, center.data() + of, scale.data() + of, shift.data() + of,
                              out->data_as<T>() + at, n, c.channels, c.space, true);
        });
    });
}

bool group_norm_backward(Result grad_in, Result grad_weight, Result grad_bias, const Tensor& g, const Tensor& in,
                         const Tensor& m, const Tensor& s, const Tensor& w, int64_t num_groups) {
    const Channels c(in);
    const int64_t each = c.channels / num_groups, groups = c.batch * num_groups, all = c.batch * c.channels;
    return dispatch_floating(in.dtype(), "group_norm", [&]<class T> {
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
        if (grad_in->defined())
            each_sample(c, [&](int64_t n, int64_t at, int64_t of) {
                loops<T>().combine(g.data_as<T>() + at, in.data_as<T>() + at, mean_of.data() + of,
                                   weight_of.data() + of, a.data() + of, b.data() + of, scale_of.data() + of,
                                   grad_in->data_as<T>() + at, n, c.channels, c.space, true);
            });
        round_into<T>(grad_weight, gw);
        round_into<T>(grad_bias, gb);
        return met == 0;
    });
}

// Batches: statistics over [batch, space] of each channel.
void batch_norm(Result out, Result rstd, const Tensor& in, const Tensor& mean, const Tensor& variance, const Tensor& w,
                const Tensor& b, bool of_batch, double eps) {
    const Channels c(in);
    Tensor deviation;
    if (of_batch && is_beyond(variance, eps))
        deviation =
            std(alias(in, Dims{c.batch, c.channels, c.space}, Dims{c.channels * c.space, c.space, 1}, in.offset()),
                Dims{0, 2}, 0);
    dispatch_floating(in.dtype(), "batch_norm", [&]<class T> {
        std::vector<T> scale(c.channels), shift(c.channels);
        for (int64_t i = 0; i < c.channels; ++i) {
            const double s = rstd_of<T>(variance, deviation, i, eps);
            rstd->data_as<T>()[i] = static_cast<T>(s);
            scale[i] = static_cast<T>(s * (w.defined() ? w.data_as<T>()[i] : T{1}));
            shift[i] = b.defined() ? b.data_as<T>()[i] : T{0};
        }
        each_sample(c, [&](int64_t n, int64_t at, int64_t) {
            loops<T>().affine(in.data_as<T>() + at, mean.data_as<T>(), scale.data(), shift.data(),
                              out->data_as<T>() + at, n, c.channels, c.space, false);
        });
    });
}

void move_running(Result running, const Tensor& batch, double momentum, double factor) {
    dispatch_floating(batch.dtype(), "batch_norm", [&]<class T> {
        dispatch_floating(running->dtype(), "batch_norm", [&]<class R> {
            for (int64_t i = 0; i < running->numel(); ++i) {
                R& r = running->data_as<R>()[i * running->strides()[0]];
                r = static_cast<R>((1 - momentum) * r + momentum * factor * batch.data_as<T>()[i]);
            }
        });
    });
}

bool batch_norm_backward(Result grad_in, Result grad_weight, Result grad_bias, const Tensor& g, const Tensor& in,
                         const Tensor& m, const Tensor& s, const Tensor& w, bool training) {
    const Channels c(in);
    return dispatch_floating(in.dtype(), "batch_norm", [&]<class T> {
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
        if (grad_in->defined())
            each_sample(c, [&](int64_t n, int64_t at, int64_t) {
                loops<T>().combine(g.data_as<T>() + at, in.data_as<T>() + at, m.data_as<T>(), weight_of.data(),
                                   a.data(), b.data(), scale_of.data(), grad_in->data_as<T>() + at, n, c.channels,
                                   c.space, false);
            });
        round_into<T>(grad_weight, dots);
        round_into<T>(grad_bias, sums);
        return met == 0;
    });
}

}  // namespace

using Normalize = void(Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                       double);
template <class Last>
using NormalizeBackward = bool(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                               const Tensor&, Last);

constinit DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, int64_t, double)>
    layer_norm_kernel{"layer_norm", layer_norm};
constinit DeviceKernel<NormalizeBackward<int64_t>> layer_norm_backward_kernel{"layer_norm_backward",
                                                                              layer_norm_backward};
constinit DeviceKernel<Normalize> group_norm_kernel{"group_norm", group_norm};
constinit DeviceKernel<NormalizeBackward<int64_t>> group_norm_backward_kernel{"group_norm_backward",
                                                                              group_norm_backward};
constinit DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                            bool, double)>
    batch_norm_kernel{"batch_norm", batch_norm};
constinit DeviceKernel<void(Result, const Tensor&, double, double)> move_running_kernel{"move_running", move_running};
constinit DeviceKernel<NormalizeBackward<bool>> batch_norm_backward_kernel{"batch_norm_backward", batch_norm_backward};

}  // namespace wengert::kernels
