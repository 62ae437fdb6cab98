// What descriptions of the original system name, checked where C++ shows it; no Python is present here.
#include <doctest/doctest.h>

#include <unordered_set>

#include "engine/autograd.h"
#include "engine/engine.h"
#include "generated/ops/ops.h"
#include "ops/accumulate_grad.h"
#include "ops/basic_nodes.h"
#include "ops/function.h"
#include "ops/hooks.h"
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

// Multiplies by ten, and counts its runs.
struct TimesTen final : Node {
    int runs = 0;
    TensorList apply(TensorList&& grads) override {
        ++runs;
        return {ops::mul(grads[0], 10)};
    }
    std::string name() const override { return "TimesTen"; }
};

struct Square : Function<Square> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale) {
        ctx->save_for_backward({x});
        ctx->saved_data["scale"] = scale;
        return ops::mul(ops::mul(x, x), scale);
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        Tensor x = ctx->get_saved_variables()[0];
        double scale = std::any_cast<double>(ctx->saved_data["scale"]);
        return {ops::mul(ops::mul(x, 2 * scale), grads[0]), Tensor()};
    }
    static TensorList jvp(AutogradContext*, TensorList tangents) { return {ops::mul(tangents[0], 100)}; }
};

struct Split : Function<Split> {
    inline static std::vector<bool> defined, needed;
    static TensorList forward(AutogradContext* ctx, const Tensor& x, const Tensor& y) {
        Tensor a = ops::mul(x, 2), b = ops::mul(y, 3);
        ctx->mark_non_differentiable({b});
        ctx->set_materialize_grads(false);
        return {a, b};
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        defined = {grads[0].defined(), grads[1].defined()};
        needed = {ctx->needs_input_grad(0), ctx->needs_input_grad(1)};
        return {ops::mul(grads[0], 2), Tensor()};
    }
};

struct DoubleInPlace : Function<DoubleInPlace> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
        ops::mul_(x, 2);
        ctx->mark_dirty({x});
        return x;
    }
    static TensorList backward(AutogradContext*, TensorList grads) { return {ops::mul(grads[0], 2)}; }
};

struct Wrong : Function<Wrong> {
    static Tensor forward(AutogradContext*, const Tensor& x, const Tensor&) { return ops::mul(x, 2); }
    static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0]}; }
};

std::vector<std::string> warnings;

}  // namespace

TEST_CASE("acceptance A1, A8: a graph is built and differentiated without Python") {
    Tensor x = leaf({2, 3});
    autograd::backward({ops::sum(ops::mul(ops::exp(x), x))});
    CHECK(at(grad(x), 0) == doctest::Approx(3 * std::exp(2.0)));
    CHECK(x.impl()->pyobj == nullptr);
}

TEST_CASE("acceptance A2, B33: Variable is Tensor") {
    static_assert(std::is_same_v<Variable, Tensor>);
    Variable x = leaf({1});
    CHECK(requires_grad(x));
    CHECK(is_leaf(x));
    CHECK(x.version() == 0);
    CHECK_FALSE(grad(x).defined());
}

TEST_CASE("acceptance A5, B1: a subclass of Node runs in the engine") {
    Tensor x = leaf({1});
    auto node = make_node<TimesTen>();
    node->set_next_edges({gradient_edge(x)});
    Tensor y = constant(1);
    set_history(y, node);
    autograd::backward({ops::mul(y, 3)});
    CHECK(at(grad(x), 0) == 30);
    CHECK(node->runs == 1);
}

TEST_CASE("acceptance A11, D1, D2: Engine::execute, the one engine") {
    Engine& engine = Engine::get_default_engine();
    CHECK(&engine == &Engine::get_default_engine());
    Tensor x = leaf({2});
    Tensor y = ops::mul(x, x);
    TensorList captured = engine.execute({gradient_edge(y)}, {constant(1)}, true, false, false, {gradient_edge(x)});
    CHECK(at(captured[0], 0) == 4);
    CHECK_FALSE(grad(x).defined());
    CHECK(engine.execute({gradient_edge(y)}, {constant(1)}, false, false, true).empty());
    CHECK(at(grad(x), 0) == 4);
}

