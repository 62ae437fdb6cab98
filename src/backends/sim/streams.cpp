#include "backends/sim/streams.h"

#include <thread>
#include <utility>

#include "base/threads/thread_end.h"

namespace wengert::sim {

void EventState::complete() {
    std::lock_guard lock(mutex_);
    when_ = std::chrono::steady_clock::now();
    done_.store(true, std::memory_order_release);
    completed_.notify_all();
}

void EventState::wait() {
    if (is_done()) return;
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [&] { return is_done(); });
}

void StreamQueue::push(Work work) {
    std::lock_guard lock(mutex_);
    if (!has_thread_) {
        std::thread([this] { work_off(); }).detach();  // it waits for the lock
        has_thread_ = true;
    }
    work_.push_back(std::move(work));
    pushed_.notify_one();
}

bool StreamQueue::is_idle() const {
    std::lock_guard lock(mutex_);
    return work_.empty() && !is_working_;
}

std::exception_ptr StreamQueue::take_error() {
    std::lock_guard lock(mutex_);
    return std::exchange(error_, nullptr);
}

void StreamQueue::work_off() {
    uint64_t changes = 0, drawn = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        pushed_.wait(lock, [&] { return !work_.empty(); });
        Work work = std::move(work_.front());
        work_.pop_front();
        is_working_ = true;
        lock.unlock();
        if (work.run) sleep_a_while(&changes, &drawn);
        std::exception_ptr error = work.run ? run(std::move(work.run)) : nullptr;
        lock.lock();
        is_working_ = false;
        if (work.event) work.event->complete();
        if (!error) continue;
        if (!error_) std::swap(error, error_);
        lock.unlock();  // errors may own Python's objects
        error = nullptr;
        lock.lock();
    }
}

// Returns what it raises. What the work holds is let go before anybody hears that it is done.
std::exception_ptr StreamQueue::run(std::function<void()> work) {
    try {
        work();
    } catch (...) {
        sleep_if_thread_ends();
        return std::current_exception();
    }
    return nullptr;
}

namespace {

// SplitMix64.
uint64_t random_of(uint64_t n) noexcept {
    n += 0x9e3779b97f4a7c15;
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
    n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
    return n ^ (n >> 31);
}

}  // namespace

void StreamQueue::sleep_a_while(uint64_t* changes, uint64_t* drawn) const {
    const int64_t most = delays_.most_microseconds.load(std::memory_order_acquire);
    if (most <= 0) return;
    if (const uint64_t now = delays_.changes; now != *changes) {
        *changes = now;
        *drawn = 0;
    }
    const uint64_t number = random_of(random_of(delays_.seed + number_) + (*drawn)++);
    std::this_thread::sleep_for(std::chrono::microseconds(number % (static_cast<uint64_t>(most) + 1)));
}

}  // namespace wengert::sim
