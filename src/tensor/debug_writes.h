// In debug mode: which operation made which version of a storage, and where.
//
// A ring of the last writes, found by the version counter that they raised. The newest entry for a counter and a version
// is the right one even if memory was used again: the present owner's own write came later. That needs every write since
// to have been noted, so switching debug mode off empties the ring.
#pragma once

#include <cstdint>
#include <string>

namespace wengert {

// Version `version` of `counter` has just been made by `operation`.
void note_write(const uint32_t* counter, uint32_t version, const char* operation);
// " by 'add_' at model.py:12 in forward", or "" if nobody knows.
std::string describe_write(const uint32_t* counter, uint32_t version);
void forget_writes() noexcept;

}  // namespace wengert
