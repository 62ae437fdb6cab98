// Random numbers on the CPU (kernels/random/random_kernels.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "backends/cpu/elementwise/casting.h"
#include "base/threads/parallel_for.h"
#include "generated/kernels/exponential.h"
#include "generated/kernels/trigonometric.h"
#include "kernels/random/random_kernels.h"

namespace wengert::kernels {
namespace {

// Many numbers are drawn in blocks, on several threads, each from a stream that the generator's next bits seed.
constexpr int64_t kBlock = 1 << 14;

// Calls write(T* begin, T* end, generator) on the elements of `out` in row-major order, under the generator's mutex; on
// `in_blocks` also on blocks of them.
template <class Write>
void fill_random(const Tensor& out, Generator& g, Write&& write, bool in_blocks = false) {
    const std::lock_guard lock(g.mutex());
    dispatch(out.dtype(), [&]<class T> {
        T* const data = out.data_as<T>();
        const int64_t n = out.numel(), blocks = n / kBlock;
        if (!in_blocks || blocks < 2) return write(data, data + n, g);
        std::vector<uint64_t> seeds(static_cast<size_t>(blocks));
        for (uint64_t& seed : seeds) seed = g.next();
        parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; ++b) {
                Generator own(seeds[static_cast<size_t>(b)]);
                write(data + b * kBlock, b + 1 < blocks ? data + (b + 1) * kBlock : data + n, own);
            }
        });
    });
}

constexpr int64_t kInCache = 256;  // numbers

// f(block, n, generator) writes n <= kInCache numbers, which are converted to the dtype of `out`.
template <class Number, class F>
void fill_drawn(const Tensor& out, Generator& generator, F&& f) {
    fill_random(
        out, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            const Loop cast = cast_loop(dtype_of<Number>, dtype_of<T>);
            const int64_t steps[] = {sizeof(Number), sizeof(T)};
            alignas(64) Number block[kInCache];
            for (int64_t n; begin != end; begin += n) {
                n = std::min<int64_t>(kInCache, end - begin);
                f(block, n, g);
                char* args[] = {reinterpret_cast<char*>(block), reinterpret_cast<char*>(begin)};
                cast(args, n, steps);
            }
        },
        true);
}

// x[i] = f(x[i]), by the loop of a function of the table.
template <class Number>
void apply(const Kernel& f, Number* x, int64_t n) {
    char* args[] = {reinterpret_cast<char*>(x), reinterpret_cast<char*>(x)};
    const int64_t steps[] = {sizeof(Number), sizeof(Number)};
    f.loops[static_cast<int>(dtype_of<Number>)](args, n, steps);
}

// Box and Muller, "A note on the generation of random normal deviates", 1958: a point of the plane whose square of the
// radius is exponential and whose angle is uniform. Unlike Marsaglia's polar method it rejects none, so that loops compute it.
template <class Number>
void draw_normal(Number* x, int64_t n, Generator& g) {
    alignas(64) Number radii[kInCache / 2], angles[kInCache / 2];
    const int64_t pairs = (n + 1) / 2;
    for (int64_t i = 0; i < pairs; ++i) {
        if constexpr (std::is_same_v<Number, float>) {  // 32 bits for each: lengths up to 6.7
            const uint64_t bits = g.next();
            radii[i] = static_cast<float>(static_cast<int64_t>(bits >> 32) + 1) * 0x1p-32F;
            angles[i] = static_cast<float>(static_cast<int32_t>(bits)) * (std::numbers::pi_v<float> * 0x1p-31F);
        } else {
            radii[i] = g.positive_uniform();
            angles[i] = (2 * g.uniform() - 1) * std::numbers::pi;
        }
    }
    apply(K_log, radii, pairs);
    for (int64_t i = 0; i < pairs; ++i) radii[i] = std::sqrt(Number(-2) * radii[i]);
    std::copy_n(angles, pairs, x);
    apply(K_cos, x, pairs);
    apply(K_sin, angles, pairs);
    for (int64_t i = 0; i < pairs; ++i) x[i] *= radii[i];
    for (int64_t i = 0; i < n - pairs; ++i) x[pairs + i] = radii[i] * angles[i];
}

// Logarithms of uniform numbers, none of which is 0.
void draw_logarithms(double* x, int64_t n, Generator& g) {
    for (int64_t i = 0; i < n; ++i) x[i] = g.positive_uniform();
    apply(K_log, x, n);
}

constexpr double kRootHalf = 1 / std::numbers::sqrt2;

