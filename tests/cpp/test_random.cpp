// Random numbers: reproducible, within their bounds, with the moments of their distributions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "kernels/random/random.h"

using namespace wengert;
using namespace wengert::kernels;

namespace {

struct Moments {
    double mean, variance;
};

Moments moments(const Tensor& t) {
    const double* x = t.data_as<double>();
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < t.numel(); ++i) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    double n = static_cast<double>(t.numel()), mean = sum / n;
    return {mean, squares / n - mean * mean};
}

Tensor draw(auto&& fill, uint64_t seed = 7, int64_t n = 100000) {
    Generator g(seed);
    Tensor t = empty(Dims{n}, DType::Float64);
    fill(t, &g);
    return t;
}

bool equal(const Tensor& a, const Tensor& b) {
    return std::memcmp(a.data(), b.data(), static_cast<size_t>(a.numel() * item_size(a.dtype()))) == 0;
}

}  // namespace

TEST_CASE("a seed gives one stream, a state continues it") {
    auto normal = [](const Tensor& t, Generator* g) { normal_(t, 0, 1, g); };
    CHECK(equal(draw(normal), draw(normal)));
    CHECK(!equal(draw(normal), draw(normal, 8)));
    Generator a(3), b(4);
    a.next();
    b.set_state(a.state(), a.initial_seed());
    for (int i = 0; i < 10; ++i) CHECK(a.next() == b.next());
    // What an element gets depends on its index, not on the layout.
    Generator c(5), d(5);
    Tensor dense = empty(Dims{4, 3}, DType::Float32),
           turned = alias(empty(Dims{3, 4}, DType::Float32), Dims{4, 3}, Dims{1, 4}, 0);
    uniform_(dense, 0, 1, &c);
    uniform_(turned, 0, 1, &d);
    CHECK(equal(dense, contiguous(turned)));
}

TEST_CASE("moments") {
    // Bounds of about five standard errors.
    Moments m = moments(draw([](const Tensor& t, Generator* g) { uniform_(t, 0, 1, g); }));
    CHECK(std::fabs(m.mean - 0.5) < 0.005);
    CHECK(std::fabs(m.variance - 1.0 / 12) < 0.002);
    m = moments(draw([](const Tensor& t, Generator* g) { normal_(t, 2, 3, g); }));
    CHECK(std::fabs(m.mean - 2) < 0.05);
    CHECK(std::fabs(m.variance - 9) < 0.2);
    m = moments(draw([](const Tensor& t, Generator* g) { exponential_(t, 2, g); }));
    CHECK(std::fabs(m.mean - 0.5) < 0.008);
    CHECK(std::fabs(m.variance - 0.25) < 0.012);
    m = moments(draw([](const Tensor& t, Generator* g) { bernoulli_(t, 0.3, g); }));
    CHECK(std::fabs(m.mean - 0.3) < 0.008);
}

TEST_CASE("the upper bound is excluded") {
    Generator g(1);
    Tensor t = empty(Dims{1 << 16}, DType::Float32);
    for (int round = 0; round < 20; ++round) {
        uniform_(t, 1, std::nextafter(1.0f, 2.0f), &g);  // nothing but 1 lies between
        const float* x = t.data_as<float>();
        CHECK(std::all_of(x, x + t.numel(), [](float v) { return v == 1; }));
    }
}

TEST_CASE("integers are unbiased") {
    Generator g(11);
    constexpr int64_t kinds = 7, n = 70000;
    Tensor t = empty(Dims{n}, DType::Int64);
    random_integers_(t, -3, 4, &g);
    std::vector<int64_t> counts(kinds);
    for (int64_t i = 0; i < n; ++i) ++counts.at(static_cast<size_t>(t.data_as<int64_t>()[i] + 3));
    double chi_squared = 0;
    for (int64_t c : counts) chi_squared += (c - 10000.0) * (c - 10000.0) / 10000.0;
    CHECK(chi_squared < 22.5);  // 6 degrees of freedom, p = 0.001
}

TEST_CASE("permutations") {
    Generator g(2);
    Tensor p = empty(Dims{1000}, DType::Int64);
    random_permutations_(p, &g);
    std::vector<int64_t> sorted(p.data_as<int64_t>(), p.data_as<int64_t>() + 1000);
    CHECK(!std::is_sorted(sorted.begin(), sorted.end()));
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < 1000; ++i) REQUIRE(sorted[static_cast<size_t>(i)] == i);
    const Tensor none = empty(Dims{3, 0}, DType::Int64);
    random_permutations_(none, &g);
}
