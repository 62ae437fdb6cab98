// Integer division by zero inside a loop.
//
// A loop cannot throw (foreign ones are C, ours are vectorised); it notes the event, and whoever called it raises.
#pragma once

namespace wengert {

[[gnu::cold]] void note_zero_division() noexcept;
bool take_zero_division() noexcept;              // whether one was noted on this thread, which is forgotten
void raise_noted_zero_division(const char* op);  // nothing if none was noted on this thread

}  // namespace wengert
