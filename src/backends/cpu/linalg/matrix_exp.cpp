// The matrix exponential by scaling and squaring with Pade approximants: with A halved s times, exp(A) ~ (V - U)^-1 (V + U),
// where U collects the odd and V the even powers of an approximant of degree m, and the result is squared s times.
//
// The norm of A alone would choose s far too large for non-normal matrices, and each needless squaring costs digits. Al-Mohy
// and Higham (A new scaling and squaring algorithm for the matrix exponential, SIAM J. Matrix Anal. Appl. 31 (2009),
// doi:10.1137/09074721X) bound the error by alpha_p = max(d_p, d_{p+1}) instead, d_p = |A^p|^(1/p), which may be smaller by
// any factor, and add a term that keeps rounding errors of the approximant small. Their refinement of triangular matrices
// is here as well: after each squaring the diagonal and the one beside it are set to their exact values, and zeros to zero.
//
// Derivatives along E1, ..., Ek are the coefficient of e1 e2 ... ek in exp(A + e1 E1 + ... + ek Ek), where e_i^2 = 0. A
// `Jet` is a matrix of that algebra: 2^k parts, one for each set of the e_i. All steps are products and one system, so the
// same lines compute it; s and m depend on A only, since a derivative is linear in E whatever its size. k derivatives of the
// error series multiply its terms, of degree 2m + 1 and more, by that degree; the bounds are made smaller accordingly (for
// k = 1 they are those of Al-Mohy and Higham, Computing the Frechet derivative of the matrix exponential, 2009).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/linalg/lapack.h"
#include "backends/cpu/linalg/tiny_matrices.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// Coefficients of an approximant, and up to which alpha it is exact to rounding in float32 and in float64.
struct Approximant {
    std::span<const double> b;
    double single, twice;

    int degree() const { return static_cast<int>(b.size()) - 1; }
    // Of the first term of the error series, (m!)^2 / ((2m)! (2m + 1)!)
    double log2_of_error() const {
        const int m = degree();
        return (2 * std::lgamma(m + 1) - std::lgamma(2 * m + 1) - std::lgamma(2 * m + 2)) / std::log(2.0);
    }
};
constexpr double b3[] = {120, 60, 12, 1};
constexpr double b5[] = {30240, 15120, 3360, 420, 30, 1};
constexpr double b7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
constexpr double b9[] = {17643225600., 8821612800., 2075673600., 302702400., 30270240.,
                         2162160.,     110880.,     3960.,       90.,        1.};
constexpr double b13[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
const Approximant approximants[] = {{b3, 4.258730016922831e-1, 1.495585217958292e-2},
                                    {b5, 1.880152677804762, 2.539398330063230e-1},
                                    {b7, 3.925724783138660, 9.504178996162932e-1},
                                    {b9, 0, 2.097847961257068},
                                    {b13, 0, 5.371920351148152}};
// Beyond it the denominator of the last one is badly conditioned.
constexpr double kLargestArgument = 4.25;

template <class T>
double one_norm(const T* a, int64_t n) {
    double norm = 0;
    for (int64_t j = 0; j < n; ++j) {
        double column = 0;
        for (int64_t i = 0; i < n; ++i) column += std::abs(a[i * n + j]);
        norm = std::max(norm, column);
        if (std::isnan(column)) return column;
    }
    return norm;
}

// log2 of the 1-norm of |A|^p, from products of vectors.
template <class T>
double log_norm_of_power(const T* a, int64_t n, int p) {
    SmallVector<double, 16> v(static_cast<size_t>(n), 1.0), next(v.size(), 0.0);
    double log = 0;
    for (int k = 0; k < p; ++k) {
        std::fill(next.begin(), next.end(), 0.0);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j)
                next[static_cast<size_t>(j)] += static_cast<double>(std::abs(a[i * n + j])) * v[static_cast<size_t>(i)];
        const double largest = *std::max_element(next.begin(), next.end());
        if (largest == 0) return -std::numeric_limits<double>::infinity();
        if (k + 1 == p || !(largest < 1e100 && largest > 1e-100)) {
            for (double& x : next) x /= largest;
            log += std::log2(largest);
        }
        std::swap(v, next);
    }
    return log;
}

// x 2^e without overflow on the way.
template <class T>
void scale_by_power_of_two(T* x, int64_t size, int e) {
    using R = real_of<T>;
    for (; e != 0;) {
        const int step = std::clamp(e, -120, 120);
        const R factor = std::ldexp(R(1), step);
        for (int64_t i = 0; i < size; ++i) x[i] *= factor;
        e -= step;
    }
}

