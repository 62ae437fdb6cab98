// sim:N, an accelerator made of threads: what a program can ask of it beyond Backend (tensor/backend.h).
//
// It has what makes an accelerator difficult, and nothing that makes one fast: memory that the host cannot touch, work that
// is queued and done later, streams that nothing orders but events. So the order of a program is tested where there is no
// hardware. Read first:
//
//   * system.h: the devices, and the one lock under which work is given to them;
//   * memory.h: addresses that the host cannot use, and the cache of blocks;
//   * streams.h: a stream is a queue and a thread; an event is a point in it;
//   * race_checker.h: finds accesses that nothing orders, when they are given, not when they happen to go wrong;
//   * reach.h: how the CPU's implementations come to compute here;
//   * backend.cpp: all of it as a Backend.
//
// The number of devices is WENGERT_SIM_DEVICES (2). WENGERT_SIM_CHECK=1 turns the checker on.
//
// A stream's thread counts references of nothing that the host knows: a call is handed over with tensors of its own (reach.h). So
// counts need not be atomic for its sake (base/refcount.h).
#pragma once

#include <string>
#include <vector>

#include "base/api.h"
#include "tensor/backend.h"

namespace wengert::sim {

// --- What the layer of Python sets.
// Runs f(context) while other threads may run Python: a device's thread may need it for what the host waits for.
WENGERT_API extern void (*run_blocking)(void (*f)(void*), void* context);

WENGERT_API void synchronize_everything() noexcept;  // at exit; what calls have raised is forgotten

// Before each piece of work a stream sleeps, up to so many microseconds; how long is drawn from the seed, for each stream in
// the same way whatever others do. 0: not at all.
WENGERT_API void set_delays(uint64_t seed, int64_t most_microseconds);

// --- Faults. Waits of streams for events that order something new are counted; of those from now on, number n (from 0) is lost:
// so a program shows whether anything would find that it is missing.
inline constexpr int64_t kNoWait = -1, kAllWaits = -2;
WENGERT_API void lose_wait(int64_t n);
WENGERT_API int64_t waits();  // since `lose_wait` was called

// --- The checker
enum class RaceCheck { Off, Collect, Raise };
WENGERT_API RaceCheck race_check();
WENGERT_API void set_race_check(RaceCheck check);
WENGERT_API std::vector<std::string> races();  // all that were found, in words
WENGERT_API void forget_races();

// --- Memory
struct MemoryCount {
    int64_t current = 0, peak = 0, added = 0, removed = 0;  // bytes
    void add(int64_t bytes) noexcept {
        current += bytes;
        added += bytes;
        if (current > peak) peak = current;
    }
    void remove(int64_t bytes) noexcept {
        current -= bytes;
        removed += bytes;
    }
};
struct MemoryStatistics {
    MemoryCount allocated;  // of tensors
    MemoryCount active;     // and of those that have died, while streams use it
    MemoryCount reserved;   // and what is kept for reuse
    int64_t total = 0, limit = 0;
    int64_t retries = 0, failures = 0;  // allocations for which the cache was emptied, or all was in vain
};
WENGERT_API MemoryStatistics memory_statistics(Device device);
WENGERT_API void reset_peak_memory(Device device);
WENGERT_API void empty_cache();  // of all devices; waits for them
WENGERT_API void set_memory_limit(Device device, int64_t bytes);

}  // namespace wengert::sim
