// A device that is not part of the library: every elementwise kernel of the table on it, and derivatives.
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "table_fixtures.h"
#include "toy_backend.h"

#include "engine/autograd.h"
#include "graph/autograd_meta.h"

namespace wengert::kernels {
namespace {

using namespace fixtures;

TEST_CASE("a device of its own memory computes every elementwise kernel of the table") {
    const Device toy = toy::device();
    int computed = 0;
    for_each_kernel([&](const Kernel& kernel, DType dtype) {
        SmallVector<Tensor, 5> here, there;
        for (int i = 0; i < kernel.inputs; ++i) {
            here.push_back(random_tensor(dtype_of_input(kernel, i, dtype), static_cast<unsigned>(i)));
            there.push_back(on_device(here.back(), toy));
            CHECK(there.back().device() == toy);
        }
        const SmallVector<Operand, 5> operands(here.begin(), here.end()), device_operands(there.begin(), there.end());
        const Tensor result = run_as(dtype, kernel, device_operands);
        CHECK(result.device() == toy);
        CHECK(same_bits(on_host(result, "test"), run_as(dtype, kernel, operands)));
        ++computed;
    });
    CHECK(computed > 100);
}

TEST_CASE("what the host reads directly is not what the device means") {
    const Tensor t = on_device(full(Dims{4}, 1, DType::Float32), toy::device());
    CHECK(*t.data_as<float>() != 1.0F);
    CHECK(read_element<float>(t, "test") == 1.0F);
}

TEST_CASE("a kernel that the device implements itself") {
    const int before = toy::fills;
    const Tensor t = empty(Dims{3}, DType::Float64, toy::device());
    fill_(t, 2.5);
    CHECK(toy::fills == before + 1);
    CHECK(read_element<double>(sum(t), "test") == 7.5);
}

TEST_CASE("derivatives need nothing of a device but its kernels") {
    Tensor x = on_device(full(Dims{3}, 2, DType::Float64), toy::device());
    set_requires_grad(x, true);
    autograd::backward({ops::sum(x * x)}, {});
    const Tensor& grad = meta_of(x)->grad;
    CHECK(grad.device() == toy::device());
    CHECK(*on_host(grad, "test").data_as<double>() == 4.0);
}

TEST_CASE("devices do not mix, but for numbers") {
    const Tensor there = on_device(full(Dims{3}, 2, DType::Float64), toy::device());
    CHECK_THROWS_WITH_AS((void)(there + full(Dims{3}, 1, DType::Float64)), doctest::Contains("same device"), Error);
    CHECK(read_element<double>(sum(there + scalar_tensor(1, DType::Float64)), "test") == 9.0);
}

}  // namespace
}  // namespace wengert::kernels
