#include "base/memory/failing_allocation.h"

#include <utility>

#include "base/memory/slab.h"

namespace wengert {
namespace {

struct Countdown {
    int64_t left = -1;
    bool all = false, failed = false;
};
constinit thread_local bool counts = false;
Countdown countdown;  // of the thread that tests

}  // namespace

bool failing::now() noexcept {
    if (!counts || countdown.left < 0 || countdown.left-- > 0) return false;
    countdown.failed = true;
    if (countdown.all) countdown.left = 0;
    return true;
}

void fail_allocation(int64_t n, bool all_from_then_on) {
    starve_slab_lists();
    counts = true;
    countdown = {.left = n, .all = all_from_then_on};
}

bool end_failing_allocations() noexcept {
    restore_slab_lists();
    counts = false;
    return std::exchange(countdown, Countdown()).failed;
}

}  // namespace wengert
