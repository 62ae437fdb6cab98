// Work of a pass on threads other than its caller's.
#pragma once

#include <functional>

#include "base/threads/thread_locals.h"
#include "base/warnings.h"
#include "engine/graph_task.h"

namespace wengert {

// How deep passes are nested: in all, and on this thread.
struct Nesting {
    int32_t total = 0;
    int32_t here = 0;
};
extern constinit thread_local Nesting nesting;

class NestedPass {
public:
    NestedPass() noexcept {
        ++nesting.total;
        ++nesting.here;
    }
    ~NestedPass() {
        --nesting.total;
        --nesting.here;
    }
    NestedPass(const NestedPass&) = delete;
};

// What a helper needs to be like the thread that started the pass. Made there, entered on the other thread.
class Inherited {
public:
    Inherited() : locals_(ThreadLocals::capture()), nesting_(nesting.total), task_(get_current_graph_task()) {}

    class Scope {
    public:
        Scope(const Inherited& from, DelayedWarnings& warnings)
            : locals_(from.locals_),
              task_(from.task_),
              warnings_(warnings),
              previous_(std::exchange(nesting, {from.nesting_, 0})) {}
        ~Scope() { nesting = previous_; }
        Scope(const Scope&) = delete;

    private:
        ThreadLocals::Scope locals_;
        GraphTaskGuard task_;
        DelayedWarnings::Scope warnings_;
        Nesting previous_;
    };

private:
    ThreadLocals locals_;
    int32_t nesting_;
    GraphTask* task_;
};

struct EngineHooks;

// Runs f() on this thread while others may run Python.
void run_blocking(const EngineHooks& hooks, const std::function<void()>& f);

// Runs f() on a pool thread with this thread's state, and waits; rethrows what f throws.
void run_on_another_thread(const EngineHooks& hooks, const std::function<void()>& f);

}  // namespace wengert
