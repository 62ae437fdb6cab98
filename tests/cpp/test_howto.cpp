// The program of a page of the documentation (docs/howto/custom_function_cpp.rst), which shows what stands between the marks.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/wengert.h"

using namespace wengert;

namespace {

// [function]
struct Softplus : Function<Softplus> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
        ctx->save_for_backward({x});
        return ops::logaddexp(x, 0.0);
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        Tensor x = ctx->get_saved_variables()[0];
        return {ops::mul(grads[0], ops::sigmoid(x))};
    }
};
// [end]

}  // namespace

TEST_CASE("the page about custom functions in C++") {
    // [use]
    Tensor x = full(Dims{3}, 0.5, DType::Float64);
    set_requires_grad(x, true);
    Tensor y = ops::sum(Softplus::apply(x));
    TensorList first = autograd::grad({y}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true);
    TensorList second = autograd::grad({ops::sum(first[0])}, {x});
    // [end use]
    double s = 1 / (1 + std::exp(-0.5));
    CHECK(first[0].data_as<double>()[2] == doctest::Approx(s));
    CHECK(second[0].data_as<double>()[2] == doctest::Approx(s * (1 - s)));
}
