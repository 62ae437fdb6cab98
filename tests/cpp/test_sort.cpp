// Sorting, searching, counting, scans and ranges.
#include "kernel_fixtures.h"

#include <algorithm>
#include <limits>

#include "kernels/creation.h"
#include "kernels/indexing/indexing.h"
#include "kernels/reductions/scan.h"
#include "kernels/sorting/histogram.h"
#include "kernels/sorting/sort.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
}

TEST_CASE("sort is stable, orders NaN last, and agrees with its indices; short and radix-sorted lines") {
    for (DType dtype : {DType::Bool, DType::UInt8, DType::Int16, DType::Int64, DType::Float32, DType::Float64})
        for (int64_t n : {1, 20, 3000})
            for (bool descending : {false, true}) {
                Tensor t = random({n});
                for (int64_t i = 0; i < n; ++i) t.data_as<double>()[i] = std::round(t.data_as<double>()[i] * 5);
                t = to_dtype(t, dtype);
                auto [sorted, index] = sort(t, 0, descending);
                std::vector<double> in = values(t), out = values(sorted), at = values(index);
                std::vector<int64_t> expected(n);
                for (int64_t i = 0; i < n; ++i) expected[i] = i;
                std::stable_sort(expected.begin(), expected.end(),
                                 [&](int64_t a, int64_t b) { return descending ? in[a] > in[b] : in[a] < in[b]; });
                for (int64_t i = 0; i < n; ++i) {
                    REQUIRE(at[i] == expected[i]);
                    REQUIRE(out[i] == in[expected[i]]);
                }
            }
    std::vector<double> s = values(std::get<0>(sort(tensor({kNan, 1.0, -kInf, kInf, -0.0, 0.0}))));
    CHECK(std::isnan(s[5]));
    CHECK(s[4] == kInf);
    CHECK(std::signbit(s[1]));
    CHECK(!std::signbit(s[2]));
}

TEST_CASE("topk and kthvalue are ends and elements of sort") {
    for (const Tensor& t : layouts(random({6, 400})))
        for (int64_t k : {1, 5, 60, 400}) {
            for (bool largest : {true, false})
                CHECK(same(std::get<0>(topk(t, k, 1, largest)), slice(std::get<0>(sort(t, 1, largest)), 1, 0, k)));
            CHECK(same(std::get<0>(kthvalue(t, k, 1)), select(std::get<0>(sort(t, 1)), 1, k - 1)));
        }
    CHECK_THROWS_AS(topk(random({3}), 4), Error);
    CHECK_THROWS_AS(kthvalue(random({3}), 0), Error);
}

TEST_CASE("unique rebuilds its input") {
    Tensor t = to_dtype(random({50, 4}), DType::Int32);
    auto [unique_values, inverse, counts] = unique(t, true, true, true);
    CHECK(same(index(unique_values, TensorList{inverse}), t));
    auto [rows, row_inverse, row_counts] = unique_dim(t, 0, true, true, true);
    CHECK(same(index_select(rows, 0, row_inverse), t));
    auto [runs, run_inverse, run_counts] = unique_consecutive(tensor<int64_t>({1, 1, 2, 2, 1}), true, true);
    CHECK(values(runs) == std::vector<double>{1, 2, 1});
    CHECK(values(run_counts) == std::vector<double>{2, 2, 1});
    CHECK(values(run_inverse) == std::vector<double>{0, 0, 1, 1, 2});
}

TEST_CASE("searching and counting") {
    Tensor edges = tensor({1.0, 2.0, 2.0, 3.0});
    CHECK(values(searchsorted(edges, tensor({0.0, 2.0, 9.0, kNan}))) == std::vector<double>{0, 1, 4, 4});
    CHECK(values(searchsorted(edges, tensor({2.0}), false, true)) == std::vector<double>{3});
    CHECK(bucketize(tensor({2.5}), edges, true).dtype() == DType::Int32);
    CHECK(values(histc(tensor({0.0, 1.0, 2.0, 4.0}), 4)) == std::vector<double>{1, 1, 1, 1});
    CHECK(values(bincount(tensor<int64_t>({1, 1, 3}))) == std::vector<double>{0, 2, 0, 1});
}

TEST_CASE("scans") {
    for (const Tensor& t : layouts(random({5, 6})))
        for (int64_t dim : {0, 1}) {
            Tensor total = cumsum(t, dim), product = cumprod(t, dim), logs = logcumsumexp(t, dim);
            auto [best, at] = cummax(t, dim);
            double s = 0, p = 1, e = 0, m = -kInf;
            for (int64_t i = 0; i < t.sizes()[dim]; ++i) {
                auto pick = [&](const Tensor& x) { return values(select(select(x, dim, i), 0, 3))[0]; };
                double x = pick(t);
                s += x, p *= x, e += std::exp(x), m = std::max(m, x);
                CHECK(pick(total) == doctest::Approx(s));
                CHECK(pick(product) == doctest::Approx(p));
                CHECK(pick(logs) == doctest::Approx(std::log(e)));
                CHECK(pick(best) == m);
            }
            CHECK(same(gather(t, dim, at), best));
        }
    CHECK(cumsum(tensor({true, true}), 0).dtype() == DType::Int64);
    CHECK(values(std::get<1>(cummax(tensor({2.0, 2.0, 1.0}), 0))) == std::vector<double>{0, 1, 1});
}

TEST_CASE("ranges") {
    CHECK(values(arange(0, 5, 2)) == std::vector<double>{0, 2, 4});
    CHECK(arange(0, 5).dtype() == DType::Int64);
    CHECK(arange(0, 5.0).dtype() == default_dtype());
    CHECK(arange(0, 1, 0.1).numel() == 10);
    CHECK_THROWS_AS(arange(0, 1, 0), Error);
    std::vector<double> line = values(linspace(0.1, 0.7, 7, with_dtype({}, DType::Float64)));
    CHECK(line.front() == 0.1);
    CHECK(line.back() == 0.7);
    CHECK(values(logspace(0, 3, 4, 2)) == std::vector<double>{1, 2, 4, 8});
    CHECK(values(eye(2, 3)) == std::vector<double>{1, 0, 0, 0, 1, 0});
    CHECK(values(tril_indices(3, 3, -1)) == std::vector<double>{1, 2, 2, 0, 0, 1});
}
