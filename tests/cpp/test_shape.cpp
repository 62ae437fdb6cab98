// Views address what they say; copies equal the same elements collected by hand.
#include "kernel_fixtures.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

TEST_CASE("views share memory and address the right elements") {
    Tensor t = counting({3, 4, 5});
    CHECK(select(t, 1, -1).storage() == t.storage());
    CHECK(values(select(select(t, 0, 1), 0, 2)) == std::vector<double>{30, 31, 32, 33, 34});
    CHECK(values(slice(select(select(t, 0, 0), 0, 0), 0, 1, -1, 2)) == std::vector<double>{1, 3});
    CHECK(values(diagonal(select(t, 0, 0), 1)) == std::vector<double>{1, 7, 13, 19});
    CHECK(values(diagonal(select(t, 0, 0), -3)) == std::vector<double>{15});
    CHECK(same(permute(t, Dims{2, 0, 1}), movedim(t, Dims{2}, Dims{0})));
    CHECK(unfold(t, 1, 2, 2).sizes() == Dims{3, 2, 5, 2});
    CHECK(values(select(select(select(unfold(t, 1, 2, 2), 0, 0), 0, 1), 0, 0)) == std::vector<double>{10, 15});
    CHECK(expand(slice(t, 0, 0, 1), Dims{7, -1, 5}).sizes() == Dims{7, 4, 5});
    CHECK(squeeze(unsqueeze(t, -1)).sizes() == t.sizes());
    CHECK(flatten(t, 1).sizes() == Dims{3, 20});
}

TEST_CASE("errors of views keep PyTorch's words") {
    Tensor t = counting({2, 3});
    auto message = [](auto f) {
        try {
            f();
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(message([&] { view(transpose(t, 0, 1), Dims{6}); }).find("Use .reshape(...) instead.") != std::string::npos);
    CHECK(message([&] { view(t, Dims{5}); }).find("is invalid for input of size 6") != std::string::npos);
    CHECK(message([&] { select(t, 0, 2); }).find("index 2 out of range for tensor of size (2, 3) at dimension 0") !=
          std::string::npos);
    CHECK(message([&] { transpose(t, 0, 2); }).find("Dimension out of range") != std::string::npos);
    CHECK_THROWS_AS(cat(TensorList{t, counting({2, 2})}), Error);
    CHECK_THROWS_AS(as_strided(t, Dims{7}, Dims{1}), Error);
}

TEST_CASE("lists of views put together again give the tensor") {
    for (const Tensor& t : layouts(random({4, 7})))
        for (int64_t dim : {0, 1}) {
            CHECK(same(cat(split(t, 3, dim), dim), t));
            CHECK(same(stack(unbind(t, dim), dim), t));
        }
    CHECK(cat(TensorList{counting({2}, DType::Int32), counting({1}, DType::Float32)}).dtype() == DType::Float32);
}

TEST_CASE("copies that rearrange") {
    for (const Tensor& t : layouts(random({3, 4}))) {
        CHECK(same(flip(flip(t, Dims{0, 1}), Dims{1, 0}), t));
        CHECK(same(roll(roll(t, Dims{1, -2}, Dims{0, 1}), Dims{-1, 2}, Dims{0, 1}), t));
        CHECK(same(rot90(rot90(t, 1), 3), t));
        CHECK(same(slice(repeat(t, Dims{2, 1, 3}), 2, 8, 12), stack(TensorList{t, t})));
        std::vector<double> lower = values(tril(t, 1)), upper = values(triu(t, 2)), all = values(t);
        for (size_t i = 0; i < all.size(); ++i) CHECK(lower[i] + upper[i] == all[i]);
    }
}

TEST_CASE("backward helpers are the transposes of their views") {
    // <view(x), g> == <x, backward(g)>
    auto dot = [](const Tensor& a, const Tensor& b) {
        std::vector<double> x = values(a), y = values(b);
        double s = 0;
        for (size_t i = 0; i < x.size(); ++i) s += x[i] * y[i];
        return s;
    };
    Tensor x = random({4, 6});
    auto check = [&](const Tensor& seen, auto backward) {
        Tensor g = random(seen.sizes());
        CHECK(dot(seen, g) == doctest::Approx(dot(x, backward(g))));
    };
    check(select(x, 1, 2), [&](Tensor g) { return select_backward(g, x.sizes(), 1, 2); });
    check(slice(x, 1, 1, 6, 2), [&](Tensor g) { return slice_backward(g, x.sizes(), 1, 1, 6, 2); });
    check(diagonal(x, 1), [&](Tensor g) { return diagonal_backward(g, x.sizes(), 1, 0, 1); });
    check(unfold(x, 1, 3, 1), [&](Tensor g) { return unfold_backward(g, x.sizes(), 1, 3, 1); });
    check(as_strided(x, Dims{4, 4}, Dims{2, 3}, 1),
          [&](Tensor g) { return as_strided_backward(g, x.sizes(), x.strides(), 0, Dims{4, 4}, Dims{2, 3}, 1); });
}
