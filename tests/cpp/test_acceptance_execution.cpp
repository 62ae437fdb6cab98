// Rows D1-D9 of the acceptance list: engine, queue, nesting.
#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "base/threads/worker_threads.h"
#include "graph_fixtures.h"

using namespace wengert;

namespace {

// Runs a pass within its pass, `levels` deep.
struct Nested final : Node {
    Nested(int levels, std::vector<std::thread::id>* threads) : levels(levels), threads(threads) {}
    int levels;
    std::vector<std::thread::id>* threads;
    TensorList apply(TensorList&& grads) override {
        threads->push_back(std::this_thread::get_id());
        if (levels > 0) {
            Tensor x = leaf({1}), y = constant(1);
            Ref<Node> node = Ref<Node>::adopt(new Nested(levels - 1, threads));
            node->set_next_edges({gradient_edge(x)});
            set_history(y, node);
            autograd::backward({y});
        }
        return {grads[0]};
    }
    std::string name() const override { return "Nested"; }
};

void run_nested(int levels, std::vector<std::thread::id>* threads) {
    Tensor x = leaf({1}), y = constant(1);
    Ref<Node> node = Ref<Node>::adopt(new Nested(levels, threads));
    node->set_next_edges({gradient_edge(x)});
    set_history(y, node);
    autograd::backward({y});
}

}  // namespace

TEST_CASE("D1 D2 one engine a process") { CHECK(&Engine::get_default_engine() == &Engine::get_default_engine()); }

TEST_CASE("D3 passes nested too deeply continue on pool threads, which are used again") {
    std::vector<std::thread::id> threads;
    run_nested(200, &threads);
    REQUIRE(threads.size() == 201);
    CHECK(threads[0] == std::this_thread::get_id());
    CHECK(threads[60] == threads[0]);
    CHECK(threads[61] != threads[0]);
    CHECK(threads[121] == threads[61]);
    CHECK(std::set(threads.begin(), threads.end()).size() == 4);
    const size_t started = worker_threads_started();
    for (int i = 0; i < 20; ++i) run_nested(200, &threads);
    CHECK(worker_threads_started() == started);
}

TEST_CASE("D4 D5 the ready queue: later operations first, and before all what has no turn of its own") {
    std::vector<Ref<Counting>> nodes;
    for (int i = 0; i < 4; ++i) nodes.push_back(make_node<Counting>());
    ReadyQueue queue;
    CHECK(queue.empty());
    for (size_t i : {2, 0, 3, 1}) queue.push(nodes[i].get());
    Tensor x = leaf({1});
    const Edge accumulator = gradient_edge(x);  // which keeps it: the tensor does not
    queue.push(accumulator.function.get());
    CHECK(queue.size() == 5);
    CHECK(queue.pop() == accumulator.function.get());
    for (size_t i : {3, 2, 1, 0}) CHECK(queue.pop() == nodes[i].get());
    CHECK(queue.empty());
}

TEST_CASE("D5 a nested pass is over before the outer one goes on") {
    Tensor x = leaf({1}), z = leaf({1});
    std::vector<Counting*> turns;
    auto early = make_node<Counting>(), inner = make_node<Counting>(), late = make_node<Counting>();
    early->turns = inner->turns = late->turns = &turns;
    Tensor a = result_of(early, {gradient_edge(x)}), b = result_of(late, {gradient_edge(x)});
    add_post_hook(*late, std::make_shared<LambdaPostHook>([&](TensorList&, const TensorList&) {
        autograd::backward({result_of(inner, {gradient_edge(z)})});
    }));
    autograd::backward({ops::add(a, b)});
    CHECK(turns == std::vector<Counting*>{late.get(), inner.get(), early.get()});
}

