// Matrix products against triple loops: all layouts, dtypes, ranks; and einsum's plans.
#include "kernel_fixtures.h"

#include <string>

#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/products/gemm.h"
#include "kernels/linalg/blas_threads.h"
#include "kernels/products/einsum.h"
#include "kernels/products/matmul.h"
#include "kernels/reductions/reduce.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

Tensor reference(const Tensor& a, const Tensor& b) {
    Tensor x = contiguous(to_dtype(a, DType::Float64)), y = contiguous(to_dtype(b, DType::Float64));
    int64_t m = a.size(0), k = a.size(1), n = b.size(1);
    Tensor out = zeros(Dims{m, n}, DType::Float64);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t p = 0; p < k; ++p)
                out.data_as<double>()[i * n + j] += x.data_as<double>()[i * k + p] * y.data_as<double>()[p * n + j];
    return out;
}

template <class F>
std::string message(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Kernels {
    static Tensor diagonal(const Tensor& t, int64_t d1, int64_t d2) { return kernels::diagonal(t, 0, d1, d2); }
    static Tensor reshape(const Tensor& t, const Dims& shape) { return kernels::reshape(t, shape); }
    static Tensor sum(const Tensor& t, const Dims& dims) { return kernels::sum(t, dims, false, {}); }
    static Tensor permute(const Tensor& t, const Dims& dims) { return kernels::permute(t, dims); }
    static Tensor multiply(const Tensor& a, const Tensor& b) { return kernels::bmm(a, b); }  // [b,m,1] x [b,1,n]
    static Tensor mm(const Tensor& a, const Tensor& b) { return kernels::mm(a, b); }
    static Tensor bmm(const Tensor& a, const Tensor& b) { return kernels::bmm(a, b); }
};

Tensor einsum(std::string_view equation, std::vector<Tensor> operands) {
    std::vector<Dims> shapes;
    for (const Tensor& t : operands) shapes.push_back(t.sizes());
    return execute_einsum<Kernels>(plan_einsum(equation, shapes), operands);
}

}  // namespace

TEST_CASE("mm equals a triple loop in every size, layout and dtype") {
    for (auto [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                           {3, 4, 5},
                           {8, 8, 8},
                           {17, 9, 33},
                           {13, 1, 7},
                           {1, 40, 30},
                           {30, 40, 1},
                           {64, 64, 64},
                           {100, 300, 70},
                           {5, 0, 3},
                           {0, 4, 2}})
        for (DType dtype :
             {DType::Float64, DType::Float32, DType::Complex128, DType::Int64, DType::Int32, DType::Int16}) {
            Tensor a = random(Dims{m, k}), b = random(Dims{k, n});
            if (category(dtype) == Category::Integral) {
                a = to_dtype(counting(Dims{m, k}), DType::Int16);
                b = to_dtype(counting(Dims{k, n}), DType::Int16);
                if (m * k > 100 || k * n > 100) continue;  // int16 would wrap
            }
            Tensor expected = reference(a, b);
            // k products, each rounded: the error grows with k.
            double tolerance = dtype == DType::Float32 ? 1.2e-7 * static_cast<double>(k + 8) : 1e-12;
            for (const Tensor& x : layouts(to_dtype(a, dtype)))
                for (const Tensor& y : layouts(to_dtype(b, dtype)))
                    CHECK(close(to_dtype(mm(x, y), DType::Float64), expected, tolerance));
        }
}

TEST_CASE("own GEMM with alpha, beta and a strided result") {
    Tensor a = random({37, 300}), b = random({300, 45}), c = random({45, 37});
    Tensor expected = reference(a, b), out = transpose(clone(c), 0, 1);
    Matrix<double> target{out.data_as<double>(), 37, 45, out.stride(0), out.stride(1)};
    own_gemm<double>(2, row_major<const double>(a.data_as<double>(), 37, 300),
                     row_major<const double>(b.data_as<double>(), 300, 45), 0.5, target);
    for (int64_t i = 0; i < 37; ++i)
        for (int64_t j = 0; j < 45; ++j)
            CHECK(target(i, j) ==
                  doctest::Approx(2 * expected.data_as<double>()[i * 45 + j] + 0.5 * c.data_as<double>()[j * 37 + i]));
}

