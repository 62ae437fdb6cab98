// Rows B1-B39 of the acceptance list, as far as C++ can show them: nodes, edges, passes, tensors.
#include <doctest/doctest.h>

#include <thread>
#include <unordered_set>

#include "engine/input_buffer.h"
#include "engine/traverse.h"
#include "graph_fixtures.h"

using namespace wengert;

TEST_CASE("B2 sequence numbers grow with time and are a thread's own; later operations run first") {
    Tensor x = leaf({1});
    std::vector<Counting*> turns;
    auto first = make_node<Counting>(), second = make_node<Counting>();
    first->turns = second->turns = &turns;
    CHECK(first->sequence_nr() < second->sequence_nr());
    Tensor a = result_of(first, {gradient_edge(x)}), b = result_of(second, {gradient_edge(x)});
    autograd::backward({ops::add(a, b)});
    CHECK(turns == std::vector<Counting*>{second.get(), first.get()});
    std::thread([&] { CHECK(make_node<Counting>()->sequence_nr() == 0); }).join();
    CHECK(accumulator_of(x)->sequence_nr() == UINT64_MAX);
}

TEST_CASE("B3 topological numbers: 0 for leaves, else one more than the greatest child's") {
    Tensor x = leaf({1});
    Tensor a = ops::exp(x), b = ops::exp(a), c = ops::mul(b, x);
    CHECK(accumulator_of(x)->topological_nr() == 0);
    CHECK(grad_fn(a)->topological_nr() == 1);
    CHECK(grad_fn(b)->topological_nr() == 2);
    CHECK(grad_fn(c)->topological_nr() == 3);
}

TEST_CASE("B3 a search stops at nodes that are too low to lead to the input") {
    Tensor x = leaf({1}), z = leaf({1});
    Tensor high = ops::exp(ops::exp(ops::exp(x)));
    auto low = make_node<Counting>();
    Tensor side = result_of(low, {gradient_edge(z)});
    GraphTask task(false, false, true);
    Tensor y = ops::add(high, side);
    task.roots.push_back(gradient_edge(y));
    count_dependencies(task, grad_fn(y).get(), {gradient_edge(high)}, false);
    CHECK(task.contains(grad_fn(high).get()));
    CHECK_FALSE(task.contains(low.get()));
}

TEST_CASE("B4 B12 next_edges: appended edges appear and count for the topological number") {
    Tensor x = leaf({1});
    Tensor y = ops::exp(x);
    auto node = make_node<Counting>();
    node->add_next_edge(gradient_edge(y));
    node->add_next_edge({});
    CHECK(node->num_outputs() == 2);
    CHECK(node->next_edges()[0] == gradient_edge(y));
    CHECK_FALSE(node->should_compute_output(1));
    CHECK(node->topological_nr() == 2);
}

TEST_CASE("B5 input metadata: shape, dtype, device; gradients that do not fit are rejected") {
    Tensor x = leaf({1, 2});
    Tensor y = ops::mul(x, 2.0);
    const InputMetadata& m = grad_fn(y)->input_metadata()[0];
    CHECK(m.sizes == Dims{2});
    CHECK(m.dtype == DType::Float64);
    CHECK(m.device == y.device());
    CHECK(m.used);
    CHECK_FALSE(InputMetadata().used);
    auto node = make_node<Counting>();
    Tensor bad = result_of(node, {gradient_edge(y)});  // passes shape (1,) on to (2,)
    CHECK_NOTHROW(autograd::backward({ops::mul(x, 2.0)}, {constant(1, 2)}));
    struct Wrong final : Node {
        TensorList apply(TensorList&&) override { return {constant(1, 3)}; }
        std::string name() const override { return "Wrong"; }
    };
    auto wrong = make_node<Wrong>();
    wrong->set_next_edges({gradient_edge(y)});
    set_history(bad = constant(1), wrong);
    CHECK_THROWS_WITH_AS(autograd::backward({bad}),
                         doctest::Contains("Function Wrong returned an invalid gradient at index 0 - got [3]"), Error);
}

TEST_CASE("B6 B14 release_variables frees what the node saved") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, x);
    uint32_t before = x.use_count();
    grad_fn(y)->release_variables();
    CHECK(x.use_count() < before);
    CHECK_THROWS_WITH_AS(autograd::backward({y}), doctest::Contains("backward through the graph a second time"), Error);
}

TEST_CASE("B9 NodeGuard: the node that runs, restored after errors") {
    CHECK(current_node() == nullptr);
    Counting outer, inner;
    {
        NodeGuard a(&outer);
        try {
            NodeGuard b(&inner);
            CHECK(current_node() == &inner);
            throw 1;
        } catch (int) {}
        CHECK(current_node() == &outer);
    }
    Node* seen = nullptr;
    Tensor x = leaf({1});
    Tensor y = ops::exp(x);
    add_pre_hook(*grad_fn(y), std::make_shared<LambdaPreHook>([&](TensorList&) { seen = current_node(); }));
    autograd::backward({y});
    CHECK(seen == grad_fn(y).get());
    CHECK(current_node() == nullptr);
}