// The exponentials of jets of one size. Parts are row-major [n,n], one behind the other; part 0 is the matrix itself.
template <class T>
class Exponential {
    using R = real_of<T>;
    struct ToSpare {  // memory is used again for the next jet
        std::vector<std::unique_ptr<Scratch<T>>>* spare = nullptr;
        void operator()(Scratch<T>* memory) const { spare->emplace_back(memory); }
    };
    using Jet = std::unique_ptr<Scratch<T>, ToSpare>;

public:
    Exponential(int n, int directions)
        : n_(n), area_(int64_t{n} * n), directions_(directions), parts_(int64_t{1} << directions) {}

    // `a` is replaced.
    void operator()(T* a) {
        a_ = a;
        powers_ = {};
        norm_ = one_norm(a, n_);
        log_norm_ = std::log2(norm_);
        std::copy(a, a + area_, original_.get()->data());
        powers_[0] = product(a, a);
        plan();
        scale_by_power_of_two(a, parts_ * area_, -squarings_);
        for (size_t i = 0; i < powers_.size(); ++i)
            if (powers_[i])
                scale_by_power_of_two(powers_[i]->data(), parts_ * area_, -squarings_ * 2 * static_cast<int>(i + 1));
        approximate();
        const bool upper = is_triangular(true), lower = !upper && is_triangular(false);
        if (upper || lower) set_exact(squarings_, upper);
        for (int s = squarings_ - 1; s >= 0; --s) {
            const Jet square = product(a, a);
            std::copy(square->data(), square->data() + parts_ * area_, a);
            if (upper || lower) set_exact(s, upper);
        }
    }

private:
    Jet jet() const {
        if (spare_.empty()) return Jet(new Scratch<T>(parts_ * area_), {&spare_});
        Jet out(spare_.back().release(), {&spare_});
        spare_.pop_back();
        return out;
    }

    // out = x y, of one part, or out += x y.
    void multiply_parts(const T* x, const T* y, T* out, bool adds) const {
        if (n_ <= portable::kTiny && !adds)
            portable::with_rows(n_, [&]<int N> { portable::multiply_tiny<T, N>(x, y, out); });
        else
            gemm<T>(T(1), row_major<const T>(x, n_, n_), row_major<const T>(y, n_, n_), adds ? T(1) : T(0),
                    row_major(out, n_, n_));
    }
    // (x y)_S = sum of x_Q y_{S - Q} over the subsets Q of S.
    void multiply(const T* x, const T* y, T* out) const {
        for (int64_t s = 0; s < parts_; ++s)
            for (int64_t q = s;; q = (q - 1) & s) {
                multiply_parts(x + q * area_, y + (s ^ q) * area_, out + s * area_, q != s);
                if (q == 0) break;
            }
    }
    Jet product(const T* x, const T* y) const {
        Jet out = jet();
        multiply(x, y, out->data());
        return out;
    }
    const T* power(size_t p) {  // of A: 2, 4, 6 or 8
        Jet& out = powers_[p / 2 - 1];
        if (!out) out = p == 4 ? product(power(2), power(2)) : product(power(4), power(p - 4));
        return out->data();
    }
    // |A^p|^(1/p), p = 4 or 6
    double root_norm(size_t p) {
        const double root = std::sqrt(one_norm(power(p), n_));
        return p == 4 ? std::sqrt(root) : std::cbrt(root);
    }

    // Of one part, A^4 times A^p.
    double root_norm_beyond(size_t p) {
        Scratch<T> out(area_);
        multiply_parts(power(4), power(p), out.data(), false);
        const double norm = one_norm(out.data(), n_);
        return p == 4 ? std::sqrt(std::sqrt(std::sqrt(norm))) : std::pow(norm, 1.0 / static_cast<double>(p + 4));
    }

    double bound(const Approximant& r) const { return bounds_[static_cast<size_t>(&r - approximants)]; }
    // By how many more halvings rounding errors of the approximant stay small.
    int further_halvings(const Approximant& r, int halved) const {
        const int m = r.degree();
        const double log_c = log_errors_[static_cast<size_t>(&r - approximants)];
        const double log_unit = std::log2(std::numeric_limits<R>::epsilon()) - 1;
        // |A|^p has a norm of at most the p-th power of that of A.
        if (log_c + 2.0 * m * (log_norm_ - halved) <= log_unit) return 0;
        const double excess =
            log_c + log_norm_of_power(original_->data(), n_, 2 * m + 1) - log_norm_ - 2.0 * m * halved - log_unit;
        return excess > 0 ? static_cast<int>(std::ceil(excess / (2 * m))) : 0;
    }

