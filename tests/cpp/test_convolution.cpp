// Convolution against its definition, over random geometries; pooling, unfolding, resampling and distances beside it.
#include "kernel_fixtures.h"

#include <limits>

#include "kernels/nn/convolution.h"
#include "kernels/nn/distance.h"
#include "kernels/nn/pooling.h"
#include "kernels/nn/resize.h"
#include "kernels/nn/unfold.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

struct Options {
    Dims stride, padding, dilation;
    int64_t groups;
};

// Calls f(output index, input index, weight index) for every product of a two-dimensional convolution.
template <class F>
void for_each_product(const Tensor& x, const Tensor& w, const Dims& out, const Options& o, F&& f) {
    int64_t filters = w.size(0) / o.groups;
    for (int64_t b = 0; b < out[0]; ++b)
        for (int64_t r = 0; r < out[1]; ++r)
            for (int64_t i = 0; i < out[2]; ++i)
                for (int64_t j = 0; j < out[3]; ++j)
                    for (int64_t c = 0; c < w.size(1); ++c)
                        for (int64_t p = 0; p < w.size(2); ++p)
                            for (int64_t q = 0; q < w.size(3); ++q) {
                                int64_t y = i * o.stride[0] - o.padding[0] + p * o.dilation[0];
                                int64_t z = j * o.stride[1] - o.padding[1] + q * o.dilation[1];
                                if (y < 0 || y >= x.size(2) || z < 0 || z >= x.size(3)) continue;
                                int64_t channel = r / filters * w.size(1) + c;
                                f(((b * out[1] + r) * out[2] + i) * out[3] + j,
                                  ((b * x.size(1) + channel) * x.size(2) + y) * x.size(3) + z,
                                  ((r * w.size(1) + c) * w.size(2) + p) * w.size(3) + q);
                            }
}

int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(generator()); }

double inner_product(const Tensor& a, const Tensor& b) {
    std::vector<double> x = values(a), y = values(b);
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

}  // namespace

TEST_CASE("convolution and its two transposes equal their definition") {
    for (int trial = 0; trial < 150; ++trial) {
        Options o{{pick(1, 3), pick(1, 3)}, {pick(0, 2), pick(0, 2)}, {pick(1, 2), pick(1, 2)}, pick(1, 3)};
        Tensor w = random({o.groups * pick(1, 7), pick(1, 4), pick(1, 3), pick(1, 3)});
        Tensor x = random({pick(1, 3), o.groups * w.size(1), pick(5, 20), pick(5, 20)});
        Tensor bias = random({w.size(0)});
        Tensor y = convolution(x, w, bias, o.stride, o.padding, o.dilation, o.groups);
        Tensor g = random(y.sizes());
        Tensor expected = zeros(y.sizes(), DType::Float64), gx = zeros(x.sizes(), DType::Float64),
               gw = zeros(w.sizes(), DType::Float64);
        copy_into(expected, reshape(bias, Dims{bias.size(0), 1, 1}));
        for_each_product(x, w, y.sizes(), o, [&](int64_t out, int64_t in, int64_t at) {
            expected.data_as<double>()[out] += x.data_as<double>()[in] * w.data_as<double>()[at];
            gx.data_as<double>()[in] += g.data_as<double>()[out] * w.data_as<double>()[at];
            gw.data_as<double>()[at] += g.data_as<double>()[out] * x.data_as<double>()[in];
        });
        CHECK(close(y, expected));
        CHECK(close(convolution_input(g, w, x.sizes(), o.stride, o.padding, o.dilation, o.groups), gx));
        CHECK(close(convolution_weight(g, x, w.sizes(), o.stride, o.padding, o.dilation, o.groups), gw));
    }
}

TEST_CASE("convolution: other ranks, dtypes and large kernels agree with two dimensions") {
    Tensor x = random({2, 3, 30}), w = random({4, 3, 5});
    Tensor flat = convolution(x, w, {}, Dims{2}, Dims{1}, Dims{1}, 1);
    Tensor plane = convolution(unsqueeze(x, 2), unsqueeze(w, 2), {}, Dims{1, 2}, Dims{0, 1}, Dims{1, 1}, 1);
    CHECK(close(flat, squeeze_dims(plane, Dims{2})));
    Tensor volume = convolution(unsqueeze(unsqueeze(x, 2), 2), unsqueeze(unsqueeze(w, 2), 2), {}, Dims{1, 1, 2},
                                Dims{0, 0, 1}, Dims{1}, 1);
    CHECK(close(flat, squeeze_dims(volume, Dims{2, 3})));
    CHECK(close(select(flat, 0, 1), convolution(select(x, 0, 1), w, {}, Dims{2}, Dims{1}, Dims{1}, 1)));
    Tensor single =
        convolution(to_dtype(x, DType::Float32), to_dtype(w, DType::Float32), {}, Dims{2}, Dims{1}, Dims{1}, 1);
    CHECK(close(to_dtype(single, DType::Float64), flat, 1e-5));
    Tensor image = random({3, 20, 6, 6}), whole = random({40, 20, 6, 6});
    Tensor dots = convolution(image, whole, {}, Dims{1}, Dims{0}, Dims{1}, 1);
    for (int64_t b = 0; b < 3; ++b)
        for (int64_t r = 0; r < 40; ++r)
            CHECK(values(dots)[static_cast<size_t>(b * 40 + r)] ==
                  doctest::Approx(inner_product(select(image, 0, b), select(whole, 0, r))));
    CHECK_THROWS_AS(convolution(random({1, 2, 8}), w, {}, Dims{1}, Dims{0}, Dims{1}, 1), Error);
}

