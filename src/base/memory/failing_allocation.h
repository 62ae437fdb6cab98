// For tests: memory that comes to its end, at a chosen allocation of the core on one thread.
//
// Costs nothing where nobody tests: what asks is cold already (a slab that is empty, a block that no cache has). While a
// test counts, the lists that keep those from being asked are kept empty.
#pragma once

#include <cstdint>

namespace wengert {

// Lets `n` allocations of this thread succeed, and then one fail, or all from then on.
void fail_allocation(int64_t n, bool all_from_then_on);
// Ends it; true if one has failed.
bool end_failing_allocations() noexcept;

namespace failing {
bool now() noexcept;  // whether this one fails
}  // namespace failing

}  // namespace wengert
