// Streams: a queue of work with a thread, which does it in its order.
//
// The thread is started with the first work and lives until the process ends. What work raises is kept, the first error
// until a host asks for it; the stream goes on. A stream that waits for another has a piece of work that waits for an event.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "backends/sim/clock.h"
#include "tensor/device.h"

namespace wengert::sim {

// A point in the work of a stream: done when all is that the stream had got before.
class EventState {
public:
    EventState(Stream s, Clock c) : stream(s), clock(std::move(c)) {}
    void complete();
    bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }
    void wait();
    std::chrono::steady_clock::time_point when() const noexcept { return when_; }  // it was done

    const Stream stream;
    const Clock clock;  // of the stream, at the event

private:
    std::mutex mutex_;
    std::condition_variable completed_;
    std::atomic<bool> done_{false};
    std::chrono::steady_clock::time_point when_;
};
using EventRef = std::shared_ptr<EventState>;

// Of all streams.
struct Delays {
    std::atomic<uint64_t> seed{0};
    std::atomic<int64_t> most_microseconds{0};
    std::atomic<uint64_t> changes{0};  // each lets the streams draw anew
};

class StreamQueue {
public:
    StreamQueue(size_t number, const Delays& delays) : number_(number), delays_(delays) {}
    StreamQueue(const StreamQueue&) = delete;

    void push(std::function<void()> work) { push(Work{std::move(work), nullptr}); }
    void push(EventRef event) { push(Work{nullptr, std::move(event)}); }  // which is done when all before it is
    bool is_idle() const;                                                 // all that was pushed is done
    std::exception_ptr take_error();

    size_t number() const noexcept { return number_; }
    Clock clock;  // after all that was pushed; under the lock of the system

private:
    struct Work {
        std::function<void()> run;
        EventRef event;
    };
    void push(Work work);
    void work_off();
    static std::exception_ptr run(std::function<void()> work);
    void sleep_a_while(uint64_t* changes, uint64_t* drawn) const;

    const size_t number_;  // among all streams of all devices
    const Delays& delays_;
    mutable std::mutex mutex_;
    std::condition_variable pushed_;
    std::deque<Work> work_;
    bool is_working_ = false, has_thread_ = false;
    std::exception_ptr error_;
};

}  // namespace wengert::sim