TEST_CASE("a weight gradient is not spoiled by what lies outside the kernel's reach") {
    Tensor x = full(Dims{1, 1, 10, 10}, 1, DType::Float32), g = full(Dims{1, 1, 8, 8}, 1, DType::Float32);
    x.data_as<float>()[99] = std::numeric_limits<float>::infinity();
    g.data_as<float>()[63] = 0;  // only the last tap sees the infinity, and meets a zero there
    Tensor gw = convolution_weight(g, x, Dims{1, 1, 3, 3}, Dims{1}, Dims{0}, Dims{1}, 1);
    for (size_t k = 0; k < 8; ++k) CHECK(values(gw)[k] == 63);
}

TEST_CASE("the transposed convolution inverts the shape of the convolution") {
    Tensor x = random({2, 4, 5, 6}), w = random({4, 3, 3, 2});
    Dims sizes = conv_transpose_sizes(x, w, Dims{2, 3}, Dims{1, 0}, Dims{1, 2}, 1, Dims{1});
    Tensor y = convolution_input(x, w, sizes, Dims{2, 3}, Dims{1, 0}, Dims{1}, 1);
    CHECK(y.sizes() == Dims{2, 3, 10, 19});
    CHECK(inner_product(y, y) ==
          doctest::Approx(inner_product(x, convolution(y, w, {}, Dims{2, 3}, Dims{1, 0}, Dims{1}, 1))));
}

TEST_CASE("max pooling: values, indices, NaN, and the transpose of its gather") {
    Tensor x = random({2, 3, 9, 8});
    auto [y, at] = max_pool(x, 2, Dims{3, 2}, Dims{2}, Dims{1, 0}, Dims{1}, true);
    CHECK(y.sizes() == Dims{2, 3, 5, 4});
    CHECK(close(max_pool_gather(x, at, 2), y));
    Tensor g = random(y.sizes());
    CHECK(inner_product(max_pool_backward(g, at, x.sizes(), 2), x) == doctest::Approx(inner_product(g, y)));
    Tensor row = reshape(tensor<float>({1, NAN, 3, 2, 5, 4}), Dims{1, 6});
    auto [best, where] = max_pool(row, 1, Dims{2}, {}, Dims{0}, Dims{1}, false);
    CHECK(std::isnan(values(best)[0]));
    CHECK(values(where) == std::vector<double>{1, 2, 4});
}

TEST_CASE("linear operations equal their transposes") {
    Tensor x = random({2, 3, 9, 8});
    auto adjoint_to = [&](const Tensor& y, auto&& transposed) {
        Tensor g = random(y.sizes());
        CHECK(inner_product(y, g) == doctest::Approx(inner_product(x, transposed(g))));
    };
    adjoint_to(avg_pool(x, 2, Dims{3, 2}, Dims{2}, Dims{1, 0}, true, false, {}), [&](const Tensor& g) {
        return avg_pool_backward(g, x.sizes(), 2, Dims{3, 2}, Dims{2}, Dims{1, 0}, true, false, {});
    });
    adjoint_to(adaptive_avg_pool(x, Dims{4, 5}),
               [&](const Tensor& g) { return adaptive_avg_pool_backward(g, x.sizes(), 2); });
    adjoint_to(im2col(x, Dims{3, 2}, Dims{2, 1}, Dims{1}, Dims{1, 2}),
               [&](const Tensor& g) { return col2im(g, Dims{9, 8}, Dims{3, 2}, Dims{2, 1}, Dims{1}, Dims{1, 2}); });
    for (std::string_view mode : {"nearest", "nearest-exact", "bilinear", "bicubic", "area"})
        adjoint_to(interpolate(x, Dims{5, 17}, mode, false, {}),
                   [&](const Tensor& g) { return interpolate_backward(g, x.sizes(), mode, false, {}); });
    Tensor ramp = reshape(counting({4}), Dims{1, 1, 4});
    CHECK(close(interpolate(ramp, Dims{7}, "linear", true, {}),
                reshape(tensor<double>({0, 0.5, 1, 1.5, 2, 2.5, 3}), Dims{1, 1, 7})));
}

TEST_CASE("distances are exact where squares leave the range, and their gradient is finite at coincident points") {
    Tensor x = reshape(tensor<float>({1e30F, 0, 0, 1e30F, 1e-30F, 0, 0, 0}), Dims{4, 2});
    std::vector<double> d = values(pdist(x, 2));
    CHECK(d[0] == doctest::Approx(std::sqrt(2.0) * 1e30));
    CHECK(d[5] == doctest::Approx(1e-30));
    Tensor same_points = full(Dims{3, 2}, 1, DType::Float64);
    for (double p : {0.5, 1.0, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
        Tensor distances = cdist(same_points, same_points, p);
        auto [g1, g2] = cdist_backward(full(Dims{3, 3}, 1, DType::Float64), same_points, same_points, p, distances);
        CHECK(close(g1, zeros(Dims{3, 2}, DType::Float64), 0));
    }
    CHECK(values(cdist(reshape(tensor<double>({0, 0}), Dims{1, 2}), reshape(tensor<double>({3, 4}), Dims{1, 2}),
                       2))[0] == 5);
}