    // Chooses the approximant and the number of squarings.
    void plan() {
        const bool single = sizeof(R) == 4;
        const Approximant* last = &approximants[single ? 2 : 4];
        auto fits = [&](size_t i, double alpha) {
            chosen_ = &approximants[i];
            return alpha <= bound(*chosen_) && further_halvings(*chosen_, 0) == 0;
        };
        squarings_ = 0;
        chosen_ = approximants;
        if (norm_ == 0) return;
        // To know that a lower degree is enough takes the powers that a higher one needs.
        for (size_t i = 0; i < (single ? 3 : 4); ++i)
            if (fits(i, norm_)) return;
        const double d4 = root_norm(4), d6 = root_norm(6);
        if (fits(0, std::min(norm_, std::max(d4, d6)))) return;
        if (fits(1, std::min(norm_, std::max(d4, d6)))) return;
        const double d8 = root_norm_beyond(4);
        double alpha = std::min(norm_, std::max(d6, d8));
        if (fits(2, alpha) || (!single && fits(3, alpha))) return;
        alpha = std::min(alpha, single ? std::max(d4, d6) : std::max(d8, root_norm_beyond(6)));
        if (!std::isfinite(alpha)) alpha = norm_;  // a power overflowed
        chosen_ = last;
        if (alpha > bound(*last)) squarings_ = static_cast<int>(std::ceil(std::log2(alpha / bound(*last))));
        squarings_ += further_halvings(*last, squarings_);
        if (squarings_ > 0 && !(std::isfinite(d4) && std::isfinite(d6))) powers_ = {};  // again, from what is halved
    }

    // out += c x
    void add(T* out, double c, const T* x) const {
        const R factor = static_cast<R>(c);
        for (int64_t i = 0; i < parts_ * area_; ++i) out[i] += factor * x[i];
    }
    void add_identity(T* out, double c) const {
        for (int64_t i = 0; i < n_; ++i) out[i * n_ + i] += static_cast<R>(c);
    }
    Jet zero() const {
        Jet out = jet();
        std::fill(out->data(), out->data() + parts_ * area_, T(0));
        return out;
    }

    // A becomes r(A).
    void approximate() {
        const std::span<const double> b = chosen_->b;
        if (squarings_ > 0 && !powers_[0]) powers_[0] = product(a_, a_);
        const size_t m = b.size() - 1;
        Jet odd = zero(), even = zero();
        if (m == 13) {  // in powers of A^6, so that six products are enough
            for (size_t p : {2, 4, 6}) {
                add(odd->data(), b[7 + p], power(p));
                add(even->data(), b[6 + p], power(p));
            }
            odd = product(power(6), odd->data());
            even = product(power(6), even->data());
        }
        for (size_t p = 2; p < std::min<size_t>(m, 8) || (p == 8 && m == 9); p += 2) {
            add(odd->data(), b[p + 1], power(p));
            add(even->data(), b[p], power(p));
        }
        add_identity(odd->data(), b[1]);
        add_identity(even->data(), b[0]);
        powers_ = {};
        odd = product(a_, odd->data());
        for (int64_t i = 0; i < parts_ * area_; ++i) {
            const T u = (*odd)[i], v = (*even)[i];
            (*odd)[i] = v - u;
            a_[i] = v + u;
        }
        divide(odd->data());
    }

    // a <- a q^-1, part by part: x_S q_0 = a_S - sum of x_{S - Q} q_Q. Row-major memory is to LAPACK the transpose, so the
    // system that it sees is q^T x^T = a^T.
    void divide(T* q) {
        Scratch<int> pivots(n_);
        const T one(1);
        int info = 0;
        Scratch<T> factors(area_);
        std::copy(q, q + area_, factors.data());
        const Blas<T>& routines = routines_for<T>(n_);
        routines.getrf(&n_, &n_, factors, &n_, pivots, &info);
        for (int64_t s = 0; s < parts_; ++s) {
            T* x = a_ + s * area_;
            for (int64_t part = s; part > 0; part = (part - 1) & s)
                gemm<T>(T(-1), row_major<const T>(a_ + (s ^ part) * area_, n_, n_),
                        row_major<const T>(q + part * area_, n_, n_), T(1), row_major(x, n_, n_));
            for (int64_t i = 0; i < n_; ++i)
                if (pivots[i] - 1 != i)
                    for (int64_t c = 0; c < n_; ++c) std::swap(x[c * n_ + i], x[c * n_ + pivots[i] - 1]);
            routines.trsm("L", "L", "N", "U", &n_, &n_, &one, factors, &n_, x, &n_);
            routines.trsm("L", "U", "N", "N", &n_, &n_, &one, factors, &n_, x, &n_);
        }
    }

