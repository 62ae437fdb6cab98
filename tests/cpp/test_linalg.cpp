// Factorisations put together again give the matrix back; runs on the portable LAPACK when no provider is set.
#include "kernel_fixtures.h"

#include <numeric>
#include <string>

#include "generated/kernels/arithmetic.h"
#include "kernels/linalg/linalg.h"
#include "kernels/products/matmul.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

Tensor random_of(Dims sizes, DType dtype) {
    Tensor t = random(sizes, dtype);
    if (dtype == DType::Complex128) {
        Tensor imaginary = random(sizes);
        for (int64_t i = 0; i < t.numel(); ++i) t.data_as<complex128>()[i].imag(imaginary.data_as<double>()[i]);
    }
    return t;
}

Tensor adjoint(const Tensor& t) {
    Tensor out = clone(contiguous(transpose(t, -1, -2)));
    if (t.dtype() == DType::Complex128)
        for (int64_t i = 0; i < out.numel(); ++i)
            out.data_as<complex128>()[i] = std::conj(out.data_as<complex128>()[i]);
    return out;
}

Tensor eye(int64_t n, DType dtype) {
    Tensor t = zeros(Dims{n, n}, dtype);
    for (int64_t i = 0; i < n; ++i) copy_into(select(select(t, 0, i), 0, i), full(Dims{}, 1, dtype));
    return t;
}

// a (m x n) with column j scaled by s[j]
Tensor scaled(const Tensor& a, const Tensor& s) {
    Tensor d = zeros(Dims{s.size(0), s.size(0)}, a.dtype());
    for (int64_t i = 0; i < s.size(0); ++i) copy_into(select(select(d, 0, i), 0, i), select(s, 0, i));
    return matmul(a, d);
}

// Real and imaginary parts side by side, for comparing.
Tensor parts(const Tensor& t) {
    if (!is_complex(t.dtype())) return t;
    Tensor c = contiguous(t);
    Dims sizes = c.sizes();
    sizes.push_back(2);
    return alias_as(c, real_dtype(c.dtype()), sizes, contiguous_strides(sizes), 2 * c.offset());
}
bool near(const Tensor& a, const Tensor& b) { return close(parts(a), parts(b), 1e-9); }

}  // namespace

TEST_CASE("factorisations and solvers") {
    for (DType dtype : {DType::Float64, DType::Complex128})
        for (int64_t n : {1, 2, 5, 40, 70}) {
            CAPTURE(n);
            CAPTURE(dtype_name(dtype));
            Tensor a = random_of({n, n}, dtype), b = random_of({n, 3}, dtype);
            Tensor s = addmm(eye(n, dtype), a, adjoint(a), 1, 1);
            for (const Tensor& x : layouts(s)) {
                for (bool upper : {false, true}) {
                    Tensor l = linalg_cholesky(x, upper);
                    CHECK(near(upper ? matmul(adjoint(l), l) : matmul(l, adjoint(l)), s));
                    CHECK(near(matmul(l, linalg_solve_triangular(l, b, upper, true, false)), b));
                    Tensor left = adjoint(b);
                    CHECK(near(matmul(linalg_solve_triangular(l, left, upper, false, false), l), left));
                }
                auto [w, v] = linalg_eigh(x, "L");
                CHECK(near(matmul(s, v), scaled(v, w)));
                CHECK(near(matmul(adjoint(v), v), eye(n, dtype)));
            }
            for (const Tensor& x : layouts(a)) {
                CHECK(near(matmul(a, linalg_solve(x, b, true)), b));
                CHECK(near(matmul(linalg_solve(x, adjoint(b), false), a), adjoint(b)));
                CHECK(near(matmul(a, linalg_inv(x)), eye(n, dtype)));
                auto [lu, pivots, info] = linalg_lu_factor_ex(x, true, true);
                auto [p, l, u] = lu_unpack(lu, pivots, true, true);
                CHECK(near(matmul(matmul(p, l), u), a));
                auto [q, r] = linalg_qr(x, "reduced");
                CHECK(near(matmul(q, r), a));
                auto [left, values, right] = linalg_svd(x, true);
                CHECK(near(matmul(scaled(left, values), right), a));
                auto [w, v] = linalg_eig(x);
                CHECK(near(matmul(to_dtype(a, DType::Complex128), v), scaled(v, w)));
            }
        }
}

