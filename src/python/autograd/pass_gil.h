// The interpreter lock and the counts, while core code runs without the lock.
//
// Reference counts of the core are plain integers while only holders of the lock touch them (base/refcount.h). Before a
// thread runs core code without it, it raises `concurrent_counts`, and the last one to come back lowers it; both under
// the lock, so the flag never changes while another thread counts.
#pragma once

#include <Python.h>

#include <type_traits>

#include "base/refcount.h"
#include "base/threads/lock.h"

namespace wengert::python {

class WithoutGil {
public:
    // Does nothing unless `release`.
    explicit WithoutGil(bool release = true) {
        if (!release) return;
        [[maybe_unused]] static const bool prepared = (at_fork_in_child(forget_other_threads), true);
        ++mine_;
        if (running_++ == 0) concurrent_counts = true;
        saved_ = PyEval_SaveThread();
    }
    ~WithoutGil() {
        if (!saved_) return;
        PyEval_RestoreThread(saved_);
        --mine_;
        if (--running_ == 0) concurrent_counts = false;
    }
    WithoutGil(const WithoutGil&) = delete;

private:
    // Only the thread that forks exists in the child.
    static void forget_other_threads() noexcept {
        running_ = mine_;
        concurrent_counts = running_ > 0;
    }

    inline static int running_ = 0;
    inline static thread_local int mine_ = 0;
    PyThreadState* saved_ = nullptr;
};

// Whether another Python thread exists that could use the time.
inline bool other_threads_exist() noexcept {
    return PyThreadState_Next(PyInterpreterState_ThreadHead(PyInterpreterState_Main())) != nullptr;
}

}  // namespace wengert::python