void uniform(const Tensor& out, double low, double high, Generator& generator) {
    fill_random(
        out, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            if constexpr (std::is_floating_point_v<T>) {
                const T width = static_cast<T>(high - low), start = static_cast<T>(low);
                // As many bits as the type has. The sum may still be rounded up to `high`, which is excluded.
                constexpr int bits = std::numeric_limits<T>::digits;
                const T unit = static_cast<T>(std::ldexp(1.0, -bits)), stop = static_cast<T>(high);
                const T last = low < high ? std::nextafter(stop, start) : start;
                for (T* p = begin; p != end; ++p)
                    *p = std::min(static_cast<T>(g.next() >> (64 - bits)) * unit * width + start, last);
            }
        },
        true);
}

template <class Number>
void normal_as(const Tensor& out, double mean, double std, Generator& generator) {
    if (is_complex(out.dtype()))  // real and imaginary part share the variance
        return fill_drawn<std::complex<Number>>(out, generator, [=](std::complex<Number>* z, int64_t n, Generator& g) {
            auto* parts = reinterpret_cast<Number*>(z);
            for (int64_t half = 0; half < 2 * n; half += n) draw_normal(parts + half, n, g);
            const auto scale = static_cast<Number>(std * kRootHalf), shift = static_cast<Number>(mean);
            for (int64_t i = 0; i < n; ++i) z[i] = scale * z[i] + shift;
        });
    fill_drawn<Number>(out, generator, [=](Number* x, int64_t n, Generator& g) {
        draw_normal(x, n, g);
        const auto scale = static_cast<Number>(std), shift = static_cast<Number>(mean);
        for (int64_t i = 0; i < n; ++i) x[i] = scale * x[i] + shift;
    });
}

void normal(const Tensor& out, double mean, double std, Generator& g) {
    if (real_dtype(out.dtype()) == DType::Float32)
        normal_as<float>(out, mean, std, g);
    else
        normal_as<double>(out, mean, std, g);
}

void fill(const Tensor& out, Distribution distribution, double a, double b, Generator* generator) {
    Generator& g = *generator;
    switch (distribution) {
        case Distribution::Uniform:
            return uniform(out, a, b, g);
        case Distribution::Normal:
            return normal(out, a, b, g);
        case Distribution::LogNormal:
            return fill_drawn<double>(out, g, [=](double* x, int64_t n, Generator& g) {
                draw_normal(x, n, g);
                for (int64_t i = 0; i < n; ++i) x[i] = a + b * x[i];
                apply(K_exp, x, n);
            });
        case Distribution::Exponential:
            return fill_drawn<double>(out, g, [=](double* x, int64_t n, Generator& g) {
                draw_logarithms(x, n, g);
                for (int64_t i = 0; i < n; ++i) x[i] = -x[i] / a;
            });
        case Distribution::Cauchy:
            return fill_drawn<double>(out, g, [=](double* x, int64_t n, Generator& g) {
                for (int64_t i = 0; i < n; ++i) x[i] = std::numbers::pi * (g.uniform() - 0.5);
                apply(K_tan, x, n);
                for (int64_t i = 0; i < n; ++i) x[i] = a + b * x[i];
            });
        case Distribution::Geometric:
            return fill_drawn<double>(out, g, [=](double* x, int64_t n, Generator& g) {
                const double failure = std::log1p(-a);
                draw_logarithms(x, n, g);
                for (int64_t i = 0; i < n; ++i) x[i] = std::max(1.0, std::ceil(x[i] / failure));
            });
        case Distribution::Bernoulli:
            return fill_drawn<double>(out, g, [=](double* x, int64_t n, Generator& g) {
                for (int64_t i = 0; i < n; ++i) x[i] = g.uniform() < a ? 1.0 : 0.0;
            });
    }
}

void integers(const Tensor& out, int64_t low, uint64_t range, Generator* generator) {
    fill_drawn<int64_t>(out, *generator, [=](int64_t* x, int64_t n, Generator& g) {
        for (int64_t i = 0; i < n; ++i) x[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + g.below(range));
    });
}

void permutations(const Tensor& out, Generator* generator) {
    const int64_t n = out.dim() == 0 ? 1 : out.size(-1);
    fill_random(out, *generator, [&]<class T>(T* begin, T* end, Generator& g) {
        for (T* row = begin; row != end; row += n) {
            for (int64_t i = 0; i < n; ++i) row[i] = Scalar(i).to<T>();
            for (int64_t i = n - 1; i > 0; --i) std::swap(row[i], row[g.below(static_cast<uint64_t>(i) + 1)]);
        }
    });
}

void bernoulli_of(const Tensor& out, Generator* generator) {
    fill_random(
        out, *generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            if constexpr (std::is_floating_point_v<T>)
                for (T* p = begin; p != end; ++p) *p = g.uniform() < *p;
        },
        true);
}

