// Several threads on what one graph and one tensor consist of. What a race does to the result is rarely seen here; the
// thread sanitizer sees it (`nox -s "sanitize_cpp(thread)"`).
#include <atomic>
#include <thread>

#include "base/memory/slab.h"
#include "graph/graph_gradients.h"
#include "graph/weak_reference.h"
#include "graph_fixtures.h"
#include "ops/hooks.h"
#include "tensor/storage.h"

using namespace wengert;

namespace {

template <class F>
void in_threads(int count, F&& f) {
    std::atomic<int> waiting{count};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            --waiting;
            while (waiting > 0) std::this_thread::yield();  // all begin together
            f(i);
        });
    for (std::thread& t : threads) t.join();
}

// Packs by keeping the tensor; may do something more.
struct Keeping : SavedVariableHooks {
    std::function<void()> also;
    Tensor kept;
    void pack(const Tensor& t) override {
        kept = t;
        if (also) also();
    }
    Tensor unpack() override { return kept; }
};

}  // namespace

TEST_CASE("threads: the weak reference of a tensor is one") {
    for (int round = 0; round < 50; ++round) {
        Tensor x = leaf({1, 2});
        std::shared_ptr<WeakTensor> found[4];
        in_threads(4, [&](int i) { found[i] = weak_of(x); });
        for (const auto& weak : found) CHECK(weak == found[0]);
        x.reset();
        CHECK_FALSE(found[0]->lock().defined());
    }
}

TEST_CASE("threads: gradients with a graph are noted once") {
    for (int round = 0; round < 20; ++round) {
        Tensor x = leaf({1, 2});
        in_threads(4, [&](int) { autograd::backward({ops::sum(ops::mul(x, x))}, {}, true, true); });
        auto count = [&] {
            int n = 0;
            for (const Tensor& t : tensors_with_graph_gradients()) n += t.is_same(x);
            return n;
        };
        CHECK(count() == 1);
        set_grad(x, Tensor());
        CHECK(count() == 0);
    }
}

TEST_CASE("threads: memory is counted while others allocate") {
    static std::atomic<int64_t> changes;
    changes = 0;
    std::atomic<bool> over{false};
    std::thread counter([&] {
        for (int i = 0; i < 2000 || changes == 0; ++i) {  // the others may have to wait for a processor
            memory_watch = [](int64_t change) noexcept { changes += change != 0; };
            inline_limit = 0;
            std::this_thread::yield();
            memory_watch = nullptr;
            inline_limit = kSlabLimit;
        }
        over = true;
    });
    std::atomic<int> wrong{0};
    in_threads(2, [&](int) {
        while (!over)
            for (int i = 0; i < 10; ++i) wrong += at(constant(i, 4), 3) != i;
    });
    counter.join();
    CHECK(wrong == 0);
    CHECK(changes > 0);
}

TEST_CASE("threads: the last tensors of a thread may go after its lists of blocks") {
    for (int round = 0; round < 20; ++round)
        in_threads(3, [](int i) {
            thread_local Tensor last;                         // made before anything else here
            Tensor y = ops::mul(leaf({1, 2, 3}), double(i));  // now there are lists
            last = y;
        });
    CHECK(at(constant(2), 0) == 2);
}

TEST_CASE("threads: a saved tensor is packed, unpacked and released at once") {
    for (int round = 0; round < 100; ++round) {
        SavedVariable saved(leaf({1, 2}), false);
        std::atomic<int> wrong{0};
        in_threads(4, [&](int i) {
            try {
                if (i == 0)
                    saved.register_hooks(std::make_unique<Keeping>());
                else if (i == 1)
                    saved.reset_data();
                else
                    wrong += at(saved.unpack(nullptr), 1) != 2;
            } catch (const Error&) {}
        });
        CHECK(wrong == 0);
        CHECK_THROWS_AS(saved.unpack(nullptr), Error);
    }
}

TEST_CASE("a saved tensor that its pack function releases stays released") {
    SavedVariable saved(leaf({1, 2}), false);
    auto hooks = std::make_unique<Keeping>();
    hooks->also = [&] { saved.reset_data(); };
    saved.register_hooks(std::move(hooks));
    CHECK_THROWS_WITH_AS(saved.unpack(nullptr), doctest::Contains("second time"), Error);
    CHECK_FALSE(saved.has_hooks());
}

TEST_CASE("threads: graphs made by one thread, run by another, dropped by a third") {
    TensorList leaves, results;
    for (int i = 0; i < 3; ++i) leaves.push_back(leaf({1, 2, 3}));
    results.resize(3);
    in_threads(3, [&](size_t i) {
        Tensor y = leaves[i];
        for (int step = 0; step < 50; ++step) y = ops::tanh(ops::mul(y, leaves[(i + 1) % 3]));
        results[i] = ops::sum(y);
    });
    in_threads(3, [&](size_t i) { autograd::backward({results[(i + 1) % 3]}); });
    in_threads(3, [&](size_t i) { results[(i + 2) % 3].reset(); });
    for (const Tensor& x : leaves) CHECK(grad(x).defined());
}

TEST_CASE("threads: gradients are kept and hooks come and go while passes run") {
    Tensor x = leaf({1, 2, 3});
    Tensor y = ops::mul(x, 2.0);
    Tensor z = ops::sum(ops::mul(y, y));
    in_threads(4, [&](int i) {
        for (int round = 0; round < 20; ++round) {
            if (i == 0) retain_grad(y);
            autograd::grad({z}, {x}, {}, true);
        }
    });
    CHECK(grad(y).defined());
}
