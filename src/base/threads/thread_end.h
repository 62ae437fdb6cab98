// Threads that are ended from outside.
//
// When the interpreter ends while a daemon thread wants the GIL, CPython calls pthread_exit in it, which unwinds the
// thread's stack with something that is no C++ exception. `catch (...)` sees it and must pass it on; where it meets a
// noexcept function, or is kept, the process is aborted. Nobody waits for such a thread, so it may as well sleep until the
// process is gone: in every `catch (...)` that does not rethrow, and, as the last resort, in std::terminate.
#pragma once

namespace wengert {

[[noreturn]] void sleep_forever() noexcept;

// Call first in a `catch (...)` that keeps what it caught: does not return in a thread that is being ended.
void sleep_if_thread_ends() noexcept;

// From now on a thread that would terminate the process while `ending()` sleeps instead.
void sleep_instead_of_terminating(bool (*ending)() noexcept) noexcept;

}  // namespace wengert