TEST_CASE("matmul follows NumPy's rules") {
    Tensor v = random({4}), m = random({3, 4}), batch = random({2, 5, 4, 3}), wide = random({5, 3, 4});
    CHECK(matmul(v, v).sizes() == Dims{});
    CHECK(matmul(m, v).sizes() == Dims{3});
    CHECK(matmul(v, transpose(m, 0, 1)).sizes() == Dims{3});
    CHECK(matmul(batch, m).sizes() == Dims{2, 5, 4, 4});
    CHECK(matmul(v, batch).sizes() == Dims{2, 5, 3});
    CHECK(matmul(wide, v).sizes() == Dims{5, 3});
    Tensor product = matmul(wide, batch);
    CHECK(product.sizes() == Dims{2, 5, 3, 3});
    for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 5; ++j)
            CHECK(close(select(select(product, 0, i), 0, j),
                        reference(select(wide, 0, j), select(select(batch, 0, i), 0, j))));
    CHECK(contains(message([&] { matmul(m, random({5, 6})); }),
                   "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)"));
    CHECK(contains(message([&] { matmul(m, random({5, 6})); }),
                   "[matmul] last dim of (3, 4) must equal second-to-last of (5, 6)"));
    CHECK(contains(message([&] { matmul(m, to_dtype(transpose(m, 0, 1), DType::Float32)); }),
                   "expected m1 and m2 to have the same dtype"));
}

TEST_CASE("sums with products do not read what beta removes") {
    Tensor a = random({2, 3}), b = random({3, 4}), bad = full(Dims{4}, std::nan(""), DType::Float64);
    CHECK(close(addmm(bad, a, b, 0, 1), reference(a, b)));
    CHECK(close(addmm(zeros(Dims{2, 1}, DType::Float64), a, b, 3, 1), reference(a, b)));
    Tensor x = random({5, 2, 3}), y = random({5, 3, 4});
    Tensor total = addbmm(zeros(Dims{4}, DType::Float64), x, y, 1, 1);
    CHECK(close(total, sum(bmm(x, y), Dims{0}, false, {})));
}

TEST_CASE("einsum") {
    Tensor a = random({3, 4}), b = random({4, 5}), c = random({5, 3}), q = random({2, 6, 3, 4}),
           square = random({4, 4});
    CHECK(close(einsum("ij,jk->ik", {a, b}), reference(a, b)));
    CHECK(close(einsum("ij,jk,ki->", {a, b, c}),
                sum(kernels::diagonal(reference(reference(a, b), c), 0, 0, 1), {}, false, {})));
    CHECK(close(einsum("ba", {a}), transpose(a, 0, 1)));
    CHECK(close(einsum("ii->i", {square}), kernels::diagonal(square, 0, 0, 1)));
    CHECK(close(einsum("ij->j", {a}), sum(a, Dims{0}, false, {})));
    CHECK(close(einsum("...ij,jk->...ik", {q, b}), matmul(q, b)));
    CHECK(close(einsum("i,j->ij", {select(a, 0, 0), select(b, 0, 0)}),
                matmul(unsqueeze(select(a, 0, 0), 1), unsqueeze(select(b, 0, 0), 0))));
    CHECK(close(einsum("ij,jk->ik", {full(Dims{3, 1}, 1, DType::Float64), b}),
                reference(full(Dims{3, 4}, 1, DType::Float64), b)));
    CHECK(contains(message([&] { einsum("ij,jk->iz", {a, b}); }), "output subscript z does not appear"));
    CHECK(
        contains(message([&] { einsum("ij", {a, b}); }), "more operands were provided than specified in the equation"));
}

TEST_CASE("the registry names every routine with its signature") {
    std::vector<BlasRoutine> routines = blas_routines();
    CHECK(routines.size() == 54);
    CHECK(routines.front().name == "sgemm");
    CHECK(routines.front().signature == "bbiiissisissi");
    CHECK_FALSE(blas_register("dnothing", nullptr));
}

TEST_CASE("a library of several threads is one while it is held to one, and has them again") {
    static int threads = 4;
    control_blas_threads([] { return threads; }, [](int n) { threads = n; });
    {
        const OneBlasThread held;
        CHECK(threads == 1);
    }
    CHECK(threads == 4);
}
