// Reductions against loops in long double, over layouts that reach every order of walking a tile.
#include "kernel_fixtures.h"

#include <limits>

#include "backends/cpu/dispatch.h"
#include "kernels/reductions/reduce.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// f applied to the elements behind each result, dims reduced and kept.
template <class F>
Tensor by_loops(const Tensor& t, Dims dims, F f) {
    Dims order, kept;
    for (int64_t d = 0; d < t.dim(); ++d)
        if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d), kept.push_back(t.sizes()[d]);
    for (int64_t d : dims) order.push_back(d);
    std::vector<double> all = values(permute(t, order));
    Tensor out = empty(kept, DType::Float64);
    size_t n = out.numel() ? all.size() / out.numel() : 0;
    for (int64_t i = 0; i < out.numel(); ++i)
        out.data_as<double>()[i] = f(std::vector<double>(all.begin() + i * n, all.begin() + (i + 1) * n));
    return out;
}

double sum_of(const std::vector<double>& v) {
    long double s = 0;
    for (double x : v) s += x;
    return static_cast<double>(s);
}
double var_of(const std::vector<double>& v) {
    double m = sum_of(v) / static_cast<double>(v.size());
    long double s = 0;
    for (double x : v) s += (x - m) * (x - m);
    return static_cast<double>(s / static_cast<long double>(v.size() - 1));
}

}  // namespace

TEST_CASE("reductions agree with loops over all dimensions and layouts") {
    for (Dims sizes : {Dims{5}, Dims{3, 40}, Dims{40, 3}, Dims{2, 3, 700}, Dims{700, 2, 3}, Dims{100, 70, 2}})
        for (DType dtype : {DType::Float32, DType::Float64})
            for (const Tensor& t : layouts(random(sizes, dtype))) {
                double tolerance = dtype == DType::Float32 ? 2e-6 : 1e-13;
                for (Dims dims : {Dims{0}, Dims{t.dim() - 1}, Dims{0, t.dim() - 1}}) {
                    if (dims.size() == 2 && dims[0] == dims[1]) continue;
                    CAPTURE(t.dim());
                    CHECK(close(sum(t, dims), by_loops(t, dims, sum_of), tolerance * 40));
                    CHECK(close(var(t, dims), by_loops(t, dims, var_of), tolerance));
                    CHECK(close(amax(t, dims),
                                by_loops(t, dims, [](auto v) { return *std::max_element(v.begin(), v.end()); }), 0));
                    CHECK(close(amin(t, dims),
                                by_loops(t, dims, [](auto v) { return *std::min_element(v.begin(), v.end()); }), 0));
                    CHECK(close(logsumexp(t, dims),
                                by_loops(t, dims,
                                         [](auto v) {
                                             for (double& x : v) x = std::exp(x);
                                             return std::log(sum_of(v));
                                         }),
                                tolerance));
                    CHECK(close(vector_norm(t, 3, dims),
                                by_loops(t, dims,
                                         [](auto v) {
                                             for (double& x : v) x = std::pow(std::abs(x), 3);
                                             return std::cbrt(sum_of(v));
                                         }),
                                tolerance * 10));
                }
                Tensor index = argmax(t, 0);
                CHECK(close(index,
                            by_loops(t, {0},
                                     [](auto v) {
                                         return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin());
                                     }),
                            0));
            }
}

TEST_CASE("long float32 sums stay accurate") {
    Tensor t = full(Dims{10'000'000}, 0.1, DType::Float32);
    CHECK(values(sum(t))[0] == doctest::Approx(0.1f * 1e7).epsilon(5e-7));
    CHECK(values(mean(t))[0] == doctest::Approx(0.1f).epsilon(5e-7));
    CHECK(values(var(t))[0] < 1e-12);
}

