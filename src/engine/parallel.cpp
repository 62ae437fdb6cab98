#include "engine/parallel.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <optional>

#include "base/threads/parallel_for.h"
#include "base/threads/thread_end.h"
#include "base/threads/worker_threads.h"
#include "engine/evaluate.h"
#include "engine/input_buffer.h"
#include "engine/other_thread.h"
#include "graph/grad_mode.h"
#include "kernels/linalg/blas_threads.h"

namespace wengert {
namespace {

// Sequence numbers: each node of the pass may record that many, and the sums of its gradients that many.
constexpr uint64_t kNumbersPerNode = uint64_t{1} << 20;

// A gradient on its way into a sum.
struct Arrival {
    uint32_t place;  // how many come before it
    uint32_t input_nr;
    Tensor grad;
    Ref<Node> part_of;  // of a node that adds its gradient itself (Node::scatters), else null
    uint64_t sequence_nr;
};

// A node of the plan while threads run it.
struct Site {
    std::mutex mutex;
    bool summing = false;  // by some thread; others leave their gradient in `waiting`
    uint32_t summed = 0;
    SmallVector<Arrival, 1> waiting;
};

class ParallelPass {
public:
    ParallelPass(GraphTask& task, Plan plan)
        : task_(task), plan_(std::move(plan)), sites_(new Site[plan_.steps.size()]), first_number_(state.sequence_nr) {}

    // On the caller's thread.
    void run(const std::shared_ptr<ParallelPass>& self, int helpers) {
        ++workers_;      // first, or a helper might find everybody idle
        Ready first{0};  // nothing fails between the start of the helpers and their end
        std::vector<std::shared_ptr<WorkerJob>> jobs;
        jobs.reserve(static_cast<size_t>(helpers));
        for (int i = 0; i < helpers; ++i) try {
                jobs.push_back(run_on_worker([self] { self->help(); }, [self] { self->leave(); }));
            } catch (const std::exception&) {
                break;  // no more threads to be had, or no memory for them
            }
        work(std::move(first));
        // Those who have not begun need not come any more. All others have left, and are idle, when this returns: the next
        // pass needs no further threads.
        for (const auto& job : jobs)
            if (withdraw(*job)) leave();
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return left_ == jobs.size(); });
        }
        for (const Plan::Step& step : plan_.steps) task_.unclaim(step.node);
        sites_.reset();
        plan_ = {};
        state.sequence_nr = first_number_ + (steps_ + 1) * kNumbersPerNode;
        std::exception_ptr error = std::exchange(error_, nullptr);
        if (error) std::rethrow_exception(error);
    }

    DelayedWarnings warnings;

