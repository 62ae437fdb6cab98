#include "base/worker_threads.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/lock.h"

namespace wengert {
namespace {

constexpr size_t kMaxIdle = 16;  // more threads than that end when they have nothing to do

struct Worker {
    std::condition_variable wake;
    std::function<void()> job, done;
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
    // Not std::call_once: its thread-local data in libstdc++ would be accessed as ours is (-ftls-model=initial-exec), which
    // fails where another library has loaded libstdc++ first.
    [[maybe_unused]] static const bool registered = (at_fork_in_child([]() noexcept { current_pool = nullptr; }), true);
    auto* fresh = new Pool;
    Pool* none = nullptr;
    if (current_pool.compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *none;
}

void work(Pool& p, Worker& self) {
    for (;;) {
        std::exchange(self.job, nullptr)();
        const auto done = std::exchange(self.done, nullptr);  // ours: the next job may come before it has run
        std::unique_lock lock(p.mutex);
        const bool stays = p.idle.size() < kMaxIdle;
        if (stays) p.idle.push_back(&self);
        if (done) {
            lock.unlock();
            done();
            lock.lock();
        }
        if (!stays) return;
        self.wake.wait(lock, [&] { return static_cast<bool>(self.job); });
    }
}

}  // namespace

void run_on_worker(std::function<void()> job, std::function<void()> done) {
    Pool& p = pool();
    {
        std::lock_guard lock(p.mutex);
        if (!p.idle.empty()) {
            Worker* worker = p.idle.back();
            p.idle.pop_back();
            worker->job = std::move(job);
            worker->done = std::move(done);
            worker->wake.notify_one();
            return;
        }
    }
    auto worker = std::make_unique<Worker>();
    worker->job = std::move(job);
    worker->done = std::move(done);
    std::thread([&p, worker = std::move(worker)] { work(p, *worker); }).detach();
    started.fetch_add(1, std::memory_order_relaxed);
}

size_t worker_threads_started() noexcept { return started.load(std::memory_order_relaxed); }

}  // namespace wengert