TEST_CASE("B10 calling a node runs its formula") {
    Tensor x = leaf({3});
    Tensor y = ops::mul(x, x);
    TensorList out = (*grad_fn(y))({constant(1)});
    CHECK(at(out[0], 0) == 3);
}

TEST_CASE("B11 add_input_metadata counts the outputs") {
    Counting node;
    CHECK(node.add_input_metadata(constant(1)) == 0);
    CHECK(node.add_undefined_input() == 1);
    CHECK(node.add_input_metadata(constant(1)) == 2);
    CHECK(node.num_inputs() == 3);
}

TEST_CASE("B13 edges are fixed once another node has ordered itself by them") {
    auto child = make_node<Counting>(), parent = make_node<Counting>();
    parent->add_next_edge({child, 0});
    CHECK_THROWS_AS(child->add_next_edge({}), Error);
    CHECK_NOTHROW(parent->add_next_edge({}));
}

TEST_CASE("B15 edges: invalid by default, equal, hashable, owners of their node") {
    CHECK_FALSE(Edge().is_valid());
    auto node = make_node<Counting>();
    Edge a(node, 1), b(node, 1), c(node, 2);
    CHECK(a == b);
    CHECK_FALSE(a == c);
    std::unordered_set<Edge> set{a, b, c};
    CHECK(set.size() == 2);
    set.clear();
    CHECK(node->use_count() == 4);
}

TEST_CASE("B16 a GraphTask has what it was made for") {
    GraphTask task(true, false, false);
    CHECK(task.keep_graph);
    CHECK_FALSE(task.create_graph);
    CHECK_FALSE(task.selective);
    CHECK(task.outstanding == 0);
    CHECK(task.captured.empty());
    CHECK(task.final_callbacks.empty());
    CHECK(GraphTask(false, false, false).id > task.id);
}

TEST_CASE("B17 B18 a node waits for all its parents and runs once, however many paths lead to it") {
    Tensor x = leaf({1});
    auto node = make_node<Counting>();
    Tensor y = result_of(node, {gradient_edge(x)});
    for (int i = 0; i < 10; ++i) y = ops::add(y, y);
    autograd::backward({y});
    CHECK(node->runs == 1);
    CHECK(at(grad(x), 0) == 1024);
}

TEST_CASE("B18 dependencies are counted per edge") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, x);
    GraphTask task(false, false, false);
    task.roots.push_back(gradient_edge(y));
    count_dependencies(task, grad_fn(y).get(), {}, true);
    CHECK(task.state_of(accumulator_of(x).get()).dependencies == 2);
    CHECK(task.state_of(grad_fn(y).get()).dependencies == 0);
    CHECK(task.outstanding == 2);
}

TEST_CASE("B19 B28 hooks can ask whether a node is part of the pass, before and after it ran") {
    Tensor x = leaf({1}), other = leaf({1});
    Tensor y = ops::exp(x), z = ops::exp(y), elsewhere = ops::exp(other);
    std::vector<bool> answers;
    add_hook(y, [&](const Tensor&) {
        for (const Tensor& t : {z, y, elsewhere})
            answers.push_back(get_current_graph_task()->will_execute(grad_fn(t).get()));
        answers.push_back(get_current_graph_task()->will_execute(accumulator_of(x).get()));
    });
    autograd::backward({z});
    CHECK(answers == std::vector<bool>{true, true, false, true});
}

TEST_CASE("B20 several roots, the same one twice") {
    Tensor x = leaf({3});
    Tensor y = ops::mul(x, 2.0), z = ops::mul(y, 5.0);
    autograd::backward({z, y, y});
    CHECK(at(grad(x), 0) == 10 + 2 + 2);
}

TEST_CASE("B21 B25 a selective pass marks what it needs and captures at its targets") {
    Tensor a = leaf({1}), b = leaf({1});
    Tensor left = ops::exp(a), right = ops::exp(b), y = ops::add(left, right);
    GraphTask task(false, false, true);
    task.roots.push_back(gradient_edge(y));
    count_dependencies(task, grad_fn(y).get(), {gradient_edge(a)}, false);
    EngineState& target = task.state_of(accumulator_of(a).get());
    CHECK(task.state_of(grad_fn(y).get()).needed + 0 == 1);
    CHECK(task.state_of(grad_fn(left).get()).needed + 0 == 1);
    CHECK(task.state_of(grad_fn(right).get()).needed + 0 == 0);
    CHECK(target.needed + 0 == 0);
    REQUIRE(target.captures);
    Captures& captures = *static_cast<Captures*>(target.captures);
    CHECK(captures[0].input_index == 0);
    CHECK(captures[0].output_index == 0);
    CHECK(task.should_execute(accumulator_of(a).get()));
    CHECK_FALSE(task.should_execute(grad_fn(right).get()));
}

