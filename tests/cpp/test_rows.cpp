// Rows of every length and layout: how a loop passes over one does not show in what it returns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/dispatch.h"
#include "generated/kernels/arithmetic.h"
#include "generated/kernels/comparison.h"
#include "generated/kernels/exponential.h"
#include "generated/kernels/trigonometric.h"
#include "kernel_fixtures.h"
#include "kernels/elementwise/elementwise.h"
#include "table_fixtures.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

Tensor prefix(const Tensor& t, int64_t n) { return alias(t, Dims{n}, t.strides(), t.impl()->offset); }

// The same elements, two apart.
Tensor with_gaps(const Tensor& t) {
    const Tensor out = alias(zeros(Dims{2 * t.numel()}, t.dtype()), t.sizes(), Dims{2}, 0);
    copy_into(out, t);
    return out;
}

// The last elements of a row, fewer than a vector, may come from other instructions, and differ in the last digits of
// what they were computed from: operands lie between 0 and 1.
template <class T>
bool close(const Tensor& a, const Tensor& b) {
    for (int64_t i = 0; i < a.numel(); ++i) {
        const T x = a.data_as<T>()[i], y = b.data_as<T>()[i];
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        if (!(std::abs(x - y) <= 64 * std::numeric_limits<T>::epsilon() * (1 + std::abs(y)))) return false;
    }
    return true;
}

// Around the lengths at which blocks are cut (backends/cpu/isa/blocks.h).
constexpr int64_t kLengths[] = {1,   7,   8,   9,   63,  64,  65,  127, 128, 129, 191, 192, 193, 255,
                                256, 257, 319, 320, 321, 383, 384, 385, 511, 512, 513, 767, 769, 1100};
constexpr int64_t kLongest = 1100;

// Takes one of two inputs, in turn, for every length: the elements are those of the whole.
void check_lengths(DType dtype, const Kernel& kernel, const std::vector<Tensor> (&seen)[2],
                   const std::vector<Tensor> (&dense)[2]) {
    const auto run_on = [&](const std::vector<Tensor>& inputs, int64_t n) {
        std::vector<Tensor> rows;
        for (const Tensor& input : inputs) rows.push_back(prefix(input, n));
        return run_as(dtype, kernel, std::vector<Operand>(rows.begin(), rows.end()));
    };
    const Tensor whole[] = {run_on(dense[0], kLongest), run_on(dense[1], kLongest)};
    size_t turn = 0;
    for (const int64_t n : kLengths) {
        CAPTURE(n);
        const Tensor part = run_on(seen[turn], n), expected = prefix(whole[turn], n);
        const bool equal = dtype == DType::Float32 ? close<float>(part, expected) : close<double>(part, expected);
        CHECK(equal);
        turn = 1 - turn;
    }
}

}  // namespace

TEST_CASE("every kernel returns the same for every length and layout") {
    for_each_kernel([](const Kernel& kernel, DType dtype) {
        std::vector<Tensor> dense[2];
        for (int i = 0; i < kernel.inputs; ++i)
            for (unsigned turn : {0u, 1u})
                dense[turn].push_back(
                    random_tensor(dtype_of_input(kernel, i, dtype), 2 * static_cast<unsigned>(i) + turn));
        check_lengths(dtype, kernel, dense, dense);
        for (size_t i = 0; i < dense[0].size(); ++i) {
            CAPTURE(i);
            std::vector<Tensor> gaps[2], repeated[2], filled[2];
            for (size_t turn : {0, 1}) {
                const Tensor& operand = dense[turn][i];
                const Tensor first = alias(operand, operand.sizes(), Dims{0}, 0);
                gaps[turn] = repeated[turn] = filled[turn] = dense[turn];
                gaps[turn][i] = with_gaps(operand);
                repeated[turn][i] = first;
                filled[turn][i] = contiguous(first);
            }
            check_lengths(dtype, kernel, gaps, dense);
            check_lengths(dtype, kernel, repeated, filled);
        }
    });
}

TEST_CASE("a number meets every element of every length") {
    // Another number each time: what buffers hold of the one before is wrong.
    for (int64_t n = 1; n < 1300; ++n) {
        CAPTURE(n);
        const double number = static_cast<double>(n) / 8;
        const Tensor counted = counting(Dims{n});
        const std::vector<double> dense = values(run(K_add, {counted, number})),
                                  gaps = values(run(K_add, {number, with_gaps(counted)}));
        int64_t wrong = 0;
        for (size_t i = 0; i < dense.size(); ++i)
            for (double value : {dense[i], gaps[i]}) wrong += value != static_cast<double>(i) + number;
        REQUIRE(wrong == 0);
    }
}

// From 12 MiB on a result is written past the caches.
TEST_CASE("large results are those of their pieces") {
    constexpr int64_t kPiece = 1 << 20, kPieces = 13, kAll = kPiece * (kPieces - 1) + 1'077;
    const auto sample = [](DType dtype, int64_t gap) {
        const Tensor few = random_tensor(dtype, 5), all = empty(Dims{kAll * gap}, dtype);
        for (int64_t i = 0; i < all.numel(); i += few.numel()) {
            const int64_t n = std::min(few.numel(), all.numel() - i);
            std::memcpy(all.data() + i * item_size(dtype), few.data(), static_cast<size_t>(n * item_size(dtype)));
        }
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
        check(K_tanh, {x});
        check(K_exp, {y});
        check(K_mul, {x, number});
        check(K_add, {x, y});
        check(K_lt, {y, x});
    }
}
