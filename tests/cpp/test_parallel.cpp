// Passes on several threads: the same bits as on one, errors, nesting, what is not worth it.
#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "base/threads/worker_threads.h"
#include "engine/plan.h"
#include "engine/traverse.h"
#include "graph_fixtures.h"

using namespace wengert;

namespace {

struct Threads {
    explicit Threads(int n) : before(num_threads()) { set_num_threads(n); }
    ~Threads() { set_num_threads(before); }
    const int before;
};

Tensor filled(IntSpan sizes, double seed) {
    Tensor t = empty(sizes, DType::Float64);
    for (int64_t i = 0; i < t.numel(); ++i) t.data_as<double>()[i] = std::sin(seed + 0.37 * static_cast<double>(i));
    return t;
}

Tensor filled_leaf(IntSpan sizes, double seed) {
    Tensor t = filled(sizes, seed);
    set_requires_grad(t, true);
    return t;
}

struct Wide {
    TensorList leaves;
    Tensor result;
};

// `chains` ways of `length` steps from one leaf to one result; each step has a parameter that others use too.
Wide wide_graph(int chains, int length, int64_t n = 192) {
    Wide g;
    for (int i = 0; i < 4; ++i) g.leaves.push_back(filled_leaf(Dims{n, n}, i));
    for (int c = 0; c < chains; ++c) {
        Tensor y = g.leaves[0];
        for (int i = 0; i < length; ++i) {
            y = ops::tanh(ops::mul(y, g.leaves[1 + (c + i) % 3]));
            if (i % 3 == c % 3) y = ops::add(ops::transpose(y, 0, 1), g.leaves[0]);
        }
        g.result = g.result.defined() ? ops::add(g.result, y) : y;
    }
    g.result = ops::sum(ops::mul(g.result, filled(Dims{n, n}, 9)));
    return g;
}

bool same_bits(const Tensor& a, const Tensor& b) {
    return a.numel() == b.numel() && a.strides() == b.strides() &&
           std::memcmp(a.data(), b.data(), static_cast<size_t>(a.numel()) * 8) == 0;
}

}  // namespace

TEST_CASE("parallel: the gradients have the bits of one thread") {
    Wide g = wide_graph(8, 6);
    TensorList expected = autograd::grad({g.result}, g.leaves, {}, true);
    Threads two(3);
    size_t started = worker_threads_started();
    for (int repeat = 0; repeat < 10; ++repeat) {
        TensorList got = autograd::grad({g.result}, g.leaves, {}, true);
        for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
    }
    CHECK(worker_threads_started() <= started + 2);
}

TEST_CASE("parallel: backward accumulates the same bits") {
    Wide g = wide_graph(6, 5);
    autograd::backward({g.result}, {}, true);
    TensorList expected;
    for (const Tensor& t : g.leaves) {
        expected.push_back(grad(t));
        set_grad(t, Tensor());
    }
    Threads two(2);
    autograd::backward({g.result});
    for (size_t i = 0; i < g.leaves.size(); ++i) CHECK(same_bits(grad(g.leaves[i]), expected[i]));
}

TEST_CASE("parallel: second derivatives have the bits of one thread, whoever recorded the first") {
    Wide g = wide_graph(5, 3, 128);
    auto second = [&] {
        TensorList first = autograd::grad({g.result}, g.leaves, {}, true, true);
        Tensor sum = ops::sum(ops::mul(first[0], first[1]));
        return autograd::grad({sum}, g.leaves, {}, true);
    };
    TensorList expected = second();
    Threads three(3);
    for (int repeat = 0; repeat < 5; ++repeat) {
        TensorList got = second();
        for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
    }
}

TEST_CASE("parallel: x[i] writes its gradients into one buffer in one order") {
    Tensor x = filled_leaf(Dims{64, 4096}, 1);
    Tensor y;
    for (int i = 0; i < 64; ++i) {
        Tensor row = ops::tanh(ops::select(x, 0, i / 2));
        y = y.defined() ? ops::add(y, row) : row;
    }
    y = ops::sum(ops::mul(y, filled(Dims{4096}, 2)));
    Tensor expected = autograd::grad({y}, {x}, {}, true)[0];
    Threads two(2);
    CHECK(same_bits(autograd::grad({y}, {x}, {}, true)[0], expected));
}

TEST_CASE("parallel: small passes and chains start no thread") {
    Threads four(4);
    size_t started = worker_threads_started();
    Tensor x = leaf({1, 2, 3});
    Tensor y = ops::exp(x);
    for (int i = 0; i < 50; ++i) y = ops::add(ops::sin(y), ops::cos(y));
    autograd::backward({ops::sum(y)});
    Tensor big = filled_leaf(Dims{512, 512}, 0), z = big;
    for (int i = 0; i < 10; ++i) z = ops::tanh(z);
    autograd::backward({ops::sum(z)});
    CHECK(worker_threads_started() == started);
}

TEST_CASE("parallel: the first error comes back, the graph stays usable") {
    Wide g = wide_graph(6, 4);
    Tensor bad = ops::mul(g.result, 1.0);
    Tensor broken = constant(1, 1);
    broken = full(Dims{}, 1.0, DType::Float64);
    auto error = Ref<Node>::adopt(new ErrorNode("broken branch", collect_next_edges(g.result)));
    set_history(broken, error);
    error->set_sequence_nr(0);  // in the middle of things
    Threads two(2);
    CHECK_THROWS_WITH_AS(autograd::backward({ops::add(bad, broken)}, {}, true), doctest::Contains("broken branch"),
                         Error);
    CHECK_NOTHROW(autograd::backward({g.result}));
}

TEST_CASE("parallel: a pass within a parallel pass runs in place") {
    Wide g = wide_graph(6, 3), inner = wide_graph(4, 3);
    Tensor y = ops::mul(g.result, 1.0);
    Tensor expected = autograd::grad({inner.result}, {inner.leaves[0]}, {}, true)[0];
    std::atomic<int> right = 0;
    add_hook(g.leaves[1], [&](const Tensor&) {
        right += same_bits(autograd::grad({inner.result}, {inner.leaves[0]}, {}, true)[0], expected);
    });
    Threads two(2);
    autograd::backward({y});
    CHECK(right == 1);
}

TEST_CASE("parallel: several callers at once") {
    Wide g = wide_graph(6, 4, 128);
    TensorList expected = autograd::grad({g.result}, g.leaves, {}, true);
    Threads two(2);
    std::vector<std::thread> callers;
    std::atomic<int> right = 0;
    for (int t = 0; t < 3; ++t)
        callers.emplace_back([&] {
            for (int i = 0; i < 5; ++i) {
                TensorList got = autograd::grad({g.result}, g.leaves, {}, true);
                right += same_bits(got[0], expected[0]) && same_bits(got[3], expected[3]);
            }
        });
    for (std::thread& t : callers) t.join();
    CHECK(right == 15);
}

TEST_CASE("parallel: a plan knows the order of one thread and what threads can gain") {
    Wide g = wide_graph(8, 4);
    GraphTask task(true, false, false);
    task.roots.push_back(gradient_edge(g.result));
    count_dependencies(task, grad_fn(g.result).get(), {}, true, true);
    CHECK(3 * task.elements > kLeastElements);
    Plan plan = make_plan(task);
    CHECK(plan.is_worthwhile());
    CHECK(plan.steps.size() == task.outstanding);
    std::vector<Node*> order(plan.steps.size());
    for (const Plan::Step& step : plan.steps) order[step.rank] = step.node;
    CHECK(order == predict_order(task, grad_fn(g.result).get()));
    CHECK(plan.longest_path < plan.elements / 2);
}
