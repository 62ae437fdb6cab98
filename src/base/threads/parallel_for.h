// One operation on all cores.
//
//     parallel_for(n, block, [&](int64_t begin, int64_t end) { ... });
//
// covers [0, n) with ranges, on the calling thread and on others of the pool (base/threads/worker_threads.h). Ranges begin at
// multiples of `block`, and none is shorter. How many there are depends on the threads and on the clock: so what the
// function computes for an index must not depend on the range in which it comes, and results are the same, bit for bit, for
// any number of threads. Who sums over the indices cuts them into blocks of its own, of a size that depends on n alone.
//
// What an index costs is not known beforehand. The caller runs the first block and takes the time: others are woken only if
// the rest would take them long enough. So small work never starts a thread, and nobody states a cost.
//
// The function runs beside itself and without the interpreter's lock: it touches memory, and neither counts references
// nor makes tensors. An exception ends the operation and comes out of parallel_for. A parallel_for inside a
// range that threads share, or inside a backward pass that uses several, runs where it is called.
#pragma once

#include <cstdint>
#include <type_traits>

namespace wengert {

// How many threads an operation or a backward pass may use, the caller's among them. At first WENGERT_NUM_THREADS or
// OMP_NUM_THREADS of the environment, else as many as the process has processors.
int num_threads() noexcept;
void set_num_threads(int n);         // at least 1
bool is_num_threads_set() noexcept;  // then passes use them too, not operations alone

// While one lives, everything on this thread runs on this thread.
class OneThread {
public:
    OneThread() noexcept;
    ~OneThread();
    OneThread(const OneThread&) = delete;

private:
    const bool before_;
};
bool may_use_threads() noexcept;

using RangeFunction = void (*)(void* f, int64_t begin, int64_t end);
void run_ranges(int64_t n, int64_t block, void* f, RangeFunction call);

template <class F>
void parallel_for(int64_t n, int64_t block, F&& f) {
    if (n < 2 * block || !may_use_threads()) {
        if (n > 0) f(int64_t{0}, n);
        return;
    }
    run_ranges(n, block, const_cast<void*>(static_cast<const void*>(&f)), [](void* each, int64_t begin, int64_t end) {
        (*static_cast<std::remove_reference_t<F>*>(each))(begin, end);
    });
}

// For work whose time is known, and whose ranges each cost something of their own: as few ranges as there are threads for
// it. They begin at multiples of `unit`.
void run_shares(int64_t n, int64_t unit, double seconds, void* f, RangeFunction call);

template <class F>
void share_out(int64_t n, int64_t unit, double seconds, F&& f) {
    run_shares(
        n, unit, seconds, const_cast<void*>(static_cast<const void*>(&f)),
        [](void* each, int64_t begin, int64_t end) { (*static_cast<std::remove_reference_t<F>*>(each))(begin, end); });
}

}  // namespace wengert
