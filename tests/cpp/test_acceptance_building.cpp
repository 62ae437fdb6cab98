// Rows C1-C8 of the acceptance list: how operations enter the graph, and the nodes that belong to none.
#include <doctest/doctest.h>

#include "graph_fixtures.h"

using namespace wengert;

TEST_CASE("C1 set_history: grad_fn, output_nr, metadata; integral outputs are left out") {
    auto node = make_node<Counting>();
    Tensor first = constant(1, 2), second = constant(1, 3), whole = full(Dims{1}, 1, DType::Int64);
    set_history(first, node);
    set_history(whole, node);
    set_history(Tensor(), node);
    set_history(second, node);
    CHECK(grad_fn(first) == node);
    CHECK(output_nr(first) == 0);
    CHECK(output_nr(second) == 3);
    CHECK_FALSE(requires_grad(whole));
    CHECK(node->input_metadata()[3].sizes == Dims{3});
    CHECK_FALSE(node->input_metadata()[2].used);
    auto list_node = make_node<Counting>();
    TensorList list{constant(1), Tensor(), constant(1)};
    set_history(TensorSpan(list), list_node);
    CHECK(output_nr(list[2]) == 2);
}

TEST_CASE("C2 the steps of recording: edges first, then grad_fn and metadata") {
    Tensor x = leaf({1}), fixed = constant(2);
    EdgeList edges = collect_next_edges(x, fixed);
    REQUIRE(edges.size() == 2);
    CHECK(edges[0] == gradient_edge(x));
    CHECK_FALSE(edges[1].is_valid());
    Tensor y = ops::mul(x, fixed);
    CHECK(grad_fn(y)->next_edges()[0] == edges[0]);
    CHECK_FALSE(grad_fn(y)->next_edges()[1].is_valid());
    CHECK(grad_fn(y)->num_inputs() == 1);
    CHECK(records(x, fixed));
    CHECK_FALSE(records(fixed));
    NoGradGuard no_grad;
    CHECK_FALSE(records(x, fixed));
}

TEST_CASE("C3 C4 AccumulateGrad stands for its leaf, one for all graphs alive") {
    Tensor x = leaf({1});
    Ref<Node> node = accumulator_of(x);
    CHECK(node->name() == "torch::autograd::AccumulateGrad");
    CHECK(static_cast<AccumulateGrad&>(*node).variable().is_same(x));
    CHECK(accumulator_of(x) == node);
    CHECK(grad_fn(ops::exp(x))->next_edges()[0].function == node);
    node.reset();
    CHECK(evident_accumulator(*meta_of(x)) == nullptr);
}

TEST_CASE("C5 AccumulateGrad: takes, copies or adds, and returns nothing") {
    Tensor x = leaf({1, 2});
    Ref<Node> node = accumulator_of(x);
    NoGradGuard no_grad;  // as in a pass that is not recorded
    Tensor shared = constant(3, 2);
    CHECK((*node)({shared}).empty());
    CHECK(grad(x).data() != shared.data());
    Tensor kept = grad(x);
    (*node)({constant(1, 2)});
    CHECK(grad(x).is_same(kept));
    CHECK(at(kept, 0) == 4);
    set_grad(x, Tensor());
    Tensor own = constant(5, 2);
    std::byte* memory = own.data();
    TensorList given;
    given.push_back(std::move(own));
    (*node)(std::move(given));
    CHECK(grad(x).data() == memory);
    (*node)({Tensor()});
    CHECK(at(grad(x), 0) == 5);
    CHECK_THROWS_AS((*node)({}), Error);
}

TEST_CASE("C6 GraphRoot ignores what it gets and hands out the given gradients") {
    Tensor x = leaf({1});
    GraphRoot root({gradient_edge(x)}, {constant(7)});
    CHECK(root.name() == "torch::autograd::GraphRoot");
    CHECK(at(root({constant(1)})[0], 0) == 7);
}

TEST_CASE("C7 Error raises its message as soon as it is ready") {
    Tensor x = leaf({1});
    std::vector<Counting*> turns;
    auto later = make_node<Counting>();
    later->turns = &turns;
    Tensor bad = constant(1);
    set_history(bad, Ref<Node>::adopt(new ErrorNode("once only", collect_next_edges(x))));
    Tensor good = result_of(later, {gradient_edge(x)});
    CHECK(grad_fn(bad)->sequence_nr() == UINT64_MAX);
    CHECK_THROWS_WITH_AS(autograd::backward({good, bad}), doctest::Contains("once only"), Error);
    CHECK(turns.empty());
}

TEST_CASE("C8 DelayedError: identity forward, an error backward") {
    Tensor x = leaf({3});
    TensorList out = DelayedError("not twice", 1)({x});
    CHECK(at(out[0], 0) == 3);
    CHECK(requires_grad(out[0]));
    CHECK_THROWS_WITH_AS(autograd::backward({out[0]}), doctest::Contains("not twice"), Error);
    CHECK_THROWS_AS(DelayedError("x", 2)({x}), Error);
}
