#include "base/worker_threads.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/lock.h"

namespace wengert {
namespace {

constexpr size_t kMaxIdle = 16;  // more threads than that end when they have nothing to do

struct Worker {
    std::condition_variable wake;
    std::function<void()> job;
};

struct Pool {
    std::mutex mutex;
    std::vector<Worker*> idle;
};

std::atomic<Pool*> current_pool{nullptr};
std::atomic<size_t> started{0};

Pool& pool() {
    if (Pool* p = current_pool.load(std::memory_order_acquire)) return *p;
    // The child has none of the threads, and perhaps a locked mutex: it begins anew and lets go of the old pool.
    static std::once_flag once;
    std::call_once(once, [] { at_fork_in_child([]() noexcept { current_pool = nullptr; }); });
    auto* fresh = new Pool;
    Pool* none = nullptr;
    if (current_pool.compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *none;
}

void work(Pool& p, Worker& self) {
    for (;;) {
        self.job();
        self.job = nullptr;
        std::unique_lock lock(p.mutex);
        if (p.idle.size() >= kMaxIdle) return;
        p.idle.push_back(&self);
        self.wake.wait(lock, [&] { return static_cast<bool>(self.job); });
    }
}

}  // namespace

void run_on_worker(std::function<void()> job) {
    Pool& p = pool();
    {
        std::lock_guard lock(p.mutex);
        if (!p.idle.empty()) {
            Worker* worker = p.idle.back();
            p.idle.pop_back();
            worker->job = std::move(job);
            worker->wake.notify_one();
            return;
        }
    }
    auto worker = std::make_unique<Worker>();
    worker->job = std::move(job);
    std::thread([&p, worker = std::move(worker)] { work(p, *worker); }).detach();
    started.fetch_add(1, std::memory_order_relaxed);
}

size_t worker_threads_started() noexcept { return started.load(std::memory_order_relaxed); }

}  // namespace wengert
