#include "engine/devices/device_pass.h"

#include <algorithm>
#include <thread>

#include "base/threads/thread_end.h"
#include "engine/devices/device_threads.h"
#include "engine/evaluate.h"
#include "engine/input_buffer.h"
#include "engine/parallel.h"
#include "graph/grad_mode.h"

namespace wengert {
namespace {

bool has_streams(const Tensor& t) {
    if (!is_off_host(t)) return false;
    const Backend* backend = find_backend(t.device().type);
    return backend && backend->has_streams();
}

std::optional<Stream> on_device(const std::optional<Stream>& stream, Device device) {
    return stream && stream->device == device ? stream : std::nullopt;
}

// The stream on which this thread, at work for a node, has made a gradient; none of one without streams.
std::optional<Stream> made_on(const Tensor& grad, const std::optional<Stream>& node) {
    if (!grad.defined() || !has_streams(grad)) return std::nullopt;
    const Device device = grad.device();
    return on_device(node, device).value_or(backend_of(device).current_stream(device));
}

void wait(Stream waiting, Stream made, const Event& event) {
    if (waiting == made) return;
    Backend& backend = backend_of(made.device);
    backend.wait_event(waiting, event ? event : backend.record_event(made));
}

}  // namespace

DevicePass::DevicePass(GraphTask& task, bool on_several_threads)
    : task_(task),
      threads_(on_several_threads),
      owner_(std::this_thread::get_id()),
      depth_(nesting.total),
      home_(on_several_threads && queue_of_this_thread() ? *queue_of_this_thread() : own_queue_),
      sequence_nr_(state.sequence_nr) {}

void DevicePass::run(TensorList root_gradients) {
    const Edge& root = task_.roots[0];
    Node* node = root.function.get();
    {
        const std::lock_guard lock(mutex_);
        pending_ = 1;  // this
    }
    Site& site = sites_[node];
    for (size_t i = 0; i < root_gradients.size(); ++i)
        if (root_gradients[i].defined()) {
            const std::optional<Stream> made = made_on(root_gradients[i], {});
            add(node, site, {static_cast<uint32_t>(i), std::move(root_gradients[i]), made});
        }
    push(node);
    finish_one();
    ThreadLocals::Pass undone;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (pending_ == 0) break;
        }
        const ReadyNode ready = home_.pop();
        if (ready.node) ready.pass->run(ready);
        undone.undo();
    }
    state.sequence_nr = std::max(state.sequence_nr, sequence_nr_);
    sites_.clear();  // what an error left ends here, not with whoever is the last to hold the pass
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    join_leaf_streams();
}

void DevicePass::run(const ReadyNode& ready) {
    bool stopped;
    {
        const std::lock_guard lock(mutex_);
        stopped = static_cast<bool>(error_);
        state.sequence_nr = std::max(state.sequence_nr, sequence_nr_);
    }
    try {
        if (!stopped && std::this_thread::get_id() == owner_) {
            evaluate(ready.node);
        } else if (!stopped) {
            Inherited::Scope scope(inherited_, warnings);
            NestedPass nested;
            AutoGradMode mode(task_.create_graph);
            evaluate(ready.node);
        }
    } catch (...) {
        sleep_if_thread_ends();
        stop(std::current_exception());
    }
    finish_one();
}

void DevicePass::push(Node* node) {
    const std::optional<Stream> stream = threads_ ? node->stream() : std::nullopt;
    DeviceQueue& queue = stream ? device_queue(stream->device) : home_;
    {
        const std::lock_guard lock(mutex_);
        ++pending_;
    }
    try {
        queue.push({shared_from_this(), node, node->sequence_nr(), depth_});
    } catch (...) {
        const std::lock_guard lock(mutex_);
        --pending_;  // never the last: who pushes runs a node itself
        throw;
    }
}

void DevicePass::finish_one() {
    const std::lock_guard lock(mutex_);
    sequence_nr_ = std::max(sequence_nr_, state.sequence_nr);
    if (--pending_ == 0) home_.wake();  // under the lock: the owner may end the pass as soon as it is released
}

void DevicePass::stop(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
}

void DevicePass::evaluate(Node* node) {
    const std::optional<Stream> stream = node->stream();
    std::optional<StreamGuard> current;
    if (stream) current.emplace(*stream);
    Site site;
    EngineState* s;
    {
        const std::lock_guard lock(mutex_);
        s = &task_.state_of(node);
        if (auto found = sites_.find(node); found != sites_.end()) {
            site = std::move(found->second);
            sites_.erase(found);
        }
    }
    wait_for(site, s->buffer);
    if (s->captures) {
        hand_out(task_, *node, *s);
        for (const Tensor& t : s->buffer) note_leaf(t);
    }
    if (task_.selective && !s->needed) {
        const std::lock_guard lock(mutex_);
        task_.unclaim(node);
        return;
    }
    TensorList grads = std::move(s->buffer), kept;
    for (size_t i = 0; i < site.sums.size() && i < grads.size(); ++i)
        if (site.sums[i].shared) kept.push_back(grads[i]);  // so it looks as it is: not the node's alone
    if (node->num_outputs() == 0)
        for (const Tensor& t : grads) note_leaf(t);
    TensorList outputs = call_node(task_, node, std::move(grads));
    {
        const std::lock_guard lock(mutex_);
        task_.unclaim(node);
    }
    const EdgeList& edges = node->next_edges();
    SmallVector<bool, 4> shared;  // asked before the first is gone
    for (const Tensor& t : outputs)
        shared.push_back(t.defined() && (t.use_count() > 1 || t.storage()->use_count() > 1));
    for (size_t i = 0; i < edges.size(); ++i) {
        if (!edges[i].is_valid()) continue;
        const std::optional<Stream> made = made_on(outputs[i], stream);
        deliver(edges[i], {edges[i].input_nr, std::move(outputs[i]), made, shared[i]});
    }
}

