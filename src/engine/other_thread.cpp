#include "engine/other_thread.h"

#include <condition_variable>
#include <exception>
#include <mutex>

#include "base/threads/thread_end.h"
#include "base/threads/worker_threads.h"
#include "engine/engine.h"

namespace wengert {

constinit thread_local Nesting nesting;

void run_blocking(const EngineHooks& hooks, const std::function<void()>& f) {
    if (!hooks.run_blocking) return f();
    struct Call {
        const std::function<void()>& f;
        std::exception_ptr error;
    } call{f, nullptr};
    auto run = [](void* context) noexcept {
        auto* c = static_cast<Call*>(context);
        try {
            c->f();
        } catch (...) {
            sleep_if_thread_ends();
            c->error = std::current_exception();
        }
    };
    hooks.run_blocking(run, &call);
    if (call.error) std::rethrow_exception(call.error);
}

void run_on_another_thread(const EngineHooks& hooks, const std::function<void()>& f) {
    struct Work {
        Inherited inherited;
        DelayedWarnings warnings;
        std::exception_ptr error;
        uint64_t sequence_nr = state.sequence_nr;
        std::mutex mutex;
        std::condition_variable finished;
        bool done = false;
    } work;
    auto job = [&] {
        auto report = [&] {
            sleep_if_thread_ends();
            work.error = std::current_exception();
        };
        try {
            Inherited::Scope scope(work.inherited, work.warnings);
            try {
                f();
            } catch (...) {
                report();
            }
            work.sequence_nr = state.sequence_nr;
        } catch (...) {  // no memory for the scope
            report();
        }
    };
    auto done = [&] {
        std::lock_guard lock(work.mutex);
        work.done = true;
        work.finished.notify_one();  // under the lock: `work` ends as soon as it is released
    };
    run_blocking(hooks, [&] {
        run_on_worker(job, done);
        std::unique_lock lock(work.mutex);
        work.finished.wait(lock, [&] { return work.done; });
    });
    state.sequence_nr = work.sequence_nr;  // what was recorded there came earlier than what follows here
    if (work.error) {
        try {
            work.warnings.replay();
        } catch (...) {}  // the error counts
        std::rethrow_exception(work.error);
    }
    work.warnings.replay();
}

}  // namespace wengert
