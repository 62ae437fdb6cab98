// Softmax and the normalisation layers: definitions in double, and backward kernels against difference quotients.
#include "kernel_fixtures.h"

#include <functional>

#include "kernels/nn/normalize.h"
#include "kernels/nn/softmax.h"
#include "kernels/reductions/reduce.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

double dot(const Tensor& a, const Tensor& b) {
    std::vector<double> x = values(a), y = values(b);
    double s = 0;
    for (size_t i = 0; i < x.size(); ++i) s += x[i] * y[i];
    return s;
}

// d<f(x), g>/dx by central differences.
Tensor numerical(const Tensor& x, const Tensor& g, const std::function<Tensor()>& f) {
    Tensor out = empty(x.sizes(), DType::Float64);
    for (int64_t i = 0; i < x.numel(); ++i) {
        double& p = x.data_as<double>()[i];
        const double kept = p, h = 1e-6;
        p = kept + h;
        double up = dot(f(), g);
        p = kept - h;
        double down = dot(f(), g);
        p = kept;
        out.data_as<double>()[i] = (up - down) / (2 * h);
    }
    return out;
}

}  // namespace

TEST_CASE("softmax and log_softmax: rows, short rows and columns") {
    for (Dims sizes : {Dims{9, 5}, Dims{3, 100}, Dims{2, 40, 3}})
        for (DType dtype : {DType::Float32, DType::Float64})
            for (const Tensor& t : layouts(random(sizes, dtype)))
                for (int64_t dim = 0; dim < t.dim(); ++dim) {
                    const double tolerance = dtype == DType::Float32 ? 3e-7 : 1e-15;
                    Tensor x = movedim(t, Dims{dim}, Dims{-1}), p = movedim(softmax(t, dim), Dims{dim}, Dims{-1});
                    Tensor q = movedim(log_softmax(t, dim), Dims{dim}, Dims{-1});
                    std::vector<double> in = values(x), out = values(p), logs = values(q);
                    const auto n = static_cast<size_t>(t.sizes()[dim]);
                    for (size_t row = 0; row < in.size(); row += n) {
                        double total = 0;
                        for (size_t i = 0; i < n; ++i) total += std::exp(in[row + i]);
                        for (size_t i = 0; i < n; ++i) {
                            REQUIRE(std::abs(out[row + i] - std::exp(in[row + i]) / total) <= tolerance);
                            REQUIRE(std::abs(logs[row + i] - (in[row + i] - std::log(total))) <= 8 * tolerance);
                        }
                    }
                }
    // Far tails: subnormal and vanishing terms, infinities.
    std::vector<double> tail = values(softmax(tensor({0.0, -740.0, -1000.0}), 0));
    CHECK(tail[1] == doctest::Approx(std::exp(-740.0)).epsilon(1e-3));
    CHECK(tail[1] > 0);
    CHECK(tail[2] == 0);
    const double inf = std::numeric_limits<double>::infinity();
    CHECK(std::isnan(values(softmax(tensor({-inf, -inf}), 0))[0]));
    CHECK(values(softmax(tensor({-inf, 0.0}), 0)) == std::vector<double>{0, 1});
}

TEST_CASE("softmax backward") {
    for (Dims sizes : {Dims{2, 5}, Dims{9, 4}, Dims{2, 40}, Dims{2, 4, 3}})
        for (int64_t dim : {0, 1}) {
            Tensor x = random(sizes), g = random(sizes);
            CHECK(close(softmax_backward(g, softmax(x, dim), dim), numerical(x, g, [&] { return softmax(x, dim); }),
                        1e-7));
            CHECK(close(log_softmax_backward(g, log_softmax(x, dim), dim),
                        numerical(x, g, [&] { return log_softmax(x, dim); }), 1e-7));
        }
}

TEST_CASE("layer_norm and rms_norm") {
    for (int64_t n : {5, 70}) {
        Tensor x = random({3, 2, n}), w = random({n}), b = random({n}), g = random({3, 2, n});
        auto run = [&] { return std::get<0>(layer_norm(x, Dims{n}, w, b, 1e-5)); };
        auto [out, mean, rstd] = layer_norm(x, Dims{n}, w, b, 1e-5);
        CHECK(mean.sizes() == Dims{3, 2, 1});
        auto [gx, gw, gb] = layer_norm_backward(g, x, Dims{n}, mean, rstd, w);
        CHECK(close(gx, numerical(x, g, run), 1e-6));
        CHECK(close(gw, numerical(w, g, run), 1e-6));
        CHECK(close(gb, numerical(b, g, run), 1e-6));
        auto rms = [&] { return std::get<0>(rms_norm(x, Dims{n}, w, 1e-6)); };
        auto [hx, hw] = rms_norm_backward(g, x, Dims{n}, std::get<1>(rms_norm(x, Dims{n}, w, 1e-6)), w);
        CHECK(close(hx, numerical(x, g, rms), 1e-6));
        CHECK(close(hw, numerical(w, g, rms), 1e-6));
    }
}

TEST_CASE("group_norm and batch_norm") {
    for (Dims sizes : {Dims{4, 6}, Dims{3, 6, 5}}) {
        Tensor x = random(sizes), w = random({6}), b = random({6}), g = random(sizes), none;
        auto group = [&] { return std::get<0>(group_norm(x, 3, w, b, 1e-5)); };
        auto [out, mean, rstd] = group_norm(x, 3, w, b, 1e-5);
        auto [gx, gw, gb] = group_norm_backward(g, x, mean, rstd, w, 3);
        CHECK(close(gx, numerical(x, g, group), 1e-5));
        CHECK(close(gw, numerical(w, g, group), 1e-6));
        CHECK(close(gb, numerical(b, g, group), 1e-6));
        Tensor running_mean = random({6}), running_var = full(Dims{6}, 2, DType::Float64);
        for (bool training : {true, false}) {
            auto batch = [&] { return std::get<0>(batch_norm(x, w, b, running_mean, running_var, training, 0, 1e-5)); };
            auto [bout, bmean, brstd] = batch_norm(x, w, b, running_mean, running_var, training, 0, 1e-5);
            auto [bx, bw, bb] = batch_norm_backward(g, x, w, bmean, brstd, training);
            CHECK(close(bx, numerical(x, g, batch), 1e-5));
            CHECK(close(bw, numerical(w, g, batch), 1e-6));
            CHECK(close(bb, numerical(b, g, batch), 1e-6));
        }
        batch_norm(x, w, b, running_mean, none, true, 1, 1e-5);
        Tensor blocks = flatten(transpose(x, 0, 1), 1);
        CHECK(close(running_mean, kernels::mean(blocks, Dims{1})));
    }
}
