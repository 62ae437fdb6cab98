// Kernels that add to a sum at once, and those on constants, against run_as: every kernel of the table, every bit.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "backends/cpu/dispatch.h"
#include "generated/kernels/arithmetic.h"
#include "kernels/elementwise/traffic.h"
#include "table_fixtures.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

TEST_CASE("run_onto adds what run_as returns") {
    for_each_kernel([&](const Kernel& kernel, DType dtype) {
        for (int constants = 0; constants < 2; ++constants) {
            std::vector<Tensor> tensors;
            for (int i = 0; i < kernel.inputs; ++i) {
                const DType of = dtype_of_input(kernel, i, dtype);
                const auto seed = static_cast<unsigned>(i);
                tensors.push_back(constants && i == 0 ? constant_tensor(of, seed) : random_tensor(of, seed));
            }
            const std::vector<Operand> inputs(tensors.begin(), tensors.end());
            const Tensor result = run_as(dtype, kernel, inputs);
            const Tensor terms = random_tensor(dtype, 99);

            Tensor sum = clone(terms);
            const std::byte* memory = sum.data();
            REQUIRE(run_onto(sum, dtype, kernel, K_add, inputs, nullptr));
            CHECK(sum.data() == memory);
            CHECK(same_bits(sum, run(K_add, {terms, result})));

            Tensor shared = terms;
            REQUIRE(run_onto(shared, dtype, kernel, K_add, inputs, nullptr));
            CHECK(shared.data() != terms.data());
            CHECK(same_bits(shared, sum));

            Tensor constant = constant_tensor(dtype, 98);
            const Tensor expected = run(K_add, {result, constant});
            REQUIRE(run_onto(constant, dtype, kernel, K_add, inputs, nullptr));
            CHECK(same_bits(constant, expected));
        }
    });
}

TEST_CASE("run_onto takes the memory of a reusable operand where it needs some") {
    Tensor reusable = random_tensor(DType::Float64, 1), other = random_tensor(DType::Float64, 2);
    const Tensor expected = run(K_add, {run(K_mul, {reusable, other}), other});
    const std::byte* memory = reusable.data();
    Tensor sum = other;
    REQUIRE(run_onto(sum, DType::Float64, K_mul, K_add, std::vector<Operand>{reusable, other}, &reusable));
    CHECK(sum.data() == memory);
    CHECK(same_bits(sum, expected));
}

TEST_CASE("run_onto refuses what does not fit, and changes nothing") {
    const Tensor a = random_tensor(DType::Float64, 1);
    const Kernel &mul = K_mul, &add = K_add;
    auto refused = [&](Tensor sum, DType compute, const std::vector<Operand>& inputs) {
        const Tensor before = sum, copy = clone(sum);
        const bool added = run_onto(sum, compute, mul, add, inputs, nullptr);
        return !added && sum.is_same(before) && same_bits(sum, copy);
    };
    CHECK(refused(clone(a), DType::Float64, {a, random_tensor(DType::Float32, 1)}));
    CHECK(refused(random_tensor(DType::Float32, 1), DType::Float64, {a, a}));
    CHECK(refused(zeros(Dims{2, kElements}, DType::Float64), DType::Float64, {a, a}));
    CHECK(refused(zeros(Dims{10}, DType::Float64), DType::Float64, {scalar_tensor(1, DType::Float64), Operand(2.0)}));
    const Tensor turned = alias(zeros(Dims{200, 100}, DType::Float64), Dims{100, 200}, Dims{1, 100}, 0);
    CHECK(refused(turned, DType::Float64, {turned, Operand(2.0)}));
}

TEST_CASE("results of constants are constants") {
    for_each_kernel([&](const Kernel& kernel, DType dtype) {
        std::vector<Tensor> tensors;
        for (int i = 0; i < kernel.inputs; ++i)
            tensors.push_back(constant_tensor(dtype_of_input(kernel, i, dtype), static_cast<unsigned>(i)));
        const std::vector<Operand> inputs(tensors.begin(), tensors.end());
        const Tensor constant = constant_result(dtype, kernel, inputs);
        REQUIRE(constant.defined());
        CHECK(constant.strides() == Dims{0});
        // The last elements of a row, fewer than a vector, may come from other instructions, and differ in the last digit.
        auto whole_vectors = [](const Tensor& t) { return alias(t, Dims{kElements / 64 * 64}, t.strides(), 0); };
        CHECK(same_bits(whole_vectors(constant), whole_vectors(run(kernel, inputs))));
    });
    const Tensor dense = random_tensor(DType::Float64, 1), one = constant_tensor(DType::Float64, 2);
    CHECK(!constant_result(DType::Float64, K_mul, std::vector<Operand>{dense, one}).defined());
}
