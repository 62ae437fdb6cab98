// Rows A1-A19 of the acceptance list, as far as C++ can show them: the architecture.
#include <doctest/doctest.h>

#include <thread>

#include "graph_fixtures.h"

using namespace wengert;

TEST_CASE("A1 C++ builds and differentiates a graph with no Python object alive") {
    Tensor x = leaf({1, 2, 3});
    Tensor y = ops::sum(ops::mul(ops::exp(x), x));
    autograd::backward({y});
    CHECK(at(grad(x), 1) == doctest::Approx(std::exp(2.0) * 3));
    CHECK(x.impl()->pyobj == nullptr);
    CHECK(grad_fn(y)->pyobj == nullptr);
}

TEST_CASE("A2 Variable and Tensor are the same type, with grad_fn, grad, requires_grad and version") {
    static_assert(std::is_same_v<autograd::Variable, Tensor>);
    autograd::Variable x = leaf({1});
    CHECK(requires_grad(x));
    CHECK_FALSE(grad_fn(x));
    CHECK_FALSE(grad(x).defined());
    CHECK(x.version() == 0);
}

TEST_CASE("A4 the accessors of one tensor agree, through every handle") {
    Tensor x = leaf({1, 2});
    Tensor y = ops::mul(x, 2.0), same = y;
    CHECK(is_leaf(x));
    CHECK_FALSE(is_leaf(y));
    CHECK(grad_fn(same) == grad_fn(y));
    CHECK(output_nr(same) == 0);
    ops::add_(same, 1.0);
    CHECK(y.version() == same.version());
}

TEST_CASE("A5 a subclass of Node is run by the engine") {
    Tensor x = leaf({2});
    auto node = make_node<Counting>();
    Tensor y = result_of(node, {gradient_edge(x)});
    autograd::backward({y}, {constant(5)});
    CHECK(node->runs == 1);
    CHECK(at(grad(x), 0) == 5);
}

TEST_CASE("A11 Engine::execute computes gradients or accumulates") {
    Engine& engine = Engine::get_default_engine();
    Tensor x = leaf({3});
    Tensor y = ops::mul(x, x);
    TensorList got = engine.execute({gradient_edge(y)}, {constant(1)}, true, false, false, {gradient_edge(x)});
    REQUIRE(got.size() == 1);
    CHECK(at(got[0], 0) == 6);
    CHECK_FALSE(grad(x).defined());
    CHECK(engine.execute({gradient_edge(y)}, {constant(1)}, false, false, true).empty());
    CHECK(at(grad(x), 0) == 6);
}

TEST_CASE("A12 a root gradient of the wrong shape is an error before any node runs") {
    Tensor x = leaf({1, 2});
    auto node = make_node<Counting>();
    node->set_next_edges({gradient_edge(x)});
    Tensor y = constant(1, 2);
    set_history(y, node);
    CHECK_THROWS_WITH_AS(autograd::backward({y}, {constant(1, 3)}), doctest::Contains("Mismatch in shape"), Error);
    CHECK(node->runs == 0);
}

TEST_CASE("A13 backward with create_graph warns once of the reference cycle; grad does not") {
    static std::vector<std::string> warnings;
    warnings.clear();
    WarningHandler before = set_warning_handler([](WarningKind, const std::string& text) { warnings.push_back(text); });
    Tensor x = leaf({2});
    autograd::grad({ops::mul(x, x)}, {x}, {}, true, true);
    CHECK(warnings.empty());
    for (int i = 0; i < 2; ++i) autograd::backward({ops::mul(x, x)}, {}, true, true);
    set_warning_handler(before);
    REQUIRE(warnings.size() <= 1);  // another test may have been first
    if (!warnings.empty()) CHECK(warnings[0].find("reference cycle") != std::string::npos);
}

TEST_CASE("A14 free functions backward and grad, with all their arguments") {
    Tensor x = leaf({2}), z = leaf({5});
    Tensor y = ops::mul(ops::mul(x, x), z);
    autograd::backward({y}, {}, true, false, {x});
    CHECK(at(grad(x), 0) == 20);
    CHECK_FALSE(grad(z).defined());
    Tensor unused = leaf({1});
    CHECK_THROWS_WITH_AS(autograd::grad({y}, {unused}, {}, true), doctest::Contains("allow_unused"), Error);
    TensorList got = autograd::grad({y}, {z, unused}, {constant(3)}, false, false, true);
    CHECK(at(got[0], 0) == 12);
    CHECK_FALSE(got[1].defined());
}

TEST_CASE("A16 nothing is recorded under NoGradGuard") {
    Tensor x = leaf({1});
    {
        NoGradGuard no_grad;
        CHECK_FALSE(requires_grad(ops::mul(x, 2.0)));
    }
    CHECK(requires_grad(ops::mul(x, 2.0)));
}

TEST_CASE("A19 B27 each pass has its number; outside there is none") {
    CHECK(get_current_graph_task() == nullptr);
    std::vector<uint64_t> ids;
    Tensor x = leaf({1});
    add_hook(x, [&](const Tensor&) { ids.push_back(get_current_graph_task()->id); });
    for (int i = 0; i < 2; ++i) autograd::backward({ops::mul(x, 2.0)});
    REQUIRE(ids.size() == 2);
    CHECK(ids[1] > ids[0]);
    CHECK(get_current_graph_task() == nullptr);
}