TEST_CASE("acceptance A12: gradients of roots are checked before any node runs") {
    auto node = make_node<TimesTen>();
    Tensor x = leaf({1, 2}), y = constant(1, 2);
    node->set_next_edges({gradient_edge(x)});
    set_history(y, node);
    CHECK_THROWS_WITH_AS(autograd::backward({y}, {constant(1, 3)}), doctest::Contains("shape"), Error);
    CHECK(node->runs == 0);
}

TEST_CASE("acceptance A13: backward with create_graph warns once, grad never") {
    WarningHandler old = set_warning_handler([](WarningKind, const std::string& text) { warnings.push_back(text); });
    Tensor x = leaf({2});
    autograd::grad({ops::mul(x, x)}, {x}, {}, std::nullopt, true);
    CHECK(warnings.empty());
    autograd::backward({ops::mul(x, x)}, {}, std::nullopt, true);
    autograd::backward({ops::mul(x, x)}, {}, std::nullopt, true);
    set_warning_handler(old);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("reference cycle") != std::string::npos);
    CHECK(warnings[0].find("autograd.grad") != std::string::npos);
    set_grad(x, {});
}

TEST_CASE("acceptance B8, E1: SavedVariable saves, unpacks, checks the version and lets go") {
    Tensor x = leaf({2, 3});
    SavedVariable input(x, false);
    CHECK(input.unpack(nullptr).is_same(x));
    Tensor y = ops::exp(x);
    SavedVariable output(y, true);
    Tensor unpacked = output.unpack(grad_fn(y).get());
    CHECK_FALSE(unpacked.is_same(y));
    CHECK(grad_fn(unpacked) == grad_fn(y));
    {
        NoGradGuard no_grad;
        ops::add_(x, 1);
    }
    CHECK_THROWS_WITH_AS(input.unpack(nullptr), doctest::Contains("modified by an inplace operation"), Error);
    output.reset_data();
    CHECK_THROWS_WITH_AS(output.unpack(grad_fn(y).get()), doctest::Contains("second time"), Error);
    CHECK_FALSE(SavedVariable().unpack(nullptr).defined());
}

TEST_CASE("acceptance B11: add_input_metadata returns the output's number") {
    auto node = make_node<TimesTen>();
    CHECK(node->add_input_metadata(constant(1, 2)) == 0);
    CHECK(node->add_undefined_input() == 1);
    CHECK(node->add_input_metadata(constant(1, 3)) == 2);
    CHECK(node->input_metadata()[2].sizes == Dims{3});
    CHECK_FALSE(node->input_metadata()[1].used);
}

TEST_CASE("acceptance B12: add_next_edge appends and orders") {
    Tensor y = ops::mul(leaf({1}), 2);
    auto node = make_node<TimesTen>();
    node->add_next_edge(gradient_edge(y));
    CHECK(node->num_outputs() == 1);
    CHECK(node->next_edges()[0] == gradient_edge(y));
    CHECK(node->topological_nr() == grad_fn(y)->topological_nr() + 1);
}

TEST_CASE("acceptance B15: Edge compares, hashes and keeps its node alive") {
    CHECK_FALSE(Edge().is_valid());
    Edge edge;
    {
        Tensor y = ops::mul(leaf({1}), 2);
        edge = gradient_edge(y);
        CHECK(edge == gradient_edge(y));
        CHECK(edge != Edge(edge.function, 1));
    }
    CHECK(edge.function->name() == "MulBackward0");
    std::unordered_set<Edge> set{edge, edge, Edge(edge.function, 1)};
    CHECK(set.size() == 2);
}

