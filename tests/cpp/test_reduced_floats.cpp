// float16 and bfloat16: every kernel computes what it computes in float32, rounded, whatever the layout and the length.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "table_fixtures.h"
#include "tensor/dtype_limits.h"

using namespace wengert;
using namespace wengert::kernels;
using namespace wengert::kernels::fixtures;

namespace {

constexpr DType kReducedTypes[] = {DType::Float16, DType::BFloat16};
constexpr int64_t kLengths[] = {1, 2, 7, 8, 9, 63, 64, 255, 256, 257, 511, 513, 1100};

using Layout = Tensor (*)(const Tensor&);
constexpr Layout kLayouts[] = {
    [](const Tensor& t) { return t; },
    [](const Tensor& t) {  // two apart
        const Tensor out = alias(zeros(Dims{2 * t.numel()}, t.dtype()), t.sizes(), Dims{2}, 0);
        copy_into(out, t);
        return out;
    },
    [](const Tensor& t) { return alias(t, t.sizes(), Dims{0}, t.offset()); },
};

Tensor wide(const Tensor& t) { return to_dtype(t, opmath_dtype(t.dtype())); }
std::vector<Tensor> wide(const std::vector<Tensor>& ts) {
    std::vector<Tensor> out;
    for (const Tensor& t : ts) out.push_back(wide(t));
    return out;
}

Tensor run_on(DType compute, const Kernel& kernel, const std::vector<Tensor>& inputs) {
    return run_as(compute, kernel, std::vector<Operand>(inputs.begin(), inputs.end()));
}

// Vectors and what is left of them may round differently.
bool close(const Tensor& a, const Tensor& b, double epsilon) {
    const Tensor x = to_dtype(a, DType::Float64), y = to_dtype(b, DType::Float64);
    for (int64_t i = 0; i < x.numel(); ++i) {
        const double p = x.data_as<double>()[i], q = y.data_as<double>()[i];
        if (p == q || (std::isnan(p) && std::isnan(q))) continue;
        if (!(std::abs(p - q) <= epsilon * (std::abs(q) + 1e-4))) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("every kernel on reduced types is that on float32, rounded") {
    for_each_kernel([](const Kernel& kernel, DType computed) {
        if (computed != DType::Float32) return;
        std::vector<Tensor> whole;
        for (int i = 0; i < kernel.inputs; ++i)
            whole.push_back(random_tensor(dtype_of_input(kernel, i, computed), static_cast<unsigned>(i)));
        for (const DType reduced : kReducedTypes) {
            CAPTURE(std::string(dtype_name(reduced)));
            size_t layout = 0;
            for (const int64_t n : kLengths) {
                CAPTURE(n);
                std::vector<Tensor> inputs;
                for (int i = 0; i < kernel.inputs; ++i) {
                    const Tensor some = alias(whole[static_cast<size_t>(i)], Dims{n}, Dims{1}, 0);
                    const Tensor operand = to_dtype(some, dtype_of_input(kernel, i, reduced));
                    inputs.push_back(kLayouts[layout++ % std::size(kLayouts)](operand));
                }
                const Tensor found = run_on(reduced, kernel, inputs);
                const Tensor expected = run_on(DType::Float32, kernel, wide(inputs));
                CHECK(found.dtype() == result_dtype(kernel, reduced));
                const bool is_close = close(found, to_dtype(expected, found.dtype()), limits_of(reduced).epsilon);
                CHECK(is_close);
            }
        }
    });
}

TEST_CASE("every bit pattern keeps its value on the way through float32") {
    for (const DType reduced : kReducedTypes) {
        const Tensor every = empty(Dims{1 << 16}, reduced);
        for (int64_t i = 0; i < every.numel(); ++i) every.data_as<uint16_t>()[i] = static_cast<uint16_t>(i);
        const Tensor back = to_dtype(wide(every), reduced), numbers = wide(every);
        int64_t wrong = 0;
        for (int64_t i = 0; i < every.numel(); ++i)
            wrong +=
                !std::isnan(numbers.data_as<float>()[i]) && back.data_as<uint16_t>()[i] != static_cast<uint16_t>(i);
        CHECK(wrong == 0);
    }
}
