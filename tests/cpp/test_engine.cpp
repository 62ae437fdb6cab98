// The engine without Python: order, sums, selective passes, errors, depth.
#include <doctest/doctest.h>

#include "engine/autograd.h"
#include "engine/engine.h"
#include "engine/input_buffer.h"
#include "generated/ops/ops.h"
#include "ops/accumulate_grad.h"
#include "ops/basic_nodes.h"
#include "ops/recording.h"

using namespace wengert;

namespace {

Tensor leaf(std::initializer_list<double> values) {
    Tensor t = empty(Dims{static_cast<int64_t>(values.size())}, DType::Float64);
    std::copy(values.begin(), values.end(), t.data_as<double>());
    set_requires_grad(t, true);
    return t;
}

Tensor constant(double value, int64_t n = 1) { return full(Dims{n}, value, DType::Float64); }

double at(const Tensor& t, int64_t i) { return t.data_as<double>()[i]; }

// A node that counts its runs and passes gradients on.
struct Counting final : Node {
    int runs = 0;
    TensorList apply(TensorList&& grads) override {
        ++runs;
        return {grads[0]};
    }
    std::string name() const override { return "Counting"; }
};

}  // namespace

TEST_CASE("asking who owns a tensor, or whether a node will run, changes nothing") {
    Tensor view = ops::t(full(Dims{2, 3}, 1, DType::Float64));
    REQUIRE(is_view(view));
    CHECK(is_uniquely_owned(view));
    CHECK(is_view(view));
    drop_base(view);
    CHECK_FALSE(is_view(view));
    CHECK(is_uniquely_owned(view));

    GraphTask task(false, false, true);
    const auto node = make_node<Counting>();
    CHECK_FALSE(task.should_execute(node.get()));
    CHECK_FALSE(task.contains(node.get()));
}

TEST_CASE("an entry refuses what does not fit, in the words that Python hears too") {
    const auto refused = [](const Tensor& root, const Tensor& gradient, const char* words) {
        CHECK_THROWS_WITH_AS(autograd::backward({root}, {gradient}), doctest::Contains(words), Error);
    };
    Tensor x = leaf({1, 2});
    refused(constant(1), {}, "element 0 of tensors does not require grad and does not have a grad_fn");
    refused(ops::exp(x), {}, "only for scalar outputs, but output 0 has shape (2");
    refused(ops::exp(x), constant(1), "Mismatch in shape: grad_output[0] has a shape of (1");
    refused(ops::to_dtype(ops::sum(x), DType::Complex128), {}, "only for real scalar outputs");
    CHECK_THROWS_WITH_AS(autograd::backward({x}, {constant(1), constant(1)}),
                         doctest::Contains("got 1 tensors and 2 gradients"), Error);
    CHECK_THROWS_WITH_AS(autograd::grad({ops::sum(x)}, {leaf({1})}),
                         doctest::Contains("appears to not have been used in the graph"), Error);
}

TEST_CASE("the input buffer sums and leaves what it was given alone") {
    TensorList slots(1);
    InputBuffer buffer(slots);
    Tensor a = constant(1, 2), b = constant(2, 2);
    buffer.add(0, Tensor(a));
    buffer.add(0, Tensor());
    buffer.add(0, Tensor(b));
    CHECK(at(buffer[0], 0) == 3);
    CHECK(at(a, 0) == 1);
    CHECK(at(b, 0) == 2);
}

TEST_CASE("topological numbers order parents above children and then freeze the edges") {
    Tensor x = leaf({1, 2});
    Tensor y = ops::mul(x, x);
    Tensor z = ops::add(y, x);
    CHECK(accumulator_of(x)->topological_nr() == 0);
    CHECK(grad_fn(y)->topological_nr() == 1);
    CHECK(grad_fn(z)->topological_nr() == 2);
    CHECK(grad_fn(z)->sequence_nr() > grad_fn(y)->sequence_nr());
    CHECK_THROWS_AS(grad_fn(y)->add_next_edge({}), Error);
}

