// Samples of a batch without Python: operations compute all samples, and what would lose a gradient is refused.
#include <doctest/doctest.h>

#include "graph/batched.h"
#include "graph_fixtures.h"
#include "ops/batching/error.h"

using namespace wengert;

namespace {

struct OpenLevel {
    Ref<BatchLevel> level;
    explicit OpenLevel(int64_t size) : level(Ref<BatchLevel>::adopt(new BatchLevel(size, Randomness::Error))) {
        level->open();
    }
    ~OpenLevel() { level->close(); }
    Tensor sample(const Tensor& batch) const { return make_batched(batch, 0, level); }
};

struct Double : Function<Double> {
    static Tensor forward(AutogradContext*, const Tensor& x) { return ops::mul(x, 2.0); }
    static TensorList backward(AutogradContext*, TensorList grads) { return {ops::mul(grads[0], 2.0)}; }
};

}  // namespace

TEST_CASE("an operation on a sample computes all samples and records on the batch") {
    const OpenLevel open(3);
    const Tensor batch = leaf({1, 2, 3});
    const Tensor y = ops::mul(open.sample(batch), constant(10));
    REQUIRE(is_batched(y));
    CHECK(y.sizes() == Dims{1});
    CHECK_FALSE(requires_grad(y));
    const Tensor all = unbatched(y);
    CHECK(all.sizes() == Dims{3, 1});
    CHECK(at(all, 2) == 30);
    CHECK(grad_fn(all));
}

TEST_CASE("a sample of a vmap that is over is refused") {
    Tensor escaped;
    {
        const OpenLevel open(2);
        escaped = open.sample(vector_of({1, 2}));
    }
    CHECK_THROWS_WITH_AS(ops::exp(escaped), doctest::Contains("escaped"), Error);
}

TEST_CASE("a custom function runs on samples that need no gradient, and refuses others") {
    const OpenLevel open(2);
    CHECK(at(unbatched(Double::apply(open.sample(vector_of({1, 2})))), 1) == 4);
    const Tensor sample = open.sample(leaf({1, 2}));
    CHECK_THROWS_AS(Double::apply(sample), NotBatchableError);
    const AutoGradMode unrecorded(false);
    CHECK(at(unbatched(Double::apply(sample)), 1) == 4);
}

TEST_CASE("a number has no size along a dimension") {
    CHECK_THROWS_WITH_AS(full(Dims{}, 1.0, DType::Float64).size(0), doctest::Contains("no dimensions"), Error);
}
