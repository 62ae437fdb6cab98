// The one thread pool.
//
// It starts empty and grows by demand: a job goes to an idle thread or, if there is none, to a new one, so a job may wait
// for another without a risk of deadlock. Idle threads wait for the next job. A forked child starts without any.
#pragma once

#include <functional>
#include <memory>

namespace wengert {

struct WorkerJob;

// Runs `job` on another thread, then `done`, when that thread can be given the next job already: who waits for `done` finds
// the thread idle. Neither may throw. Throws std::system_error if no thread can be started.
std::shared_ptr<WorkerJob> run_on_worker(std::function<void()> job, std::function<void()> done = nullptr);

// True if the job had not begun: then neither it nor `done` will run, and its thread is idle.
bool withdraw(WorkerJob& job) noexcept;

// Of all jobs together, since the process began; for tests.
size_t worker_threads_started() noexcept;

}  // namespace wengert
