// Random numbers on the CPU (kernels/random/random_kernels.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/threads/parallel_for.h"
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

// One independent draw an element.
template <class Draw>
void fill_each(const Tensor& out, Generator& generator, Draw&& draw) {
    fill_random(
        out, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            for (T* p = begin; p != end; ++p) *p = Scalar(static_cast<double>(draw(g))).to<T>();
        },
        true);
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

void normal(const Tensor& out, double mean, double std, Generator& generator) {
    fill_random(
        out, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
                // Real and imaginary part share the variance.
                for (T* p = begin; p != end; ++p) {
                    const auto [x, y] = g.normal_pair();
                    *p = Scalar(complex128(mean + std * kRootHalf * x, std * kRootHalf * y)).to<T>();
                }
            } else if constexpr (std::is_floating_point_v<T>) {
                for (T* p = begin; p < end; p += 2) {
                    const auto [x, y] = g.normal_pair();
                    p[0] = static_cast<T>(mean + std * x);
                    if (p + 1 < end) p[1] = static_cast<T>(mean + std * y);
                }
            }
        },
        true);
}

void fill(const Tensor& out, Distribution distribution, double a, double b, Generator* generator) {
    Generator& g = *generator;
    switch (distribution) {
        case Distribution::Uniform:
            return uniform(out, a, b, g);
        case Distribution::Normal:
            return normal(out, a, b, g);
        case Distribution::LogNormal:
            return fill_each(out, g, [&](Generator& g) { return std::exp(a + b * g.normal_pair()[0]); });
        case Distribution::Exponential:
            return fill_each(out, g, [&](Generator& g) { return -std::log(g.positive_uniform()) / a; });
        case Distribution::Cauchy:
            return fill_each(out, g,
                             [&](Generator& g) { return a + b * std::tan(std::numbers::pi * (g.uniform() - 0.5)); });
        case Distribution::Geometric:
            return fill_each(out, g, [&](Generator& g) {
                return std::max(1.0, std::ceil(std::log(g.positive_uniform()) / std::log1p(-a)));
            });
        case Distribution::Bernoulli:
            return fill_each(out, g, [&](Generator& g) { return g.uniform() < a ? 1.0 : 0.0; });
    }
}

void integers(const Tensor& out, int64_t low, uint64_t range, Generator* generator) {
    fill_random(
        out, *generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            for (T* p = begin; p != end; ++p)
                *p = Scalar(static_cast<int64_t>(static_cast<uint64_t>(low) + g.below(range))).to<T>();
        },
        true);
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