TEST_CASE("the gradient of a Cholesky factor is that of differences") {
    const auto inner = [](const Tensor& a, const Tensor& b) {  // the real part of <a, b>
        const std::vector<double> x = values(parts(a)), y = values(parts(b));
        return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    };
    for (DType dtype : {DType::Float64, DType::Complex128})
        for (int64_t n : {1, 2, 12, 13, 40, 101})
            for (bool upper : {false, true}) {
                CAPTURE(n);
                const Tensor x = random_of(Dims{n, n}, dtype), e = random_of(Dims{n, n}, dtype);
                const Tensor a = run(K_add, {matmul(x, adjoint(x)), eye(n, dtype)});
                const Tensor direction = run(K_add, {e, adjoint(e)}), g = random_of(Dims{n, n}, dtype);
                const double h = 1e-5;
                const auto moved = [&](double by) {
                    return linalg_cholesky(run(K_add_alpha, {a, direction, by}), upper);
                };
                const double difference = (inner(g, moved(h)) - inner(g, moved(-h))) / (2 * h);
                const Tensor gradient = cholesky_backward(g, linalg_cholesky(a, upper), upper);
                CHECK(inner(gradient, direction) == doctest::Approx(difference).epsilon(1e-5));
                CHECK(near(gradient, adjoint(gradient)));
            }
}

TEST_CASE("rectangles, determinants, least squares, exponentials") {
    Tensor tall = random({7, 3}), wide = random({3, 7});
    for (const Tensor& t : {tall, wide})
        for (bool full : {false, true}) {
            auto [u, s, vh] = linalg_svd(t, full);
            CHECK(close(matmul(scaled(slice(u, 1, 0, 3, 1), s), slice(vh, 0, 0, 3, 1)), t));
            CHECK(near(matmul(adjoint(u), u), eye(u.size(1), DType::Float64)));
        }
    auto [q, r] = linalg_qr(tall, "complete");
    CHECK(q.sizes() == Dims{7, 7});
    CHECK(close(matmul(q, r), tall));

    Tensor m = tensor<double>({1, 2, 3, 4});
    Tensor square = reshape(m, Dims{2, 2});
    CHECK(values(linalg_det(square))[0] == doctest::Approx(-2));
    auto [sign, log] = linalg_slogdet(square);
    CHECK(values(sign)[0] == -1);
    CHECK(values(log)[0] == doctest::Approx(std::log(2.0)));

    Tensor b = random({7, 2});
    auto [x, residuals, rank, singular] = linalg_lstsq(tall, b, {}, "gelsd");
    Tensor rest = addmm(b, tall, x, -1, 1);
    CHECK(close(matmul(adjoint(tall), rest), zeros(Dims{3, 2}, DType::Float64), 1e-12));  // orthogonal to the range
    CHECK(values(rank)[0] == 3);

    Tensor nilpotent = reshape(tensor<double>({0, 1, 0, 0}), Dims{2, 2});
    CHECK(values(linalg_matrix_exp(nilpotent)) == std::vector<double>{1, 1, 0, 1});
    Tensor large = reshape(tensor<double>({0, -30, 30, 0}), Dims{2, 2});
    CHECK(values(linalg_matrix_exp(large))[0] == doctest::Approx(std::cos(30.0)));
}

TEST_CASE("what cannot be done is said as PyTorch says it") {
    auto message = [](auto&& f) -> std::string {
        try {
            f();
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    };
    Tensor zero = zeros(Dims{2, 2}, DType::Float64), batch = zeros(Dims{3, 2, 2}, DType::Float64);
    CHECK(message([&] { linalg_cholesky(zero, false); }) ==
          "linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the "
          "leading "
          "minor of order 1 is not positive-definite).");
    CHECK(message([&] { linalg_inv(batch); }) ==
          "linalg.inv: (Batch element 0): The diagonal element 1 is zero, the inversion could not be completed because "
          "the "
          "input matrix is singular.");
    CHECK(message([&] { linalg_solve(zero, random({2}), true); }) ==
          "linalg.solve: The solver failed because the input matrix is singular.");
    CHECK(message([&] { linalg_det(random({2, 3})); }) ==
          "linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices");
    CHECK(linalg_inv(zeros(Dims{2, 0, 0}, DType::Float64)).sizes() == Dims{2, 0, 0});
}
