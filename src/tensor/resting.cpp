#include "tensor/resting.h"

#include <new>

#include "base/thread_exit.h"

namespace wengert {
namespace {

// A dying thread's tensors become free memory, of which other threads may make anything.
void give_back(void* thread_lists) noexcept {
    auto* lists = static_cast<RestingList*>(thread_lists);
    resting_lists = nullptr;
    for (size_t c = 0; c < kSlabClasses; ++c)
        while (TensorImpl* t = lists[c].head) {
            lists[c].head = static_cast<TensorImpl*>(t->pyobj);
            delete t;
        }
    delete[] lists;
}

}  // namespace

constinit thread_local RestingList* resting_lists = nullptr;

bool Resting::begin() noexcept {
    if (resting_lists) return false;
    resting_lists = new (std::nothrow) RestingList[kSlabClasses]();
    if (!resting_lists) return false;
    pthread_setspecific(thread_exit_key<give_back>(), resting_lists);
    return true;
}

}  // namespace wengert
