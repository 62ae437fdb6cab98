// Fourier transforms against sums over all points, of every way in which a plan computes them.
#include "kernel_fixtures.h"

#include "backends/cpu/fft/plan.h"
#include "backends/cpu/fft/roots.h"
#include "base/threads/parallel_for.h"
#include "kernels/fft.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

constexpr int64_t kForward = 1;

// [lines, n] complex numbers, as [lines, 2n] reals.
std::vector<double> parts(const Tensor& t) {
    Tensor d = contiguous(to_dtype(t, is_complex(t.dtype()) ? DType::Complex128 : DType::Float64));
    return {d.data_as<double>(), d.data_as<double>() + d.numel() * (is_complex(t.dtype()) ? 2 : 1)};
}

Tensor random_complex(Dims sizes, DType dtype = DType::Complex128) {
    Tensor t = empty(sizes, DType::Complex128);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < 2 * t.numel(); ++i) t.data_as<double>()[i] = normal(generator());
    return to_dtype(t, dtype);
}

// The root of the mean square error of lines [lines, n], relative to that of the results; of a few frequencies where n is large.
double error(const Tensor& in, const Tensor& out, bool forward) {
    const std::vector<double> x = parts(in), y = parts(out);
    const int64_t n = in.size(1), count = out.size(1);
    const RootsOfUnity roots(n);
    const auto real = !is_complex(in.dtype());
    long double wrong = 0, all = 0;
    for (int64_t line = 0; line < in.size(0); line += std::max<int64_t>(1, in.size(0) - 1))
        for (int64_t k = 0; k < count; k += std::max<int64_t>(1, count / 40)) {
            long double re = 0, im = 0;
            for (int64_t j = 0; j < n; ++j) {
                auto [c, s] = roots(static_cast<int64_t>(static_cast<__int128>(j) * k % n));
                if (!forward) s = -s;
                const int64_t at = line * n + j;
                const long double a = real ? x[at] : x[2 * at], b = real ? 0 : x[2 * at + 1];
                re += a * c - b * s;
                im += a * s + b * c;
            }
            const double* result = &y[2 * (line * count + k)];
            wrong += (result[0] - re) * (result[0] - re) + (result[1] - im) * (result[1] - im);
            all += re * re + im * im;
        }
    return static_cast<double>(std::sqrt(wrong / all));
}

// Stages of all radices, odd ones without code of their own, matrices, convolutions within a block and beyond.
constexpr int64_t kLengths[] = {1,   2,   3,   4,   5,   6,    7,    8,    9,    11,   12,  13,
                                16,  17,  24,  31,  32,  45,   49,   64,   97,   101,  103, 120,
                                128, 193, 211, 256, 386, 1000, 1009, 2048, 4096, 4099, 6000};

}  // namespace

TEST_CASE("complex lines, few and many, both directions, both precisions") {
    for (int64_t n : kLengths)
        for (int64_t lines : {int64_t{1}, int64_t{3}, int64_t{n > 500 ? 18 : 37}})
            for (DType dtype : {DType::Complex64, DType::Complex128}) {
                const double bound = (dtype == DType::Complex64 ? 1.2e-7 : 2.3e-16) * (1 + std::sqrt(std::log2(n)));
                const Tensor x = random_complex({lines, n}, dtype);
                for (bool forward : {true, false}) {
                    CAPTURE(n);
                    CAPTURE(lines);
                    CHECK(error(x, fft_c2c(x, Dims{1}, 0, forward), forward) <= bound);
                }
            }
}

TEST_CASE("real lines and their inverse") {
    for (int64_t n : kLengths)
        for (int64_t lines : {int64_t{1}, int64_t{3}, int64_t{n > 500 ? 18 : 37}})
            for (DType dtype : {DType::Float32, DType::Float64}) {
                const double bound = (dtype == DType::Float32 ? 1.2e-7 : 2.3e-16) * (1 + std::sqrt(std::log2(n)));
                const Tensor x = random({lines, n}, dtype);
                const Tensor half = fft_r2c(x, Dims{1}, 0, true), whole = fft_r2c(x, Dims{1}, 0, false);
                CAPTURE(n);
                CAPTURE(lines);
                CHECK(half.size(1) == n / 2 + 1);
                CHECK(whole.size(1) == n);
                CHECK(error(x, half, kForward) <= bound);
                CHECK(error(x, whole, kForward) <= bound);
                CHECK(close(fft_c2r(half, Dims{1}, 2, n), x, 16 * bound));
            }
}

