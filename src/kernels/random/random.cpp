#include "kernels/random/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/threads/parallel_for.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/shape/shape.h"
#include "tensor/promotion.h"

namespace wengert::kernels {
namespace {

// Many numbers are drawn in blocks, on several threads, each from a stream that the generator's next bits seed.
constexpr int64_t kBlock = 1 << 14;

// Calls write(T* begin, T* end, generator) on the elements of `self` in row-major order, under the generator's mutex; on
// `in_blocks` also on blocks of them.
template <class Write>
void fill_random(const Tensor& self, Generator* generator, Write&& write, bool in_blocks = false) {
    check_no_internal_overlap(self, "a random fill");
    Generator& g = generator ? *generator : default_generator();
    Tensor out = self.is_contiguous() ? self : empty(self.sizes(), self.dtype());
    {
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
    if (!out.is_same(self)) copy_into(self, out);
}

void check_floating(const Tensor& self, const char* op) {
    check(is_floating(self.dtype()), ErrorKind::Runtime, "[", op, "] needs a floating-point tensor, got ",
          self.dtype());
}

template <class T>
T converted(double value) {
    return Scalar(value).to<T>();
}

// One independent draw an element.
template <class Draw>
void fill_each(const Tensor& self, Generator* generator, Draw&& draw) {
    fill_random(
        self, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            for (T* p = begin; p != end; ++p) *p = converted<T>(draw(g));
        },
        true);
}

constexpr double kRootHalf = 1 / std::numbers::sqrt2;

}  // namespace

void uniform_(const Tensor& self, double low, double high, Generator* generator) {
    check_floating(self, "uniform_");
    check(low <= high, ErrorKind::Runtime, "uniform_ expects to return a [from, to) range, but found from=", low,
          " > to=", high);
    fill_random(
        self, generator,
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

void uniform_real_and_imaginary_(const Tensor& self, Generator* generator) {
    uniform_(is_complex(self.dtype()) ? view_as_real(self) : self, 0, 1, generator);
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
    check(is_differentiable(self.dtype()), ErrorKind::Runtime,
          "[normal_] needs a floating-point or complex tensor, got ", self.dtype());
    check(std >= 0, ErrorKind::Runtime, "normal expects std >= 0.0, but found std ", std);
    fill_random(
        self, generator,
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

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
    check_floating(self, "log_normal_");
    check(std > 0, ErrorKind::Runtime, "log_normal_ expects std > 0.0, but found std=", std);
    fill_each(self, generator, [&](Generator& g) { return std::exp(mean + std * g.normal_pair()[0]); });
}

void exponential_(const Tensor& self, double lambd, Generator* generator) {
    check_floating(self, "exponential_");
    check(lambd > 0, ErrorKind::Runtime, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
    fill_each(self, generator, [&](Generator& g) { return -std::log(g.positive_uniform()) / lambd; });
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
    check_floating(self, "cauchy_");
    check(sigma > 0, ErrorKind::Runtime, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
    fill_each(self, generator,
              [&](Generator& g) { return median + sigma * std::tan(std::numbers::pi * (g.uniform() - 0.5)); });
}

void geometric_(const Tensor& self, double p, Generator* generator) {
    check(0 < p && p < 1, ErrorKind::Runtime, "geometric_ expects p to be in (0, 1), but got p=", p);
    fill_each(self, generator,
              [&](Generator& g) { return std::max(1.0, std::ceil(std::log(g.positive_uniform()) / std::log1p(-p))); });
}

void bernoulli_(const Tensor& self, double p, Generator* generator) {
    check(0 <= p && p <= 1, ErrorKind::Runtime, "bernoulli_ expects p to be in [0, 1], but got p=", p);
    fill_each(self, generator, [&](Generator& g) { return g.uniform() < p ? 1.0 : 0.0; });
}

void random_integers_(const Tensor& self, int64_t low, int64_t high, Generator* generator) {
    check(low < high, ErrorKind::Runtime, "random_ expects 'from' to be less than 'to', but got from=", low,
          " >= to=", high);
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    fill_random(
        self, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            for (T* p = begin; p != end; ++p)
                *p = Scalar(static_cast<int64_t>(static_cast<uint64_t>(low) + g.below(range))).to<T>();
        },
        true);
}

namespace {

// f(x) for each element of a real floating tensor.
template <class F>
void for_each_real(const Tensor& t, F&& f) {
    const Tensor all = contiguous(t);
    dispatch(all.dtype(), [&]<class T> {
        if constexpr (std::is_floating_point_v<T>)
            std::for_each_n(all.data_as<T>(), all.numel(), [&](T x) { f(static_cast<double>(x)); });
    });
}

// The largest int that a dtype counts up to without gaps.
int64_t largest_integer(DType d) {
    switch (d) {
        case DType::Float32:
        case DType::Complex64:
            return int64_t{1} << 24;
        case DType::Float64:
        case DType::Complex128:
            return int64_t{1} << 53;
        case DType::Bool:
            return 1;
        case DType::UInt8:
            return 255;
        case DType::Int64:
            return INT64_MAX - 1;
        default:
            return (int64_t{1} << (8 * item_size(d) - 1)) - 1;
    }
}

}  // namespace

void random_from_(const Tensor& self, int64_t low, std::optional<int64_t> high, Generator* generator) {
    random_integers_(self, low, high ? *high : largest_integer(self.dtype()) + 1, generator);
}

void random_permutations_(const Tensor& self, Generator* generator) {
    const int64_t n = self.dim() == 0 ? 1 : self.size(-1);
    fill_random(self, generator, [&]<class T>(T* begin, T* end, Generator& g) {
        for (T* row = begin; row != end; row += n) {
            for (int64_t i = 0; i < n; ++i) row[i] = Scalar(i).to<T>();
            for (int64_t i = n - 1; i > 0; --i) std::swap(row[i], row[g.below(static_cast<uint64_t>(i) + 1)]);
        }
    });
}

void check_probabilities(const Tensor& p) {
    check_floating(p, "bernoulli");
    for_each_real(p, [](double x) {
        check(x >= 0 && x <= 1, ErrorKind::Runtime, "Expected p_in >= 0 && p_in <= 1 to be true, but got ", x);
    });
}

void check_deviations(const Tensor& std) {
    for_each_real(std, [](double x) {
        check(!(x < 0), ErrorKind::Runtime, "normal expects all elements of std >= 0.0, but got ", x);
    });
}

Tensor bernoulli(const Tensor& probabilities, Generator* generator) {
    check_probabilities(probabilities);
    Tensor out = clone(contiguous(probabilities));
    fill_random(
        out, generator,
        [&]<class T>(T* begin, T* end, Generator& g) {
            if constexpr (std::is_floating_point_v<T>)
                for (T* p = begin; p != end; ++p) *p = g.uniform() < *p;
        },
        true);
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
    Tensor out = empty(broadcast_shapes(mean.sizes(), std.sizes(), "normal"), result_type({mean, std}));
    const auto whole = [&](const Operand& o) {
        if (!o.is_tensor()) return full(out.sizes(), o.scalar(), out.dtype());
        return contiguous(expand(to_dtype(o.tensor(), out.dtype()), out.sizes()));
    };
    const Tensor means = whole(mean), deviations = whole(std);
    check_deviations(deviations);
    normal_(out, 0, 1, generator);
    dispatch(out.dtype(), [&]<class T> {
        const T *m = means.data_as<T>(), *s = deviations.data_as<T>();
        T* x = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i) x[i] = static_cast<T>(m[i] + s[i] * x[i]);
    });
    return out;
}

Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement, Generator* generator) {
    check(weights.dim() == 1 || weights.dim() == 2, ErrorKind::Runtime, "prob_dist must be 1 or 2 dim, got ",
          weights.dim());
    check_floating(weights, "multinomial");
    const int64_t categories = weights.size(-1), rows = weights.dim() == 2 ? weights.sizes()[0] : 1;
    check(num_samples > 0, ErrorKind::Runtime, "cannot sample n_sample <= 0 samples");
    check(replacement || num_samples <= categories, ErrorKind::Runtime,
          "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    const Tensor w = contiguous(to_dtype(weights, DType::Float64));
    Dims sizes = weights.dim() == 2 ? Dims{rows, num_samples} : Dims{num_samples};
    Tensor out = empty(sizes, DType::Int64);
    fill_random(out, generator, [&]<class T>(T* begin, T*, Generator& g) {
        std::vector<double> keys(static_cast<size_t>(categories));
        for (int64_t r = 0; r < rows; ++r) {
            const double* p = w.data_as<double>() + r * categories;
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
    return out;
}

}  // namespace wengert::kernels