void DevicePass::wait_for(const Site& site, const TensorList& grads) {
    for (size_t i = 0; i < site.sums.size() && i < grads.size(); ++i) {
        const Sum& sum = site.sums[i];
        if (!sum.stream || !grads[i].defined()) continue;
        Backend& backend = backend_of(sum.ready.device);
        const Stream here = backend.current_stream(sum.ready.device);
        if (here == sum.ready) continue;
        wait(here, sum.ready, sum.event);
        backend.record_stream(*grads[i].storage(), here);
    }
}

void DevicePass::deliver(const Edge& edge, Arrival arrival) {
    Node* target = edge.function.get();
    std::unique_lock lock(mutex_);
    if (task_.selective && !task_.wants(edge)) return;
    Site& site = sites_[target];  // stays where it is until the node runs
    site.waiting.push_back(std::move(arrival));
    if (site.summing) return;
    site.summing = true;
    bool complete = false;
    while (!site.waiting.empty()) {
        Arrival one = std::move(site.waiting[0]);
        site.waiting.erase(0);
        lock.unlock();
        add(target, site, std::move(one));
        lock.lock();
        complete = --task_.state_of(target).dependencies == 0;
    }
    site.summing = false;
    lock.unlock();
    if (complete) push(target);
}

void DevicePass::add(Node* target, Site& site, Arrival one) {
    if (!one.grad.defined()) return;
    TensorList& buffer = [&]() -> TensorList& {
        const std::lock_guard lock(mutex_);
        return task_.state_of(target).buffer;
    }();
    const size_t inputs = std::max<size_t>(target->num_inputs(), one.input_nr + 1);
    if (buffer.size() < inputs) buffer.resize(inputs);
    if (!one.made) return InputBuffer(buffer, target).add(one.input_nr, std::move(one.grad));
    if (site.sums.size() < inputs) site.sums.resize(inputs);
    add_on_stream(target, site.sums[one.input_nr], buffer, std::move(one));
}

void DevicePass::add_on_stream(Node* target, Sum& sum, TensorList& buffer, Arrival one) {
    const Device device = one.grad.device();
    Backend& backend = backend_of(device);
    const std::optional<Stream> consumer = on_device(target->stream(), device);
    const Stream made = *one.made;
    Tensor& slot = buffer[one.input_nr];
    if (!slot.defined()) {
        sum.stream = consumer.value_or(made);
        sum.ready = made;
        if (consumer && made != *consumer) {
            backend.record_stream(*one.grad.storage(), *consumer);
            sum.event = backend.record_event(made);
        }
        sum.shared = one.shared;
        slot = std::move(one.grad);
        return;
    }
    const Stream here = sum.stream.value_or(made);
    if (made != here) {
        wait(here, made, {});
        backend.record_stream(*one.grad.storage(), here);
    }
    if (sum.ready != here) {
        wait(here, sum.ready, sum.event);
        backend.record_stream(*slot.storage(), here);
    }
    const StreamGuard current(here);
    const Tensor kept_sum = sum.shared ? slot : Tensor(), kept_term = one.shared ? one.grad : Tensor();
    InputBuffer(buffer, target).add(one.input_nr, std::move(one.grad));
    sum = {here, here, {}, false};
}

void DevicePass::note_leaf(const Tensor& t) {
    if (!t.defined() || !has_streams(t)) return;
    const Stream stream = backend_of(t.device()).current_stream(t.device());
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(leaf_streams_, stream) == leaf_streams_.end()) leaf_streams_.push_back(stream);
}

void DevicePass::join_leaf_streams() {
    for (const Stream& leaf : leaf_streams_) wait(backend_of(leaf.device).current_stream(leaf.device), leaf, {});
}

void run_on_devices(const EngineHooks& hooks, GraphTask& task) {
    const bool watched = state.watch & (kWatchObservers | kWatchModes);
    const bool threads =
        state.multithreading && !watched && task.owns_all_nodes() && nesting.total <= Engine::kMaxDepth;
    auto pass = std::make_shared<DevicePass>(task, threads);
    Node* root = task.roots[0].function.get();
    TensorList given = std::exchange(task.state_of(root).buffer, {});
    std::exception_ptr error;
    try {
        if (threads)
            run_blocking(hooks, [&] { pass->run(std::move(given)); });
        else
            pass->run(std::move(given));
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
}

}  // namespace wengert
