// The matrix exponential by scaling and squaring with Pade approximants (Higham, The scaling and squaring method for the
// matrix exponential revisited, 2005). With A scaled to a small norm, exp(A) ~ (V - U)^-1 (V + U), where U collects the odd
// and V the even powers; then the result is squared as often as A was halved.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/linalg.h"
#include "kernels/linalg_common.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// Coefficients of an approximant, and up to which 1-norm it is exact to rounding in float32 and in float64.
struct Approximant {
    std::span<const double> b;
    double single, twice;
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

// a [n,n] row-major is replaced by its exponential.
template <class T>
void exponential(T* a, int n) {
    using R = real_of<T>;
    int64_t size = int64_t{n} * n;
    double norm = one_norm(a, n);
    if (!std::isfinite(norm)) {
        std::fill(a, a + size, T(std::numeric_limits<R>::quiet_NaN()));
        return;
    }
    const Approximant* best =
        &approximants[sizeof(R) == 4 ? 2 : 4];  // more digits than float32 has need no higher degree
    for (const Approximant& candidate : approximants)
        if (norm <= (sizeof(R) == 4 ? candidate.single : candidate.twice)) {
            best = &candidate;
            break;
        }
    double limit = sizeof(R) == 4 ? best->single : best->twice;
    int squarings = norm > limit ? static_cast<int>(std::ceil(std::log2(norm / limit))) : 0;
    for (int64_t i = 0; i < size; ++i) a[i] *= static_cast<R>(std::ldexp(1.0, -squarings));

    Scratch<T> square(size), power(size), next(size), odd(size), even(size);
    auto matrix = [&](T* data) { return row_major(data, n, n); };
    auto multiply = [&](const T* x, const T* y, T* out) {
        gemm<T>(T(1), row_major<const T>(x, n, n), row_major<const T>(y, n, n), T(0), matrix(out));
    };
    auto b = [&](size_t i) { return static_cast<R>(best->b[i]); };
    multiply(a, a, square);
    std::fill(power.data(), power.data() + size, T(0));
    for (int64_t i = 0; i < n; ++i) power[i * n + i] = T(1);
    for (int64_t i = 0; i < size; ++i) {
        even[i] = b(0) * power[i];
        odd[i] = b(1) * power[i];
    }
    for (size_t k = 2; k < best->b.size(); k += 2) {  // power = A^k
        multiply(power, square, next);
        std::copy(next.data(), next.data() + size, power.data());
        for (int64_t i = 0; i < size; ++i) {
            even[i] += b(k) * power[i];
            odd[i] += b(k + 1) * power[i];
        }
    }
    multiply(a, odd, next);  // U; V is `even`
    for (int64_t i = 0; i < size; ++i) {
        power[i] = even[i] - next[i];
        a[i] = even[i] + next[i];
    }
    // (V - U) X = V + U. Row-major memory is to LAPACK X^T (V - U)^T = (V + U)^T; the factors commute, so X (V - U) = V + U
    // as well, whose transpose (V - U)^T X^T = (V + U)^T is a system in column-major form.
    Scratch<int> pivots(n);
    T one(1);
    int info = 0;
    blas<T>().getrf(&n, &n, power, &n, pivots, &info);
    for (int64_t i = 0; i < n; ++i)
        if (pivots[i] - 1 != i)
            for (int64_t c = 0; c < n; ++c) std::swap(a[c * n + i], a[c * n + pivots[i] - 1]);
    blas<T>().trsm("L", "L", "N", "U", &n, &n, &one, power, &n, a, &n);
    blas<T>().trsm("L", "U", "N", "N", &n, &n, &one, power, &n, a, &n);
    for (; squarings > 0; --squarings) {
        multiply(a, a, next);
        std::copy(next.data(), next.data() + size, a);
    }
}

}  // namespace

Tensor linalg_matrix_exp(const Tensor& self) {
    const char* op = "linalg.matrix_exp";
    check_square(self, op);
    Tensor out = row_major_copy(self);
    int n = lapack_int(rows(self), op);
    if (n == 0) return out;
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        for (int64_t i = 0; i < batch_count(self); ++i) exponential(out.data_as<T>() + i * n * n, n);
    });
    return out;
}

}  // namespace wengert::kernels