    bool is_triangular(bool upper) const {
        const T* a = original_->data();
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t j = upper ? 0 : i + 1; j < (upper ? i : n_); ++j)
                if (a[i * n_ + j] != T(0)) return false;
        return true;
    }
    // The diagonal of exp(2^-s A), and beside it the differences (e^x - e^y) / (x - y) times the element.
    void set_exact(int s, bool upper) {
        const T* a = original_->data();
        const R factor = std::ldexp(R(1), -s);
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t j = 0; j < n_; ++j)
                if (upper ? j < i : j > i) a_[i * n_ + j] = T(0);
        for (int64_t i = 0; i < n_; ++i) a_[i * n_ + i] = std::exp(factor * a[i * n_ + i]);
        for (int64_t i = 0; i + 1 < n_; ++i) {
            const int64_t beside = upper ? i * n_ + i + 1 : (i + 1) * n_ + i;
            const T x = factor * a[i * n_ + i], y = factor * a[(i + 1) * n_ + i + 1], half = (x - y) / R(2);
            const T ratio = std::abs(half) < R(0.1) ? near_one(half * half) : std::sinh(half) / half;
            const T middle = std::exp((x + y) / R(2));
            a_[beside] = factor * a[beside] * middle * ratio;
            if (!std::isfinite(std::abs(ratio)) || std::abs(middle) == R(0))
                a_[beside] = factor * a[beside] * ((std::exp(x) - std::exp(y)) / (x - y));
        }
    }
    // sinh(z) / z from z^2
    static T near_one(T z) { return T(1) + z / R(6) * (T(1) + z / R(20) * (T(1) + z / R(42) * (T(1) + z / R(72)))); }

    int n_;
    int64_t area_;
    int directions_;
    int64_t parts_;
    T* a_ = nullptr;
    double norm_ = 0, log_norm_ = 0;
    int squarings_ = 0;
    const Approximant* chosen_ = nullptr;
    const std::array<double, 5> log_errors_ = [] {
        std::array<double, 5> logs;
        for (size_t i = 0; i < logs.size(); ++i) logs[i] = approximants[i].log2_of_error();
        return logs;
    }();
    const std::array<double, 5> bounds_ = [this] {
        std::array<double, 5> bounds;
        for (size_t i = 0; i < bounds.size(); ++i) {
            const double m = approximants[i].degree(),
                         rule = sizeof(R) == 4 ? approximants[i].single : approximants[i].twice;
            bounds[i] = std::min(kLargestArgument, rule * std::pow(2 * m + 1, -directions_ / (2 * m)));
        }
        return bounds;
    }();
    mutable std::vector<std::unique_ptr<Scratch<T>>> spare_;
    std::array<Jet, 4> powers_;                                                   // A^2, A^4, A^6, A^8
    std::unique_ptr<Scratch<T>> original_ = std::make_unique<Scratch<T>>(area_);  // part 0
};

template <class T>
bool is_zero(const T* x, int64_t size) {
    return std::all_of(x, x + size, [](T v) { return v == T(0); });
}

// The coefficient of e1 ... ek, from A [n,n] and directions [k,n,n], into `out`.
template <class T>
void derivative(Exponential<T>& exponential, const T* a, const T* directions, int n, int k, T* out) {
    using R = real_of<T>;
    const int64_t area = int64_t{n} * n, parts = int64_t{1} << k;
    for (int i = 0; i < k; ++i)
        if (is_zero(directions + i * area, area)) return std::fill(out, out + area, T(0)), void();
    if (!is_finite(a, area)) return std::fill(out, out + area, T(std::numeric_limits<R>::quiet_NaN())), void();
    Scratch<T> jet(parts * area);
    std::fill(jet.data(), jet.data() + parts * area, T(0));
    std::copy(a, a + area, jet.data());
    int exponent = 0;  // of the scales that are taken from the directions
    for (int i = 0; i < k; ++i) {
        const T* from = directions + i * area;
        double largest = 0;
        for (int64_t j = 0; j < area; ++j) largest = std::max(largest, static_cast<double>(std::abs(from[j])));
        const int e = std::isfinite(largest) ? std::ilogb(largest) : 0;
        T* part = jet.data() + (int64_t{1} << i) * area;
        std::copy(from, from + area, part);
        scale_by_power_of_two(part, area, -e);
        exponent += e;
    }
    exponential(jet.data());
    const T* result = jet.data() + (parts - 1) * area;
    std::copy(result, result + area, out);
    scale_by_power_of_two(out, area, exponent);
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> matrix_exp_kernel{
    "matrix_exp", [](Result out, const Tensor& self, const Tensor& directions) {
        const int n = static_cast<int>(rows(self));
        const int k = directions.defined() ? static_cast<int>(directions.size(-3)) : 0;
        const Tensor a = row_major_copy(self), d = k > 0 ? row_major_copy(directions) : Tensor();
        dispatch_inexact(self.dtype(), "linalg.matrix_exp", [&]<class T> {
            const T* along = k > 0 ? d.data_as<T>() : nullptr;
            Exponential<T> exponential(n, k);
            for (int64_t i = 0; i < batch_count(self); ++i)
                derivative<T>(exponential, a.data_as<T>() + i * n * n, along + i * k * n * n, n, k,
                              out->data_as<T>() + i * n * n);
        });
    }};

}  // namespace wengert::kernels
