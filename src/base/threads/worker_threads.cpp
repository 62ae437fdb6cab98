#include "base/threads/worker_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/threads/lock.h"
#include "base/threads/parallel_for.h"
#include "base/threads/spin.h"

namespace wengert {

struct Worker {
    std::condition_variable wake;
    std::shared_ptr<WorkerJob> job;   // that it is to begin
    std::atomic<bool> called{false};  // whether there is one, for who looks without the mutex
    Worker* next_idle = nullptr;
};

struct Pool {
    std::mutex mutex;
    Worker* idle = nullptr;
    size_t idle_count = 0;

    void add_idle(Worker* worker) noexcept {
        worker->next_idle = std::exchange(idle, worker);
        ++idle_count;
    }
};

struct WorkerJob {
    std::function<void()> run, done;
    Pool& pool;
    Worker* worker;  // under the pool's mutex; null once the job has begun
};

namespace {

// How long a thread without a job looks for the next one before it sleeps: to wake it takes as long as a small operation.
constexpr std::chrono::microseconds kSpinning{200};

// More threads than that end when they have nothing to do.
size_t most_idle() noexcept { return std::max<size_t>(16, static_cast<size_t>(num_threads())); }

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
    std::unique_lock lock(p.mutex);
    for (;;) {
        if (!self.job) {
            lock.unlock();
            spin_until([&] { return self.called.load(std::memory_order_relaxed); }, kSpinning);
            lock.lock();
        }
        self.wake.wait(lock, [&] { return self.job != nullptr; });
        const auto job = std::exchange(self.job, nullptr);
        self.called.store(false, std::memory_order_relaxed);
        job->worker = nullptr;
        lock.unlock();
        std::exchange(job->run, nullptr)();  // what it holds is let go before anybody hears that it is done
        lock.lock();
        const bool stays = p.idle_count < most_idle();
        if (stays) p.add_idle(&self);
        if (job->done) {
            lock.unlock();
            std::exchange(job->done, nullptr)();
            lock.lock();
        }
        if (!stays) return;
    }
}

}  // namespace

std::shared_ptr<WorkerJob> run_on_worker(std::function<void()> run, std::function<void()> done) {
    Pool& p = pool();
    {
        std::lock_guard lock(p.mutex);
        if (Worker* worker = p.idle) {
            worker->job = std::make_shared<WorkerJob>(std::move(run), std::move(done), p, worker);
            p.idle = worker->next_idle;
            --p.idle_count;
            worker->called.store(true, std::memory_order_relaxed);
            worker->wake.notify_one();
            return worker->job;
        }
    }
    auto worker = std::make_unique<Worker>();
    auto job = std::make_shared<WorkerJob>(std::move(run), std::move(done), p, worker.get());
    worker->job = job;
    std::thread([&p, worker = std::move(worker)] { work(p, *worker); }).detach();
    started.fetch_add(1, std::memory_order_relaxed);
    return job;
}

bool withdraw(WorkerJob& job) noexcept {
    std::lock_guard lock(job.pool.mutex);
    Worker* worker = std::exchange(job.worker, nullptr);
    if (!worker) return false;
    worker->job = nullptr;
    worker->called.store(false, std::memory_order_relaxed);
    job.pool.add_idle(worker);
    return true;
}

size_t worker_threads_started() noexcept { return started.load(std::memory_order_relaxed); }

}  // namespace wengert
