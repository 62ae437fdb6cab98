// The lowest forward-mode level that operations of this thread see.
//
// A block that switches forward mode off hides all levels there are. A transform that starts inside of one opens a level
// of its own, which propagates: the floor keeps those below hidden.
#pragma once

#include <cstdint>

namespace wengert {

int32_t level_floor() noexcept;
int32_t exchange_level_floor(int32_t level) noexcept;  // returns the one before

}  // namespace wengert
