// Kernels that add to a sum at once, and those on constants, against run_as: every kernel of the table, every bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "generated/kernels/kernels.h"
#include "kernels/dispatch.h"
#include "kernels/traffic.h"

using namespace wengert;
using namespace wengert::kernels;

namespace {

constexpr int64_t kElements = 20'011;

Tensor random_tensor(DType dtype, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(0.1, 0.9);
    Tensor t = empty(Dims{kElements}, dtype);
    for (int64_t i = 0; i < kElements; ++i) {
        if (dtype == DType::Bool)
            t.data_as<bool>()[i] = random() % 2 == 0;
        else if (dtype == DType::Float32)
            t.data_as<float>()[i] = static_cast<float>(values(random));
        else
            t.data_as<double>()[i] = values(random);
    }
    return t;
}

Tensor constant_tensor(DType dtype, unsigned seed) {
    return alias(random_tensor(dtype, seed), Dims{kElements}, Dims{0}, 0);
}

bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
    const Tensor x = contiguous(a), y = contiguous(b);
    return std::memcmp(x.data(), y.data(), static_cast<size_t>(x.numel() * item_size(x.dtype()))) == 0;
}

template <class F>
void for_each_kernel(F&& f) {
    for (int id = 0; id < kKernelCount; ++id)
        for (DType dtype : {DType::Float32, DType::Float64}) {
            const Kernel& kernel = kernel_table[id];
            if (!kernel.loops[static_cast<int>(dtype)] || result_dtype(kernel, dtype) != dtype) continue;
            CAPTURE(std::string(kernel.name));
            f(kernel, dtype);
        }
}

DType dtype_of_input(const Kernel& kernel, int i, DType dtype) {
    return (kernel.condition_mask >> i) & 1 ? DType::Bool : dtype;
}

}  // namespace

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
            REQUIRE(run_onto(sum, dtype, kernel, kernel_table[K_add], inputs, nullptr));
            CHECK(sum.data() == memory);
            CHECK(same_bits(sum, run(kernel_table[K_add], {terms, result})));

            Tensor shared = terms;
            REQUIRE(run_onto(shared, dtype, kernel, kernel_table[K_add], inputs, nullptr));
            CHECK(shared.data() != terms.data());
            CHECK(same_bits(shared, sum));

            Tensor constant = constant_tensor(dtype, 98);
            const Tensor expected = run(kernel_table[K_add], {result, constant});
            REQUIRE(run_onto(constant, dtype, kernel, kernel_table[K_add], inputs, nullptr));
            CHECK(same_bits(constant, expected));
        }
    });
}

TEST_CASE("run_onto takes the memory of a spent operand where it needs some") {
    Tensor spent = random_tensor(DType::Float64, 1), other = random_tensor(DType::Float64, 2);
    const Tensor expected = run(kernel_table[K_add], {run(kernel_table[K_mul], {spent, other}), other});
    const std::byte* memory = spent.data();
    Tensor sum = other;
    REQUIRE(run_onto(sum, DType::Float64, kernel_table[K_mul], kernel_table[K_add], std::vector<Operand>{spent, other},
                     &spent));
    CHECK(sum.data() == memory);
    CHECK(same_bits(sum, expected));
}

TEST_CASE("run_onto refuses what does not fit, and changes nothing") {
    const Tensor a = random_tensor(DType::Float64, 1);
    const Kernel &mul = kernel_table[K_mul], &add = kernel_table[K_add];
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
    const auto asked = std::exchange(constants_may_stay, []() noexcept { return true; });
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
    CHECK(!constant_result(DType::Float64, kernel_table[K_mul], std::vector<Operand>{dense, one}).defined());
    constants_may_stay = []() noexcept { return false; };
    CHECK(!constant_result(DType::Float64, kernel_table[K_mul], std::vector<Operand>{one, one}).defined());
    constants_may_stay = asked;
}

// From 12 MiB on a result is written past the caches.
TEST_CASE("large results are those of their pieces") {
    constexpr int64_t kPiece = 1 << 20, kPieces = 13, kAll = kPiece * (kPieces - 1) + 1'077;
    const auto sample = [](DType dtype, int64_t gap) {
        const Tensor few = random_tensor(dtype, 5), all = empty(Dims{kAll * gap}, dtype);
        const auto bytes = static_cast<size_t>(few.numel() * item_size(dtype));
        for (int64_t i = 0; i + few.numel() <= all.numel(); i += few.numel())
            std::memcpy(all.data() + i * item_size(dtype), few.data(), bytes);
        return alias(all, Dims{kAll}, Dims{gap}, 0);
    };
    const auto piece_of = [](const Tensor& whole, int64_t from, int64_t n) {
        const int64_t step = whole.strides()[0];
        return alias(whole, Dims{n}, Dims{step}, whole.impl()->offset + from * step);
    };
    const auto check = [&](const Kernel& kernel, const std::vector<Tensor>& inputs) {
        CAPTURE(std::string(kernel.name));
        const Tensor whole = run(kernel, std::vector<Operand>(inputs.begin(), inputs.end()));
        for (int64_t from = 0; from < kAll; from += kPiece) {
            const int64_t n = std::min(kPiece, kAll - from);
            std::vector<Tensor> pieces;
            for (const Tensor& input : inputs) pieces.push_back(piece_of(input, from, n));
            const Tensor piece = run(kernel, std::vector<Operand>(pieces.begin(), pieces.end()));
            CHECK(same_bits(piece, piece_of(whole, from, n)));
        }
    };
    for (DType dtype : {DType::Float32, DType::Float64}) {
        const Tensor x = sample(dtype, 1), y = sample(dtype, 2);
        const Tensor number = alias(x, Dims{kAll}, Dims{0}, 3);
        check(kernel_table[K_tanh], {x});
        check(kernel_table[K_exp], {y});
        check(kernel_table[K_mul], {x, number});
        check(kernel_table[K_add], {x, y});
        check(kernel_table[K_lt], {y, x});
    }
}
