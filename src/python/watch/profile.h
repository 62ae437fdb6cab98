// Profile: an observer that writes down when operations and nodes began and ended.
#pragma once

#include <chrono>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "python/frames.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {

enum class EventKind : uint8_t { Operation, Evaluation, Body, Stretch, Memory };

struct ProfileEvent {
    EventKind kind;
    std::string name;
    int64_t start = 0, end = 0;  // ns
    uint64_t thread = 0, forward_thread = 0;
    int64_t sequence_nr = -1;
    int64_t memory = 0;  // bytes taken less bytes given back, on its thread
    PyRef shapes{}, concrete{}, stack{};
    uint64_t token = 0;
};

struct ProfileOptions {
    bool shapes = false, memory = false, stack = false;
};

class Profile final : public OperationObserver {
public:
    explicit Profile(ProfileOptions options) noexcept : options_(options) {}

    void start(PyObject* token);  // kept alive until it is stopped: the thread's stack points here
    bool is_running() const noexcept { return token_ != nullptr; }
    PyObject* stop();  // the events, as a list of tuples in the order in which they began

    void enter(const OperationCall& call) override;
    void leave() noexcept override { close(0); }
    void enter_node(const Node& node, const TensorList& grads, bool body) override;
    void leave_node() noexcept override { close(0); }
    void enter_stretch(const std::string& name, uint64_t token) override;
    void leave_stretch(uint64_t token) noexcept override { close(token); }
    void memory(int64_t change) noexcept override;

    // What went on beside the program, such as a message, between two times (ns) that are over. Nothing once it stopped.
    void add_stretch(const std::string& name, int64_t start, int64_t end);
    PyObject* token() const noexcept { return token_; }

private:
    void open(ProfileEvent event);
    // Of this thread's innermost event, or of the stretch with this token.
    void close(uint64_t token) noexcept;

    ProfileOptions options_;
    PyObject* token_ = nullptr;  // while it runs
    bool started_ = false;
    uint64_t owner_ = 0;  // the thread that has started it
    std::mutex mutex_;
    std::vector<ProfileEvent> events_;
    struct Thread {
        std::vector<size_t> open;  // events that have not ended
        int64_t bytes = 0;         // balance so far
    };
    std::unordered_map<uint64_t, Thread> threads_;
};

}  // namespace wengert::python
