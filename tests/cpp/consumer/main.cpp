#include <wengert/wengert.h>

#include <cmath>

using namespace wengert;

int main() {
    Tensor x = full(Dims{3}, 2.0, DType::Float64);
    set_requires_grad(x, true);
    autograd::backward({ops::sum(ops::mul(x, ops::exp(x)))});
    double expected = std::exp(2.0) * 3;
    return std::abs(grad(x).data_as<double>()[1] - expected) < 1e-12 ? 0 : 1;
}
