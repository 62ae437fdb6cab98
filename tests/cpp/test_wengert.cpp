// The library as its users see it: factories, methods, printing, dual tensors, nodes by hand.
#include "wengert/wengert.h"
//
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <sstream>

using namespace wengert;

namespace {

std::string text(const Tensor& t) {
    std::ostringstream out;
    out << t;
    return out.str();
}

}  // namespace

TEST_CASE("tensors of values") {
    CHECK(text(tensor(3)) == "tensor(3)");
    CHECK(text(tensor(true)) == "tensor(True)");
    CHECK(text(tensor({1.5, 2.0})) == "tensor([1.5,  2.])");
    CHECK(tensor({1.5, 2.0}).dtype() == DType::Float32);
    CHECK(tensor({1, 2}).dtype() == DType::Int64);
    CHECK(tensor({true, false}).dtype() == DType::Bool);
    CHECK(tensor({uint8_t{200}}).dtype() == DType::Int64);
    CHECK(tensor({std::complex<double>(1, 2)}).dtype() == DType::Complex128);
    CHECK(tensor({1, 2}, {.dtype = DType::Float64}).data_as<double>()[1] == 2);
    CHECK(tensor(std::vector<float>{1, 2, 3}).sizes() == Dims{3});
    const std::array<double, 2> numbers{4, 5};
    CHECK(tensor(std::span<const double>(numbers), {.dtype = DType::Float64}).sum().item() == 9);
    const Tensor rows = tensor({{1, 2, 3}, {4, 5, 6}});
    CHECK(rows.sizes() == Dims{2, 3});
    CHECK(rows.select(0, 1).select(0, 2).item<int>() == 6);
    CHECK_THROWS_WITH_AS(tensor({{1, 2}, {3}}), doctest::Contains("rows of 2 and of 1 numbers"), Error);
    CHECK(tensor({1.0}, {.requires_grad = true}).requires_grad());
    CHECK(tensor({1.0}, {.device = Device{DeviceType::Meta}}).device().type == DeviceType::Meta);
}

TEST_CASE("factories") {
    CHECK(zeros({2, 3}).sum().item() == 0);
    CHECK(ones({2}, {.dtype = DType::Float64}).sum().item() == 2);
    CHECK(full({2}, 1.5).sum().item() == 3);
    CHECK(text(arange(3)) == "tensor([0, 1, 2])");
    CHECK(text(arange(1, 4)) == "tensor([1, 2, 3])");
    CHECK(eye(3).sum().item() == 3);
    CHECK(linspace(0, 1, 3).select(0, 1).item() == 0.5);
    manual_seed(3);
    const Tensor first = randn({4});
    manual_seed(3);
    CHECK(first.equal(randn({4})));
    CHECK(randint(2, 3, {5}).sum().item<int64_t>() == 10);
    CHECK(zeros_like(first).sizes() == Dims{4});
}

TEST_CASE("operations are methods") {
    const Tensor x = tensor({{1, 2}, {3, 4}}, {.dtype = DType::Float64, .requires_grad = true});
    CHECK(x.sum({0}).equal(ops::sum(x, Dims{0})));
    CHECK(x.sum({0}, true).sizes() == Dims{1, 2});
    CHECK(x.reshape({4}).sizes() == Dims{4});
    CHECK(x.matmul(x.t()).trace().item() == 30);
    const Tensor y = x.detach().clone();
    CHECK(&y.mul_(2.0) == &y);
    CHECK(y.sum().item() == 20);
    size_t calls = 0;
    const Tensor z = x * x;
    z.register_hook([&](const Tensor&) { ++calls; });
    z.retain_grad();
    z.sum().backward();
    CHECK(calls == 1);
    CHECK(z.grad().sum().item() == 4);
    CHECK(x.grad().equal(x * 2.0));
    CHECK(z.grad_fn()->name() == "MulBackward0");
    CHECK(x.is_leaf());
    CHECK(z.output_nr() == 0);
    z.detach().requires_grad_().sum().backward();
}