TEST_CASE("acceptance B17, B18: a node waits for all its gradients and runs once") {
    Tensor x = leaf({1});
    auto node = make_node<TimesTen>();
    node->set_next_edges({gradient_edge(x)});
    Tensor y = constant(1);
    set_history(y, node);
    Tensor deep = ops::mul(ops::mul(ops::mul(y, 2), 2), 2);
    autograd::backward({ops::add(deep, y)});
    CHECK(node->runs == 1);
    CHECK(at(grad(x), 0) == 90);
}

TEST_CASE("acceptance B25: what a selective pass executes") {
    Tensor x = leaf({1}), z = leaf({1});
    Tensor y = ops::mul(x, 2), other = ops::mul(z, 3);
    std::vector<bool> seen;
    Tensor out = ops::mul(y, other);
    register_hook(out, [&](const Tensor&) {
        GraphTask* task = current_graph_task();
        seen = {task->will_execute(grad_fn(y).get()), task->will_execute(grad_fn(other).get())};
        return Tensor();
    });
    autograd::grad({out}, {x});
    CHECK(seen == std::vector<bool>{true, false});
    CHECK(current_graph_task() == nullptr);
}

TEST_CASE("acceptance B29: grad through a write to a view") {
    Tensor x = leaf({1, 2});
    Tensor base = ops::mul(x, 1);
    ops::mul_(ops::select(base, 0, 0), 5);
    CHECK(grad_fn(base)->name() == "torch::autograd::CopySlices");
    TensorList grads = autograd::grad({ops::sum(base)}, {x});
    CHECK(at(grads[0], 0) == 5);
    CHECK(at(grads[0], 1) == 1);
}

TEST_CASE("acceptance B34, B35: fields and gradient edges") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, 2);
    CHECK(is_leaf(x));
    CHECK_FALSE(is_leaf(y));
    CHECK(requires_grad(y));
    CHECK(output_nr(y) == 0);
    CHECK(gradient_edge(x) == Edge(accumulator_of(x), 0));
    CHECK_FALSE(gradient_edge(constant(1)).is_valid());
    Tensor z = constant(1);
    set_gradient_edge(z, gradient_edge(y));
    CHECK(grad_fn(z) == grad_fn(y));
    CHECK(requires_grad(z));
}

TEST_CASE("acceptance B37, B38: a write rebases the history and bumps the version") {
    Tensor x = ops::mul(leaf({1}), 3);
    Ref<Node> old = grad_fn(x);
    uint32_t version = x.version();
    ops::mul_(x, 2);
    CHECK(x.version() == version + 1);
    CHECK(grad_fn(x)->name() == "MulBackward0");
    CHECK(grad_fn(x)->next_edges()[0].function == old);
    bump_version(x);
    CHECK(x.version() == version + 2);
}

TEST_CASE("acceptance B39: hooks in C++") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, 2);
    std::string order;
    register_hook(y, [&](const Tensor& g) { return order += "tensor ", ops::mul(g, 10); });
    register_pre_hook(*grad_fn(y),
                      [&](const TensorList& g) { return order += "pre ", TensorList{ops::mul(g[0], 10)}; });
    register_post_hook(*grad_fn(y), [&](const TensorList&, const TensorList& out) {
        order += "post " + std::to_string(static_cast<int>(at(out[0], 0)));
        return TensorList();
    });
    register_hook(x, [&](const Tensor& g) { return ops::add(g, 1); });
    autograd::backward({y});
    CHECK(order == "tensor pre post 100");
    CHECK(at(grad(x), 0) == 201);
    CHECK_THROWS_WITH_AS(register_hook(constant(1), [](const Tensor& g) { return g; }),
                         doctest::Contains("doesn't require gradient"), Error);
}

