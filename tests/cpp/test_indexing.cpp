// Indexing against its definition, one element at a time.
#include "kernel_fixtures.h"

#include "kernels/indexing/indexing.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {
double at(const Tensor& t, std::initializer_list<int64_t> position) {
    Tensor e = t;
    for (int64_t i : position) e = select(e, 0, i);
    return values(e)[0];
}
std::string message(auto f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}
}  // namespace

TEST_CASE("index: adjacent tensors keep their place, others come first") {
    Tensor none, i = tensor<int64_t>({0, 2, -1}), j = tensor<int64_t>({1, 0, 3});
    for (const Tensor& t : layouts(random({3, 4, 5}))) {
        Tensor a = index(t, TensorList{none, j});
        CHECK(a.sizes() == Dims{3, 3, 5});
        CHECK(at(a, {1, 2, 4}) == at(t, {1, 3, 4}));
        Tensor b = index(t, TensorList{i, none, j});
        CHECK(b.sizes() == Dims{3, 4});
        CHECK(at(b, {2, 1}) == at(t, {2, 1, 3}));
        Tensor c = index(t, TensorList{unsqueeze(i, 1), j});
        CHECK(c.sizes() == Dims{3, 3, 5});
        CHECK(at(c, {1, 2, 0}) == at(t, {2, 3, 0}));
        Tensor mask = zeros(Dims{3, 4}, DType::Bool);
        mask.data_as<bool>()[6] = true;
        Tensor d = index(t, TensorList{mask});
        CHECK(d.sizes() == Dims{1, 5});
        CHECK(at(d, {0, 3}) == at(t, {1, 2, 3}));
        CHECK(same(index(t, TensorList{mask}), index(t, nonzero_numpy(mask))));
    }
}

TEST_CASE("index_put: the last write wins, sums keep their order") {
    Tensor t = zeros(Dims{4}, DType::Float64), i = tensor<int64_t>({1, 1, 3});
    index_put_(t, TensorList{i}, tensor({1.0, 2.0, 3.0}));
    CHECK(values(t) == std::vector<double>{0, 2, 0, 3});
    index_put_(t, TensorList{i}, tensor({1.0, 2.0, 3.0}), true);
    CHECK(values(t) == std::vector<double>{0, 5, 0, 6});
    index_put_(t, TensorList{i}, scalar_tensor(7, DType::Float64));
    CHECK(values(t) == std::vector<double>{0, 7, 0, 7});
    index_put_(t, TensorList{tensor<int64_t>({0, 1, 2, 3})}, flip(t, Dims{0}));
    CHECK(values(t) == std::vector<double>{7, 0, 7, 0});
}

TEST_CASE("bounds are checked before anything is written, and named") {
    Tensor t = zeros(Dims{3, 2}, DType::Float64), bad = tensor<int64_t>({0, 5});
    CHECK(message([&] { index(t, TensorList{bad}); }) == "index 5 is out of bounds for dimension 0 with size 3");
    CHECK(message([&] {
              gather(t, 1, view(tensor<int64_t>({2}), Dims{1, 1}));
          }).find("index 2 is out of bounds for dimension 1 with size 2") != std::string::npos);
    CHECK(message([&] { index_put_(t, TensorList{bad}, scalar_tensor(1, DType::Float64)); }) != "");
    CHECK(message([&] { scatter_(t, 0, view(bad, Dims{2, 1}), random({2, 1})); }) != "");
    CHECK(values(t) == std::vector<double>(6, 0.0));
}

TEST_CASE("gather and scatter follow their definition") {
    for (int64_t dim : {0, 1, 2})
        for (const Tensor& t : layouts(random({4, 5, 6}))) {
            Tensor index = empty(Dims{2, 3, 4}, DType::Int64), src = random({2, 3, 4});
            for (int64_t i = 0; i < index.numel(); ++i) index.data_as<int64_t>()[i] = (i * 7) % 4;
            Tensor picked = gather(t, dim, index), put = scatter(t, dim, index, src),
                   added = scatter_add(t, dim, index, src);
            Tensor expected_put = contiguous(t).is_same(t) ? clone(t) : contiguous(t),
                   expected_added = clone(expected_put);
            for (int64_t i = 0; i < 2; ++i)
                for (int64_t j = 0; j < 3; ++j)
                    for (int64_t k = 0; k < 4; ++k) {
                        int64_t p[] = {i, j, k};
                        p[dim] = static_cast<int64_t>(at(index, {i, j, k}));
                        CHECK(at(picked, {i, j, k}) == at(t, {p[0], p[1], p[2]}));
                        int64_t flat = (p[0] * 5 + p[1]) * 6 + p[2];
                        expected_put.data_as<double>()[flat] = at(src, {i, j, k});
                        expected_added.data_as<double>()[flat] += at(src, {i, j, k});
                    }
            CHECK(same(put, expected_put));
            CHECK(close(added, expected_added));
        }
}

TEST_CASE("scatter_reduce with and without self") {
    Tensor t = tensor({10.0, 20.0, 30.0}), i = tensor<int64_t>({0, 0, 2}), s = tensor({1.0, 5.0, 40.0});
    CHECK(values(scatter_reduce(t, 0, i, s, "amax")) == std::vector<double>{10, 20, 40});
    CHECK(values(scatter_reduce(t, 0, i, s, "amax", false)) == std::vector<double>{5, 20, 40});
    CHECK(values(scatter_reduce(t, 0, i, s, "mean", false)) == std::vector<double>{3, 20, 40});
    CHECK(values(scatter_reduce(t, 0, i, s, "prod")) == std::vector<double>{50, 20, 1200});
    CHECK_THROWS_AS(scatter_reduce(t, 0, i, s, "max"), Error);
}

TEST_CASE("masks, tables and flat positions") {
    Tensor t = counting({2, 3}), mask = tensor({true, false, true});
    CHECK(values(masked_select(t, mask)) == std::vector<double>{0, 2, 3, 5});
    CHECK(values(masked_scatter(t, mask, counting({9}))) == std::vector<double>{0, 1, 1, 2, 4, 3});
    CHECK(values(take(transpose(t, 0, 1), tensor<int64_t>({1, -1}))) == std::vector<double>{3, 5});
    CHECK(values(embedding(t, tensor<int64_t>({1, 0, 1}))) == std::vector<double>{3, 4, 5, 0, 1, 2, 3, 4, 5});
    Tensor grad = embedding_dense_backward(counting({3, 2}), tensor<int64_t>({1, 0, 1}), 3, 0);
    CHECK(values(grad) == std::vector<double>{0, 0, 4, 6, 0, 0});
    CHECK(values(one_hot(tensor<int64_t>({1, 0}))) == std::vector<double>{0, 1, 1, 0});
    CHECK(values(index_add(t, 1, tensor<int64_t>({0, 0}), counting({2, 2}), 2)) ==
          std::vector<double>{2, 1, 2, 13, 4, 5});
}
