#include "base/threads/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads/spin.h"
#include "base/threads/thread_end.h"
#include "base/threads/worker_threads.h"

namespace wengert {
namespace {

constexpr double kWorthAThread = 25e-6;  // seconds: about twice what it takes to wake one and to wait for it
constexpr int64_t kRangesOfAThread = 4;  // so that nobody waits long for the last one
constexpr std::chrono::microseconds kSpinning{50};

constinit thread_local bool on_one_thread = false;
std::atomic<int> thread_limit{0};  // 0: nobody has set it

int from_environment(const char* name) {
    const char* text = std::getenv(name);
    int n = 0;
    if (text) std::from_chars(text, text + std::strlen(text), n);
    return std::max(n, 0);
}

int number_at_first() {
    if (const int n = from_environment("WENGERT_NUM_THREADS")) return n;
    if (const int n = from_environment("OMP_NUM_THREADS")) return n;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // those that the process may run on
}

// [begin, n) in ranges that threads take one after the other.
class Ranges {
public:
    Ranges(int64_t begin, int64_t n, int64_t step, void* f, RangeFunction call)
        : begin_(begin), n_(n), step_(step), count_(std::max<int64_t>(1, (n - begin) / step)), f_(f), call_(call) {}

    void run() noexcept {
        const OneThread nested;
        for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
            try {
                const int64_t from = begin_ + i * step_;
                call_(f_, from, i == count_ - 1 ? n_ : from + step_);
            } catch (...) {
                sleep_if_thread_ends();
                next_ = count_;  // the others stop
                std::lock_guard lock(mutex_);
                if (i < first_failed_) first_failed_ = i, error_ = std::current_exception();
            }
        }
    }

    void leave() {
        std::lock_guard lock(mutex_);
        left_.fetch_add(1, std::memory_order_release);
        changed_.notify_one();
    }
    void wait_for(size_t helpers) {
        spin_until([&] { return left_.load(std::memory_order_acquire) == helpers; }, kSpinning);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return left_ == helpers; });
    }
    std::exception_ptr error() { return std::exchange(error_, nullptr); }

private:
    const int64_t begin_, n_, step_, count_;
    void* const f_;
    const RangeFunction call_;
    std::atomic<int64_t> next_{0};

    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    std::atomic<size_t> left_{0};
    int64_t first_failed_ = std::numeric_limits<int64_t>::max();
    std::exception_ptr error_;
};

// All ranges, on so many threads.
void run_on(int64_t threads, const std::shared_ptr<Ranges>& ranges) {
    std::vector<std::shared_ptr<WorkerJob>> jobs;
    jobs.reserve(static_cast<size_t>(threads));
    for (int64_t i = 1; i < threads; ++i) try {
            jobs.push_back(run_on_worker([ranges] { ranges->run(); }, [ranges] { ranges->leave(); }));
        } catch (const std::exception&) {
            break;  // no more threads to be had, or no memory for them
        }
    ranges->run();
    for (const auto& job : jobs)  // those that have not begun need not come any more
        if (withdraw(*job)) ranges->leave();
    ranges->wait_for(jobs.size());
    if (std::exception_ptr error = ranges->error()) std::rethrow_exception(error);
}

}  // namespace

int num_threads() noexcept {
    if (const int n = thread_limit.load(std::memory_order_relaxed)) return n;
    static const int at_first = number_at_first();
    return at_first;
}

void set_num_threads(int n) {
    check(n >= 1, ErrorKind::Runtime, "set_num_threads expects a positive integer, got ", n);
    thread_limit = n;
}

bool is_num_threads_set() noexcept { return thread_limit.load(std::memory_order_relaxed) != 0; }

OneThread::OneThread() noexcept : before_(std::exchange(on_one_thread, true)) {}
OneThread::~OneThread() { on_one_thread = before_; }

bool may_use_threads() noexcept { return !on_one_thread && num_threads() > 1; }

void run_ranges(int64_t n, int64_t block, void* f, RangeFunction call) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    call(f, 0, block);
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    const int64_t left = n - block, blocks = left / block;
    const double rest = elapsed * static_cast<double>(left) / static_cast<double>(block);
    const int64_t threads = std::min<int64_t>({num_threads(), blocks, static_cast<int64_t>(rest / kWorthAThread)});
    if (threads < 2) return call(f, block, n);

    const int64_t step = std::max<int64_t>(1, blocks / (threads * kRangesOfAThread)) * block;
    run_on(threads, std::make_shared<Ranges>(block, n, step, f, call));
}

void run_shares(int64_t n, int64_t unit, double seconds, void* f, RangeFunction call) {
    int64_t threads = std::min<int64_t>({num_threads(), n / unit, static_cast<int64_t>(seconds / kWorthAThread)});
    if (threads < 2 || !may_use_threads()) return call(f, 0, n);
    run_on(threads, std::make_shared<Ranges>(0, n, n / threads / unit * unit, f, call));
}

}  // namespace wengert