TEST_CASE("acceptance C1, C2: set_history sets edge, number, metadata and leaves integers alone") {
    Tensor x = leaf({1});
    auto node = make_node<TimesTen>();
    node->set_next_edges(collect_next_edges(x));
    Tensor first = constant(1, 2), second = constant(1, 3);
    Tensor integers = full(Dims{2}, 1, DType::Int64);
    set_history(first, node);
    set_history(second, node);
    set_history(integers, node);
    CHECK(grad_fn(second).get() == node.get());
    CHECK(output_nr(first) == 0);
    CHECK(output_nr(second) == 1);
    CHECK(node->input_metadata()[1].sizes == Dims{3});
    CHECK_FALSE(requires_grad(integers));
    CHECK(node->num_inputs() == 3);
    CHECK(node->next_edges()[0].function == accumulator_of(x));
}

TEST_CASE("acceptance C6: GraphRoot returns the stored gradients") {
    GraphRoot root({Edge(), Edge()}, {constant(5), constant(7)});
    TensorList out = root.apply({});
    CHECK(at(out[1], 0) == 7);
    CHECK(root.name() == "torch::autograd::GraphRoot");
}

TEST_CASE("acceptance C7: an Error node raises, before other work") {
    Tensor x = leaf({1}), bad = constant(1);
    auto counted = make_node<TimesTen>();
    counted->set_next_edges({gradient_edge(x)});
    Tensor good = constant(1);
    set_history(bad, Ref<Node>::adopt(new ErrorNode("my message")));
    set_history(good, counted);
    CHECK_THROWS_WITH_AS(autograd::backward({ops::add(good, bad)}), doctest::Contains("my message"), Error);
    CHECK(counted->runs == 0);
    CHECK(ErrorNode("").sequence_nr() == UINT64_MAX);
}

TEST_CASE("acceptance E8: a custom function in C++") {
    Tensor x = leaf({2, 3});
    Tensor y = Square::apply(x, 5.0);
    CHECK(at(y, 1) == 45);
    CHECK(grad_fn(y)->name() == "SquareBackward");
    TensorList first = autograd::grad({ops::sum(y)}, {x}, {}, std::nullopt, true);
    CHECK(at(first[0], 1) == 30);
    CHECK(at(autograd::grad({ops::sum(first[0])}, {x})[0], 0) == 10);
    CHECK_FALSE(requires_grad(Square::apply(constant(1), 5.0)));

    autograd::backward({ops::sum(Square::apply(x, 1.0))});
    Tensor z = Square::apply(x, 1.0);
    autograd::backward({ops::sum(z)});
    CHECK(at(grad(x), 0) == 8);
    CHECK_THROWS_WITH_AS(autograd::backward({ops::sum(z)}), doctest::Contains("second time"), Error);
    CHECK_THROWS_WITH_AS(autograd::backward({ops::sum(Wrong::apply(x, leaf({1, 1})))}),
                         doctest::Contains("incorrect number of gradients (expected 2, got 1)"), Error);
}

TEST_CASE("acceptance E10: the context of a C++ function") {
    Tensor x = leaf({1}), y = leaf({1});
    TensorList out = Split::apply(x, y);
    CHECK(requires_grad(out[0]));
    CHECK_FALSE(requires_grad(out[1]));
    autograd::grad({out[0]}, {x});
    CHECK(Split::defined == std::vector<bool>{true, false});
    CHECK(Split::needed == std::vector<bool>{true, false});

    Tensor z = ops::mul(x, 1);
    CHECK(DoubleInPlace::apply(z).is_same(z));
    CHECK(grad_fn(z)->name() == "DoubleInPlaceBackward");
    autograd::backward({z});
    CHECK(at(grad(x), 0) == 2);
    CHECK_THROWS_WITH_AS(DoubleInPlace::apply(x), doctest::Contains("a leaf Variable that requires grad has been used"),
                         Error);
}

TEST_CASE("acceptance E11: tangents belong to a level and end with it") {
    int32_t level = enter_dual_level();
    Tensor x = constant(3);
    set_tangent(x, level, constant(2));
    CHECK(at(tangent_at(Square::apply(x, 1.0), level), 0) == 200);
    CHECK(at(tangent_at(ops::mul(x, x), level), 0) == 12);
    exit_dual_level(level);
    CHECK_FALSE(tangent_at(x, level).defined());
}