TEST_CASE("D6 an error stops the pass, drops its other nodes and leaves the rest of the graph usable") {
    Tensor x = leaf({1});
    auto survivor = make_node<Counting>();
    Tensor a = result_of(survivor, {gradient_edge(x)});
    Tensor bad = constant(1);
    set_history(bad, Ref<Node>::adopt(new ErrorNode("broken", collect_next_edges(a))));
    CHECK_THROWS_AS(autograd::backward({ops::add(a, bad)}), Error);
    CHECK(survivor->runs == 0);
    CHECK(get_current_graph_task() == nullptr);
    CHECK(Engine::get_default_engine().is_checkpoint_valid());
    autograd::backward({a});
    CHECK(survivor->runs == 1);
}

TEST_CASE("D6 errors come back from pool threads with their type") {
    struct Failing final : Node {
        int levels;
        explicit Failing(int levels) : levels(levels) {}
        TensorList apply(TensorList&&) override {
            if (levels == 0) fail(ErrorKind::Index, "at the bottom");
            Tensor x = leaf({1}), y = constant(1);
            Ref<Node> node = Ref<Node>::adopt(new Failing(levels - 1));
            node->set_next_edges({gradient_edge(x)});
            set_history(y, node);
            autograd::backward({y});
            return {};
        }
        std::string name() const override { return "Failing"; }
    };
    Tensor y = constant(1);
    set_history(y, Ref<Node>::adopt(new Failing(130)));
    try {
        autograd::backward({y});
        FAIL("no error");
    } catch (const Error& e) {
        CHECK(e.kind() == ErrorKind::Index);
    }
}

TEST_CASE("D7 thread-local state goes along to pool threads") {
    struct Looking final : Node {
        int levels;
        std::vector<bool>* seen;
        Looking(int levels, std::vector<bool>* seen) : levels(levels), seen(seen) {}
        TensorList apply(TensorList&& grads) override {
            seen->push_back(state.view_replay && !GradMode::is_forward_enabled() && !GradMode::is_enabled());
            if (levels > 0) {
                Tensor x = leaf({1}), y = constant(1);
                Ref<Node> node = Ref<Node>::adopt(new Looking(levels - 1, seen));
                node->set_next_edges({gradient_edge(x)});
                set_history(y, node);
                autograd::backward({y});
            }
            return {grads[0]};
        }
        std::string name() const override { return "Looking"; }
    };
    std::vector<bool> seen;
    Tensor x = leaf({1}), y = constant(1);
    Ref<Node> node = Ref<Node>::adopt(new Looking(100, &seen));
    node->set_next_edges({gradient_edge(x)});
    set_history(y, node);
    {
        AutoForwardGradMode off(false);
        state.view_replay = true;
        autograd::backward({y});
        state.view_replay = false;
    }
    CHECK(seen == std::vector<bool>(101, true));
}

TEST_CASE("D7 several threads run independent passes, and passes to one leaf") {
    Tensor shared = leaf({0, 0});
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                Tensor own = leaf({2, 3});
                autograd::backward({ops::sum(ops::add(ops::mul(own, own), shared))});
                right += at(grad(own), 0) == 4 && at(grad(own), 1) == 6;
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(right == 800);
    CHECK(at(grad(shared), 0) == 800);
}

TEST_CASE("D7 several threads run through one graph") {
    Tensor x = leaf({1, 2});
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = ops::tanh(ops::mul(y, 1.1));
    y = ops::sum(y);
    Tensor expected = autograd::grad({y}, {x}, {}, true)[0];
    std::vector<std::thread> threads;
    std::atomic<int> right = 0, refused = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) right += at(autograd::grad({y}, {x}, {}, true)[0], 1) == at(expected, 1);
        });
    for (std::thread& t : threads) t.join();
    CHECK(right == 200);
    threads.clear();
    right = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            try {
                right += at(autograd::grad({y}, {x})[0], 1) == at(expected, 1);
            } catch (const Error& e) {
                refused += std::string(e.what()).find("Specify retain_graph=True") != std::string::npos;
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(right >= 1);
    CHECK(right + refused == 4);
}

TEST_CASE("D9 the number of threads") {
    const int at_first = num_threads();  // one for each processor, or as the environment says
    CHECK(at_first >= 1);
    set_num_threads(3);
    CHECK(num_threads() == 3);
    CHECK_THROWS_AS(set_num_threads(0), Error);
    set_num_threads(at_first);
}