TEST_CASE("any dimension of any layout, several dimensions, in one pass or two") {
    for (Dims sizes : {Dims{5, 6, 7}, Dims{40, 3, 18}, Dims{2, 3500, 20}, Dims{4100, 33}})
        for (const Tensor& x : layouts(random_complex(sizes)))
            for (int64_t d = 0; d < x.dim(); ++d) {
                const Tensor last = contiguous(transpose(x, d, -1));
                const Tensor expected = transpose(fft_c2c(last, Dims{-1}, 0, true), d, -1);
                CHECK(close(view_as_real(fft_c2c(x, Dims{d}, 0, true)), view_as_real(expected)));
                const Tensor both = fft_c2c(fft_c2c(x, Dims{d}, 0, true), Dims{(d + 1) % x.dim()}, 0, true);
                CHECK(close(view_as_real(fft_c2c(x, Dims{d, (d + 1) % x.dim()}, 0, true)), view_as_real(both)));
            }
    for (const Tensor& x : layouts(random({6, 5, 8}))) {
        const Tensor half = fft_r2c(x, Dims{0, 2}, 1, true);
        CHECK(close(fft_c2r(half, Dims{0, 2}, 1, 8), x));
        CHECK(close(view_as_real(half), view_as_real(fft_r2c(contiguous(x), Dims{0, 2}, 1, true))));
    }
}

TEST_CASE("a line knows nothing of others, and no number of threads changes it") {
    Tensor x = random({300, 64}, DType::Float32);
    const Tensor clean = fft_r2c(x, Dims{1}, 0, true);
    x.data_as<float>()[64 * 7] = NAN;
    const Tensor dirty = fft_r2c(x, Dims{1}, 0, true);
    CHECK(same(view_as_real(slice(dirty, 0, 8, 300)), view_as_real(slice(clean, 0, 8, 300))));
    CHECK(same(view_as_real(slice(dirty, 0, 0, 7)), view_as_real(slice(clean, 0, 0, 7))));
    const int threads = num_threads();
    for (Dims sizes : {Dims{1000, 120}, Dims{2, 300'000}, Dims{3, 20'011}, Dims{700, 211}, Dims{5000, 40}})
        for (int64_t d : {0, 1}) {
            const Tensor y = random_complex(sizes, DType::Complex64);
            set_num_threads(1);
            const Tensor one = fft_c2c(y, Dims{d}, 0, true);
            set_num_threads(4);
            CHECK(same(view_as_real(one), view_as_real(fft_c2c(y, Dims{d}, 0, true))));
        }
    set_num_threads(threads);
}

TEST_CASE("parts that a real signal cannot have are not read") {
    for (int64_t n : {7, 8, 5000, 5001}) {
        Tensor half = random_complex({2, n / 2 + 1});
        const Tensor expected = fft_c2r(half, Dims{1}, 0, n);
        for (int64_t line : {0, 1}) {
            double* x = half.data_as<double>() + line * half.size(1) * 2;
            x[1] = NAN;
            if (n % 2 == 0) x[n + 1] = NAN;
        }
        CHECK(same(fft_c2r(half, Dims{1}, 0, n), expected));
    }
}

TEST_CASE("sides of matrices that are longer than a block should be") {
    for (int64_t n : {101 * 97 * 89, 10'077'696, 211 * 223 * 227}) {
        const Tensor x = random_complex({1, n}, DType::Complex64);
        const Tensor back = fft_c2c(fft_c2c(x, Dims{1}, 0, true), Dims{1}, 2, false);
        CHECK(close(view_as_real(back), view_as_real(x), 1e-5));
        Tensor one = zeros(Dims{1, n}, DType::Complex64);
        one.data_as<float>()[2] = 1;  // at 1: the roots of unity
        const Tensor roots = fft_c2c(one, Dims{1}, 0, true);
        const RootsOfUnity expected(n);
        for (int64_t k = 0; k < n; k += n / 100) {
            CHECK(std::abs(roots.data_as<float>()[2 * k] - static_cast<float>(expected(k).re)) < 1e-6);
            CHECK(std::abs(roots.data_as<float>()[2 * k + 1] - static_cast<float>(expected(k).im)) < 1e-6);
        }
    }
}

TEST_CASE("roots of unity are right to the last digit") {
    for (int64_t n : {8, 360, 1 << 20, 1'000'003}) {
        const RootsOfUnity roots(n);
        CHECK(std::abs(static_cast<double>(roots(n / 4).re)) < 1e-5);
        for (int64_t k = 0; k < n; k += 1 + n / 1000) {
            const auto [re, im] = roots(k);
            CHECK(std::abs(static_cast<double>(re * re + im * im - 1)) < 1e-15);
            const long double angle = 6.283185307179586476925286766559005768L * static_cast<long double>(k) / n;
            CHECK(std::abs(static_cast<double>(re - std::cos(angle))) < 1e-15);
            CHECK(std::abs(static_cast<double>(im + std::sin(angle))) < 1e-15);
        }
    }
}