TEST_CASE("backward accumulates, grad captures") {
    Tensor x = leaf({2, 3});
    Tensor y = ops::mul(x, x);
    autograd::backward({y}, {constant(1, 2)}, true);
    autograd::backward({y}, {constant(1, 2)});
    CHECK(at(grad(x), 0) == 8);
    CHECK(at(grad(x), 1) == 12);

    Tensor z = ops::sum(ops::mul(ops::mul(x, x), x));
    TensorList first = autograd::grad({z}, {x}, {}, std::nullopt, true);
    TensorList second = autograd::grad({ops::sum(first[0])}, {x});
    CHECK(at(first[0], 1) == doctest::Approx(27));
    CHECK(at(second[0], 1) == doctest::Approx(18));
    CHECK(at(grad(x), 0) == 8);
}

TEST_CASE("a second pass through a freed graph raises and names the remedy") {
    Tensor x = leaf({2});
    Tensor y = ops::mul(x, x);
    autograd::backward({y});
    CHECK_THROWS_WITH_AS(autograd::backward({y}), doctest::Contains("Specify retain_graph=True"), Error);
}

TEST_CASE("a selective pass runs only the nodes on a path to its inputs") {
    Tensor a = leaf({1}), b = leaf({1});
    auto used = make_node<Counting>(), unused = make_node<Counting>();
    used->set_next_edges({gradient_edge(a)});
    unused->set_next_edges({gradient_edge(b)});
    Tensor left = constant(1), right = constant(1);
    set_history(left, used);
    set_history(right, unused);
    TensorList grads = autograd::grad({ops::add(left, right)}, {a});
    CHECK(at(grads[0], 0) == 1);
    CHECK(used->runs == 1);
    CHECK(unused->runs == 0);
}

TEST_CASE("an error leaves graph and engine usable") {
    Tensor x = leaf({2});
    Tensor y = ops::mul(x, x);
    Tensor z = constant(1);
    set_history(z, Ref<Node>::adopt(new ErrorNode("no derivative here", collect_next_edges(y))));
    CHECK_THROWS_WITH_AS(autograd::backward({z}), doctest::Contains("no derivative here"), Error);
    autograd::backward({y});
    CHECK(at(grad(x), 0) == 4);
}

TEST_CASE("the two gradients of a sum do not share memory") {
    Tensor x = leaf({1, 1}), y = leaf({1, 1});
    TensorList grads = autograd::grad({ops::add(x, y)}, {x, y}, {constant(1, 2)});
    CHECK(grads[0].data() != grads[1].data());
}

TEST_CASE("a million nodes: built, run and freed without recursion") {
    Tensor x = leaf({1});
    {
        Tensor y = x;
        for (int i = 0; i < 1'000'000; ++i) y = ops::add(y, 1.0);
        autograd::backward({y});
        CHECK(at(grad(x), 0) == 1);
    }
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = ops::mul(y, 1.0);
}

TEST_CASE("a node that another pass gives back meanwhile keeps its state in the place where it was begun") {
    Tensor x = leaf({1});
    const Tensor y = ops::mul(x, 2.0);
    Node* node = grad_fn(y).get();
    GraphTask first(true, false, false), second(true, false, false);
    CHECK(first.claim(node));
    CHECK(second.claim(node));
    second.state_of(node).dependencies = 7;
    first.unclaim(node);
    CHECK_FALSE(second.claim(node));
    CHECK(second.state_of(node).dependencies == 7);
}

TEST_CASE("forward mode nests") {
    int32_t outer = enter_dual_level(), inner = enter_dual_level();
    Tensor dual = constant(3);
    set_tangent(dual, outer, constant(1));
    Tensor twice = ops::alias(dual);
    set_tangent(twice, inner, constant(1));
    Tensor cube = ops::mul(ops::mul(twice, twice), twice);
    Tensor first = tangent_at(cube, inner);
    CHECK(at(first, 0) == doctest::Approx(27));
    CHECK(at(tangent_at(first, outer), 0) == doctest::Approx(18));
    exit_dual_level(inner);
    exit_dual_level(outer);
    CHECK_FALSE(tangent_at(cube, outer).defined());
}
