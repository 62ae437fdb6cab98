// A program without Python: the minimum of Rosenbrock's function by Newton's method, with a Hessian from two backward passes.
#include <wengert/wengert.h>

#include <iostream>

using namespace wengert;

Tensor rosenbrock(const Tensor& x) {
    Tensor a = x.narrow(0, 0, 1), b = x.narrow(0, 1, 1);
    return ((b - a * a).square() * 100.0 + (a - 1.0).square()).sum();
}

int main() {
    Tensor x = tensor({-1.2, 1.0}, {.dtype = DType::Float64, .requires_grad = true});
    for (int step = 0; step < 10; ++step) {
        Tensor gradient = autograd::grad({rosenbrock(x)}, {x}, {}, true, true)[0];
        TensorList rows;
        for (int64_t i = 0; i < 2; ++i) rows.push_back(autograd::grad({gradient.select(0, i)}, {x}, {}, true)[0]);
        NoGradGuard guard;
        x.sub_(ops::linalg_solve(ops::stack(rows), gradient));
    }
    std::cout << x << "\n";
    return x.sub(1.0).abs().max().item() < 1e-12 ? 0 : 1;
}