private:
    using Ready = std::vector<uint32_t>;  // places in the plan; a heap, the lowest rank first

    void help() {
        if (!join()) return;
        try {
            Inherited::Scope scope(inherited_, warnings);
            NestedPass nested;
            AutoGradMode mode(task_.create_graph);
            work({});
        } catch (...) {
            sleep_if_thread_ends();
            stop(std::current_exception());
        }
    }

    // Idle from the beginning: it has no node.
    bool join() {
        std::lock_guard lock(mutex_);
        if (over_) return false;
        ++workers_;
        ++idle_;
        return true;
    }

    void leave() {
        std::lock_guard lock(mutex_);
        ++left_;
        changed_.notify_all();  // under the lock: the caller may end the pass as soon as it is released
    }

    // One thread of several that run nodes: its kernels use no others.
    struct AmongOthers {
        OneThread kernels;
        kernels::OneBlasThread blas;
    };

    void work(Ready mine) {
        std::optional<AmongOthers> restricted;
        bool idle = mine.empty();
        uint32_t at;
        while (take(mine, idle, &at)) {
            try {
                if (mine.empty() && !others_run())
                    restricted.reset();
                else if (!restricted)
                    restricted.emplace();
                step(at, mine);
                if (idle_.load(std::memory_order_relaxed) > 0 && mine.size() > 1) share(mine);
            } catch (...) {
                sleep_if_thread_ends();
                stop(std::current_exception());
            }
        }
    }

    // If nobody else has a node, nobody will before the caller has finished its only one.
    bool others_run() {
        std::lock_guard lock(mutex_);
        return idle_ < workers_ - 1 || !shared_.empty();
    }

    bool later(uint32_t a, uint32_t b) const { return plan_.steps[a].rank > plan_.steps[b].rank; }
    void push(Ready& ready, uint32_t at) const {
        ready.push_back(at);
        std::ranges::push_heap(ready, [this](uint32_t a, uint32_t b) { return later(a, b); });
    }
    uint32_t pop(Ready& ready) const {
        std::ranges::pop_heap(ready, [this](uint32_t a, uint32_t b) { return later(a, b); });
        uint32_t at = ready.back();
        ready.pop_back();
        return at;
    }

    bool take(Ready& mine, bool& idle, uint32_t* at) {
        if (over_.load(std::memory_order_relaxed)) return false;
        if (!mine.empty()) {
            *at = pop(mine);
            return true;
        }
        std::unique_lock lock(mutex_);
        if (!std::exchange(idle, true)) ++idle_;
        if (idle_ == workers_ && shared_.empty()) {  // nobody is left who could make a node ready
            over_ = true;
            changed_.notify_all();
        }
        changed_.wait(lock, [&] { return over_ || !shared_.empty(); });
        if (over_) return false;
        --idle_;
        idle = false;
        *at = pop(shared_);
        return true;
    }

    // Gives away what one thread would run last, if it leads anywhere.
    void share(Ready& mine) {
        auto leads_on = [&](uint32_t at) { return plan_.steps[at].node->num_outputs() > 0; };
        uint32_t* last = nullptr;
        size_t choices = 0;
        for (uint32_t& at : mine) {
            if (!leads_on(at)) continue;
            ++choices;
            if (!last || later(at, *last)) last = &at;
        }
        if (choices < 2) return;
        uint32_t given = *last;
        *last = mine.back();
        mine.pop_back();
        std::ranges::make_heap(mine, [this](uint32_t a, uint32_t b) { return later(a, b); });
        std::lock_guard lock(mutex_);
        push(shared_, given);
        changed_.notify_one();
    }

    void stop(std::exception_ptr error) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        over_ = true;
        changed_.notify_all();
    }

    void step(uint32_t at, Ready& mine) {
        const Plan::Step& step = plan_.steps[at];
        Node* node = step.node;
        uint64_t number = first_number_ + step.rank * kNumbersPerNode;
        state.sequence_nr = number;
        TensorList grads = std::move(gradients_at(task_, node));
        if (!runs(task_, node)) return;
        const uint32_t* places = plan_.deliveries.data() + step.first_delivery;
        number += kNumbersPerNode / 2;
        if (const Edge* edge = edge_to_scatter(task_, node, grads)) {
            deliver(*edge, {places[0], edge->input_nr, std::move(grads[0]), Ref<Node>::share(node), number}, mine);
            return;
        }
        TensorList outputs = call_node(task_, node, std::move(grads));
        const EdgeList& edges = node->next_edges();
        for (size_t i = 0; i < edges.size(); ++i)
            if (places[i] != Plan::kNotDelivered)
                deliver(edges[i], {places[i], edges[i].input_nr, std::move(outputs[i]), nullptr, number}, mine);
    }

    void deliver(const Edge& edge, Arrival arrival, Ready& mine) {
        Node* target = edge.function.get();
        uint32_t at = task_.state_of(target).step - 1;
        Site& site = sites_[at];
        std::unique_lock lock(site.mutex);
        site.waiting.push_back(std::move(arrival));
        if (site.summing) return;
        site.summing = true;
        for (;;) {
            auto next = std::ranges::find(site.waiting, site.summed, &Arrival::place);
            if (next == site.waiting.end()) break;
            Arrival one = std::move(*next);
            site.waiting.erase(static_cast<size_t>(next - site.waiting.begin()));
            lock.unlock();
            add(target, std::move(one));
            lock.lock();
            ++site.summed;
        }
        site.summing = false;
        if (site.summed == plan_.steps[at].arrivals) push(mine, at);
    }

    void add(Node* target, Arrival one) {
        TensorList& buffer = task_.state_of(target).buffer;
        if (buffer.empty()) buffer.resize(target->num_inputs());
        state.sequence_nr = one.sequence_nr;
        if (!one.part_of) {
            InputBuffer(buffer, target).add(one.input_nr, std::move(one.grad));
            return;
        }
        InputBuffer(buffer).add_part(one.input_nr, target->input_metadata()[one.input_nr], *one.part_of, one.grad);
        if (!task_.keep_graph) one.part_of->release_variables();
    }

    GraphTask& task_;
    Plan plan_;
    const uint64_t steps_ = plan_.steps.size();
    std::unique_ptr<Site[]> sites_;
    const Inherited inherited_;
    const uint64_t first_number_;

    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    Ready shared_;
    int workers_ = 0;  // that have begun
    size_t left_ = 0;  // helpers that have, or will never come
    std::atomic<int> idle_ = 0;
    std::atomic<bool> over_ = false;
    std::exception_ptr error_;
};

}  // namespace

// Who watches operations is told of them one after the other, and need not be safe against several threads.
bool may_run_parallel() noexcept {
    bool watched = state.watch & (kWatchObservers | kWatchModes);
    return is_num_threads_set() && may_use_threads() && state.multithreading && !watched;
}

bool try_run_parallel(const EngineHooks& hooks, GraphTask& task) {
    // The plan of a big graph takes time as well. What goes in and what comes out is about three times what goes in.
    uint64_t elements = 3 * task.elements;
    if (elements < kLeastElements || elements < kLeastPerNode * task.outstanding || !task.owns_all_nodes())
        return false;
    Plan plan = make_plan(task);
    if (!plan.is_worthwhile()) return false;
    auto pass = std::make_shared<ParallelPass>(task, std::move(plan));
    std::exception_ptr error;
    try {
        run_blocking(hooks, [&] { pass->run(pass, num_threads() - 1); });
    } catch (...) {
        sleep_if_thread_ends();
        error = std::current_exception();
    }
    try {
        pass->warnings.replay();
    } catch (...) {
        if (!error) throw;
    }
    if (error) std::rethrow_exception(error);
    return true;
}

}  // namespace wengert
