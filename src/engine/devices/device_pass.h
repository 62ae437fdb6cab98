// A pass whose operations ran on devices: who runs which node, on which stream, and what waits for what.
//
// Each node runs on the stream that was current when its operation ran (Node::stream), so what was parallel forward is so
// backward. A node of a device runs on the thread of that device, all others on the thread that owns the pass, the one that
// called; each stands at its queue (device_queue.h). For its surroundings a pass is like any other call: it sees what the
// current streams did before, and what comes after on those streams sees its results.
//
//   * A gradient that arrives where nothing is yet is moved in. If the node that will run, and will sum, is on another stream
//     than the one that made it, an event is recorded for it, and the memory is marked as used there.
//   * Later ones are added on one stream, that of the node where it is on their device, which waits for both terms. What went to
//     several nodes is not written to, whoever holds it: another stream may have it still to read.
//   * A node waits, on its stream, for the events of what has arrived.
//   * At the end, for each stream on which a leaf got its gradient, the stream that is current on its device waits for it.
//
// No event is made that nobody waits for. A pass keeps to its caller's thread, with the same streams, where several threads are
// not allowed (set_multithreading_enabled), are watched, or would meet nodes of another pass.
//
// Read `run_on_devices`, then `DevicePass::evaluate`.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <unordered_map>

#include "engine/devices/device_queue.h"
#include "engine/engine.h"
#include "engine/other_thread.h"
#include "tensor/backend.h"

namespace wengert {

// Runs all nodes of the pass.
void run_on_devices(const EngineHooks& hooks, GraphTask& task);

class DevicePass : public std::enable_shared_from_this<DevicePass> {
public:
    DevicePass(GraphTask& task, bool on_several_threads);

    // On the thread that owns the pass, until it is over.
    void run(TensorList root_gradients);
    // A node that is ready, on the thread at whose queue it was.
    void run(const ReadyNode& ready);

    DelayedWarnings warnings;

private:
    // A gradient on its way.
    struct Arrival {
        uint32_t input_nr;
        Tensor grad;
        std::optional<Stream> made;  // on which it was; none of one without streams
        bool shared = false;         // it went to other nodes as well
    };
    // What has arrived at one input of a node.
    struct Sum {
        std::optional<Stream> stream;  // on which it is summed; none of a tensor without streams
        Stream ready;                  // on which it was made
        Event event;                   // recorded there, if somebody waits for it
        bool shared = false;           // other streams may read it, though no other handle is left
    };
    struct Site {
        bool summing = false;  // by some thread; others leave their gradient in `waiting`
        SmallVector<Arrival, 2> waiting;
        std::vector<Sum> sums;
    };

    void push(Node* node);
    void finish_one();
    void stop(std::exception_ptr error) noexcept;
    void evaluate(Node* node);
    void deliver(const Edge& edge, Arrival arrival);
    void add(Node* target, Site& site, Arrival one);
    void add_on_stream(Node* target, Sum& sum, TensorList& buffer, Arrival one);
    void wait_for(const Site& site, const TensorList& grads);
    void note_leaf(const Tensor& t);
    void join_leaf_streams();

    GraphTask& task_;
    const bool threads_;
    const Inherited inherited_;
    const std::thread::id owner_;
    const int32_t depth_;
    DeviceQueue own_queue_;
    DeviceQueue& home_;  // where the owner stands

    std::mutex mutex_;  // guards what follows, and what the task knows of its nodes
    std::unordered_map<const Node*, Site> sites_;
    std::vector<Stream> leaf_streams_;
    std::exception_ptr error_;
    uint64_t sequence_nr_;
    size_t pending_ = 0;  // ready nodes, and those that run
};

}  // namespace wengert