// f(x) for each element of a real floating tensor.
template <class F>
void for_each_real(const Tensor& t, F&& f) {
    dispatch(t.dtype(), [&]<class T> {
        if constexpr (std::is_floating_point_v<T>)
            std::for_each_n(t.data_as<T>(), t.numel(), [&](T x) { f(static_cast<double>(x)); });
    });
}

void find_bad_probability(const Tensor& p) {
    for_each_real(p, [](double x) {
        check(x >= 0 && x <= 1, ErrorKind::Runtime, "Expected p_in >= 0 && p_in <= 1 to be true, but got ", x);
    });
}

void find_bad_deviation(const Tensor& std) {
    for_each_real(std, [](double x) {
        check(!(x < 0), ErrorKind::Runtime, "normal expects all elements of std >= 0.0, but got ", x);
    });
}

void shift(const Tensor& out, const Tensor& means, const Tensor& deviations) {
    dispatch(out.dtype(), [&]<class T> {
        const T *m = means.data_as<T>(), *s = deviations.data_as<T>();
        T* x = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i) x[i] = static_cast<T>(m[i] + s[i] * x[i]);
    });
}

// weights: [rows, categories] -> out: [rows, samples]
void sample(const Tensor& out, const Tensor& weights, int64_t rows, int64_t num_samples, bool replacement,
            Generator* generator) {
    const int64_t categories = weights.size(-1);
    fill_random(out, *generator, [&]<class T>(T* begin, T*, Generator& g) {
        std::vector<double> keys(static_cast<size_t>(categories));
        for (int64_t r = 0; r < rows; ++r) {
            const double* p = weights.data_as<double>() + r * categories;
            int64_t positive = 0;
            double total = 0;
            for (int64_t c = 0; c < categories; ++c) {
                check(p[c] >= 0 && std::isfinite(p[c]), ErrorKind::Runtime,
                      "probability tensor contains either `inf`, `nan` or element < 0");
                positive += p[c] > 0;
                total += p[c];
                // With replacement the cumulative sum; without, exponential clocks: the first to ring are the sample.
                keys[static_cast<size_t>(c)] = replacement ? total
                                               : p[c] > 0  ? -std::log(g.positive_uniform()) / p[c]
                                                           : HUGE_VAL;
            }
            check(total > 0 && (replacement || positive >= num_samples), ErrorKind::Runtime,
                  "invalid multinomial distribution (sum of probabilities <= 0, or too few that are not zero)");
            T* row = begin + r * num_samples;
            if (replacement) {
                for (int64_t s = 0; s < num_samples; ++s) {
                    const auto at = std::upper_bound(keys.begin(), keys.end(), g.uniform() * total) - keys.begin();
                    row[s] = Scalar(std::min<int64_t>(at, categories - 1)).to<T>();
                }
            } else {
                std::vector<int64_t> order(keys.size());
                for (size_t c = 0; c < order.size(); ++c) order[c] = static_cast<int64_t>(c);
                std::partial_sort(order.begin(), order.begin() + num_samples, order.end(), [&](int64_t a, int64_t b) {
                    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
                });
                for (int64_t s = 0; s < num_samples; ++s) row[s] = Scalar(order[static_cast<size_t>(s)]).to<T>();
            }
        }
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Distribution, double, double, Generator*)> random_kernel{
    "random", [](Result out, Distribution d, double a, double b, Generator* g) { fill(out, d, a, b, g); },
    HostWaits::ForErrors};
constinit DeviceKernel<void(Result, int64_t, uint64_t, Generator*)> random_integers_kernel{
    "random_", [](Result out, int64_t low, uint64_t range, Generator* g) { integers(out, low, range, g); },
    HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Generator*)> random_permutations_kernel{
    "randperm", [](Result out, Generator* g) { permutations(out, g); }, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Generator*)> bernoulli_of_kernel{
    "bernoulli", [](Result out, Generator* g) { bernoulli_of(out, g); }, HostWaits::ForErrors};
constinit DeviceKernel<void(const Tensor&)> check_probabilities_kernel{
    "bernoulli", [](const Tensor& p) { find_bad_probability(p); }, HostWaits::ForErrors};
constinit DeviceKernel<void(const Tensor&)> check_deviations_kernel{
    "normal", [](const Tensor& std) { find_bad_deviation(std); }, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> shift_normal_kernel{
    "normal", [](Result out, const Tensor& mean, const Tensor& std) { shift(out, mean, std); }};
constinit DeviceKernel<void(Result, const Tensor&, int64_t, int64_t, bool, Generator*)> multinomial_kernel{
    "multinomial",
    [](Result out, const Tensor& weights, int64_t rows, int64_t samples, bool replacement, Generator* g) {
        sample(out, weights, rows, samples, replacement, g);
    },
    HostWaits::ForErrors};

}  // namespace wengert::kernels