TEST_CASE("NaN wins extremes, and the first of equal elements gives the index") {
    Tensor t = tensor({3.0, kNan, 5.0, kNan, 5.0});
    CHECK(std::isnan(values(amax(t))[0]));
    CHECK(values(argmax(t))[0] == 1);
    CHECK(values(argmin(tensor({2.0, 1.0, 1.0})))[0] == 1);
    for (int64_t n : {5, 40, 700})
        for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
            Tensor row = random({n}, DType::Float32), rows = random({9, n}, DType::Float32);
            row.data_as<float>()[at] = std::numeric_limits<float>::quiet_NaN();
            rows.data_as<float>()[3 * n + at] = std::numeric_limits<float>::quiet_NaN();
            CHECK(values(argmin(row))[0] == at);
            CHECK(std::isnan(values(amin(row))[0]));
            CHECK(std::isnan(values(amax(rows, Dims{1}))[3]));
            CHECK(values(argmax(rows, 1))[3] == at);
        }
    CHECK(values(median(tensor({3.0, 1.0, 2.0, 4.0})))[0] == 2);
    CHECK(std::isnan(values(median(t))[0]));
    CHECK(values(nanmedian(t))[0] == 5);
}

TEST_CASE("integral and logical reductions") {
    Tensor bytes = full(Dims{1000}, 200, DType::UInt8);
    CHECK(sum(bytes).dtype() == DType::Int64);
    CHECK(values(sum(bytes))[0] == 200'000);
    CHECK(values(sum(bytes, {}, false, DType::UInt8))[0] == 200'000 % 256);
    Tensor mask = full(Dims{70, 300}, true, DType::Bool);
    CHECK(values(sum(mask))[0] == 21000);
    CHECK(values(all(mask))[0] == 1);
    mask.data_as<bool>()[20999] = false;
    CHECK(values(all(mask))[0] == 0);
    CHECK(values(all(mask, Dims{0}))[299] == 0);
    CHECK(values(count_nonzero(mask))[0] == 20999);
    CHECK(any(bytes).dtype() == DType::UInt8);
}

TEST_CASE("reductions of nothing have the identity, or an error that says so") {
    Tensor none = empty(Dims{0, 3}, DType::Float64);
    CHECK(values(sum(none)) == std::vector<double>{0});
    CHECK(values(prod(none, Dims{0})) == std::vector<double>{1, 1, 1});
    CHECK(std::isnan(values(mean(none))[0]));
    CHECK(values(logsumexp(none, Dims{0}))[0] == -kInf);
    CHECK_THROWS_WITH_AS(amax(none, Dims{0}), "amax(): Expected reduction dim 0 to have non-zero size.", Error);
    CHECK(amax(none, Dims{1}).numel() == 0);
    CHECK_THROWS_AS(max(none), Error);
    CHECK_THROWS_AS(mean(counting({3}, DType::Int64)), Error);
    CHECK_THROWS_AS(sum(random({2, 3}), Dims{0, -2}), Error);
}

TEST_CASE("the 2-norm does not overflow or underflow before its result does") {
    for (double scale : {1e200, 1e-200, 1.0}) {
        Tensor t = tensor({3.0 * scale, 4.0 * scale});
        CHECK(values(vector_norm(t))[0] == doctest::Approx(5 * scale).epsilon(1e-15));
    }
    CHECK(values(vector_norm(tensor({3e30f, 4e30f})))[0] == doctest::Approx(5e30));
    CHECK(values(vector_norm(tensor({kInf, 0.0})))[0] == kInf);
    CHECK(values(vector_norm(tensor({0.0, 0.0})))[0] == 0);
}

TEST_CASE("complex sums, products and variances") {
    Tensor z = view_as_complex(random({50, 3, 2}));
    Tensor total = view_as_real(sum(z, Dims{0}));
    CHECK(close(total, sum(view_as_real(z), Dims{0})));
    CHECK(close(var(z, Dims{0}), sum(var(view_as_real(z), Dims{0}), Dims{-1})));
}