TEST_CASE("B23 captured gradients have passed the hooks of their tensor") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, 3.0);
    add_hook(x, [](const Tensor& g) { return ops::mul(g, 10.0); });
    CHECK(at(autograd::grad({y}, {x})[0], 0) == 30);
}

TEST_CASE("B26 a nested pass gives the outer one back") {
    Tensor x = leaf({1}), inner = leaf({2});
    std::vector<GraphTask*> tasks;
    Tensor y = ops::exp(x);
    add_hook(y, [&](const Tensor&) {
        tasks.push_back(get_current_graph_task());
        AutoGradMode recording(true);
        autograd::grad({ops::exp(inner)}, {inner});
        tasks.push_back(get_current_graph_task());
    });
    autograd::backward({y});
    REQUIRE(tasks.size() == 2);
    CHECK(tasks[0] == tasks[1]);
}

TEST_CASE("B29 in-place writes to views keep working in a selective pass") {
    Tensor x = leaf({1, 2});
    Tensor base = ops::mul(x, 1.0);
    ops::mul_(ops::select(base, 0, 0), 5.0);
    TensorList got = autograd::grad({ops::sum(base)}, {x});
    CHECK(at(got[0], 0) == 5);
    CHECK(at(got[0], 1) == 1);
}

TEST_CASE("B30 B31 B32 InputBuffer sums and leaves what others own alone") {
    NoGradGuard not_recorded;
    TensorList slots(2);
    InputBuffer buffer(slots);
    Tensor mine = constant(1);
    buffer.add(0, Tensor(mine));
    buffer.add(0, constant(2));
    buffer.add(1, Tensor());
    CHECK(buffer.size() == 2);
    CHECK(at(buffer[0], 0) == 3);
    CHECK(at(mine, 0) == 1);
    CHECK_FALSE(buffer[1].defined());
    std::byte* memory = slots[0].data();
    buffer.add(0, constant(4));  // uniquely owned by now
    CHECK(slots[0].data() == memory);
    CHECK(at(InputBuffer::variables(std::move(buffer))[0], 0) == 7);
}

TEST_CASE("B31 the layout of a sum does not depend on who owns the terms") {
    for (bool shared : {false, true}) {
        TensorList slots(1);
        InputBuffer buffer(slots);
        Tensor first = zeros(Dims{2, 3}, DType::Float64);
        Tensor second = empty_strided(Dims{2, 3}, Dims{1, 2}, DType::Float64);
        ops::zero_(second);
        Tensor other = shared ? first : Tensor();
        buffer.add(0, std::move(first));
        buffer.add(0, std::move(second));
        CHECK(buffer[0].strides() == Dims{3, 1});
    }
}

TEST_CASE("B34 B36 fields of a tensor's metadata") {
    Tensor x = leaf({1, 2});
    CHECK(is_leaf(x));
    set_grad(x, constant(4, 2));
    CHECK(at(grad(x), 1) == 4);
    set_grad(x, Tensor());
    CHECK_FALSE(grad(x).defined());
    Tensor y = ops::exp(x);
    CHECK_FALSE(meta_of(y)->retains_grad);
    retain_grad(y);
    CHECK(meta_of(y)->retains_grad);
    autograd::backward({y}, {constant(1, 2)});
    CHECK(at(grad(y), 0) == 1);
}

TEST_CASE("B35 gradient edges can be read and set") {
    Tensor x = leaf({1}), y = constant(1);
    CHECK_FALSE(gradient_edge(y).is_valid());
    CHECK(gradient_edge(x).function == accumulator_of(x));
    auto node = make_node<Counting>();
    node->add_input_metadata(y);
    set_gradient_edge(y, {node, 0});
    CHECK(grad_fn(y) == node);
    CHECK(requires_grad(y));
}

TEST_CASE("B37 B38 an in-place operation rebases the history and bumps the version") {
    Tensor x = leaf({1});
    Tensor y = ops::exp(x);
    Ref<Node> before = grad_fn(y);
    uint32_t version = y.version();
    ops::mul_(y, 2.0);
    CHECK(y.version() == version + 1);
    CHECK(grad_fn(y)->name() == "MulBackward0");
    CHECK(grad_fn(y)->next_edges()[0].function == before);
    bump_version(y);
    CHECK(y.version() == version + 2);
}

TEST_CASE("B39 tensor hooks in C++") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, 2.0);
    int seen = 0;
    add_hook(y, [&](const Tensor& g) { seen += static_cast<int>(at(g, 0)); });
    size_t doubling = add_hook(y, [](const Tensor& g) { return ops::mul(g, 2.0); });
    autograd::backward({y}, {}, true);
    CHECK(seen == 1);
    CHECK(at(grad(x), 0) == 4);
    remove_hook(y, doubling);
    autograd::backward({y});
    CHECK(at(grad(x), 0) == 6);
    CHECK_THROWS_AS(add_hook(constant(1), [](const Tensor&) {}), Error);
}
