// The one thread pool.
//
// It starts empty and grows by demand: a job goes to an idle thread or, if there is none, to a new one, so a job may wait
// for another without a risk of deadlock. Idle threads wait for the next job. A forked child starts without any.
#pragma once

#include <functional>

namespace wengert {

// Runs `job`, which must not throw, on another thread. Throws std::system_error if no thread can be started.
void run_on_worker(std::function<void()> job);

// Of all jobs together, since the process began; for tests.
size_t worker_threads_started() noexcept;

}  // namespace wengert
