// The happens-before checker: finds accesses to memory that nothing orders.
//
// It decides when work is given to a stream, by what has been said of its order, and not by when it happens to run: a missing
// wait is found in every run, however the threads were scheduled.
//
//   * Each stream has a clock, and so has the host (all threads of it together). Work joins the host's clock into its
//     stream's, and ticks. An event is a copy of its stream's clock, which whoever waits for it joins.
//   * Each block of memory has a history: reads and writes of regions of it, each with stream and time. Two of which one writes
//     are a race unless the first is known to the clock of the second.
//   * An access is forgotten when another of its kind stands for it (it covers it, and whoever comes after it comes after both),
//     or when the host knows it: so a history is as long as there are unordered accesses. It outlives the tensor: memory that is
//     given to another one while a stream still uses it shows (a missing record_stream).
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "backends/sim/clock.h"
#include "backends/sim/sim.h"
#include "tensor/writes/region.h"

namespace wengert::sim {

struct Access {
    Region region;  // of the block
    bool is_write;
    size_t stream;
    uint64_t time;
    const char* operation;  // in static memory
    uint64_t tenant;        // of the block, of whom there may have been many
};
using History = std::vector<Access>;

// One that work asks for.
struct Use {
    History* history;
    uint64_t tenant;
    Region region;
    bool is_write;
};

inline constexpr int64_t kStreams = 33;  // of a device, with the default one

// Of a stream by its number among those of all devices.
Stream stream_of(size_t number) noexcept;
size_t number_of(Stream stream) noexcept;

class RaceChecker {
public:
    RaceChecker();  // as WENGERT_SIM_CHECK says

    std::atomic<RaceCheck> mode;

    // Work that `stream` gets, whose clock is `now`. Raises, and enters nothing, where it is a race and the mode says so.
    void enter(size_t stream, Clock& now, const Clock& host, const char* operation, const std::vector<Use>& uses);
    std::vector<std::string> found;

private:
    void check(size_t stream, const Clock& now, const char* operation, const Use& use);
    void report(size_t stream, const char* operation, const Use& use, const Access& other);
};

}  // namespace wengert::sim