TEST_CASE("tensors as text") {
    CHECK(text(Tensor()) == "undefined tensor");
    CHECK(text(tensor({{1, 2}, {3, 40}})) == "tensor([[ 1,  2],\n        [ 3, 40]])");
    CHECK(text(zeros({1, 1, 2})) == "tensor([[[0., 0.]]])");
    CHECK(text(zeros({2, 1, 1})) == "tensor([[[0.]],\n\n        [[0.]]])");
    CHECK(text(zeros({0, 2})) == "tensor([], size=(0, 2))");
    CHECK(text(arange(2000)) == "tensor([   0,    1,    2, ..., 1997, 1998, 1999])");
    std::ostringstream precise;
    precise.precision(3);
    precise << tensor({1.0 / 3});
    CHECK(precise.str() == "tensor([0.333])");
}

TEST_CASE("dual tensors") {
    const Tensor x = tensor({1.0, 2.0}, {.dtype = DType::Float64}), v = tensor({1.0, 10.0}, {.dtype = DType::Float64});
    const int32_t level = enter_dual_level();
    const DualTensor y = unpack_dual(make_dual(x, v, level).exp(), level);
    CHECK(y.primal.equal(x.exp()));
    CHECK(y.tangent.equal(x.exp() * v));
    CHECK_FALSE(unpack_dual(x, level).tangent.defined());
    exit_dual_level(level);
}

namespace {

struct SquareOfSaved : Function<SquareOfSaved> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
        const Tensor y = x * x;
        ctx->save_for_backward({x, y});
        return y;
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        return {grads[0] * ctx->get_saved_variables()[0] * 2.0};
    }
    static TensorList jvp(AutogradContext* ctx, TensorList tangents) {
        const TensorList saved = ctx->get_saved_variables();
        CHECK(saved[1].equal(saved[0] * saved[0]));
        return {tangents[0] * saved[0] * 2.0};
    }
};

}  // namespace

TEST_CASE("the jvp of a custom function has what forward saved, whether or not it is recorded") {
    for (const bool recorded : {false, true}) {
        const Tensor x = tensor({3.0}, {.dtype = DType::Float64, .requires_grad = recorded});
        const int32_t level = enter_dual_level();
        const Tensor y = SquareOfSaved::apply(make_dual(x, ones_like(x), level));
        CHECK(unpack_dual(y, level).tangent.item() == 6);
        exit_dual_level(level);
        if (!recorded) continue;
        y.backward();
        CHECK(x.grad().item() == 6);
    }
}

namespace {

struct Tripling : Node {
    bool x_needed = false, z_needed = false;
    Ref<Node> of_x, of_z;
    TensorList apply(TensorList&& grads) override {
        const GraphTask* task = get_current_graph_task();
        x_needed = task->exec_info(of_x.get()).should_execute();
        z_needed = task->exec_info(of_z.get()).should_execute();
        return {grads[0] * 3.0, grads[0] * 5.0};
    }
    std::string name() const override { return "Tripling"; }
};

}  // namespace

TEST_CASE("a node by hand, and what the pass means to do with those behind it") {
    const Tensor x = tensor({1.0}, {.requires_grad = true}), z = tensor({1.0}, {.requires_grad = true});
    const Ref<Tripling> node = make_node<Tripling>();
    node->of_x = accumulator_of(x);
    node->of_z = accumulator_of(z);
    node->set_next_edges(collect_next_edges(x, z));
    const Tensor y = tensor({8.0});
    set_history(y, node);
    CHECK(autograd::grad({y}, {x}, {}, true)[0].item() == 3);
    CHECK(node->x_needed);
    CHECK_FALSE(node->z_needed);
    y.backward();
    CHECK(node->z_needed);
    CHECK(z.grad().item() == 5);

    const Tensor other = tensor({8.0});
    set_grad_fn(other, node);
    CHECK(other.grad_fn() == node);
    node->of_x = nullptr;
    node->of_z = nullptr;
}

TEST_CASE("the library says what it is") {
    CHECK(std::string_view(abi()) == WENGERT_ABI);
    CHECK(std::string_view(abi()).find(WENGERT_VERSION) != std::string_view::npos);
}
