#include "tensor/memory/free_lists.h"

#include <new>

#include "base/threads/thread_exit.h"

namespace wengert {
namespace {

// A dying thread's tensors become free memory, of which other threads may make anything.
void free_all(void* thread_lists) noexcept {
    auto* lists = static_cast<TensorFreeList*>(thread_lists);
    tensor_free_lists = nullptr;
    for (size_t c = 0; c < kSlabClasses; ++c)
        while (TensorImpl* t = lists[c].head) {
            lists[c].head = static_cast<TensorImpl*>(t->pyobj);
            delete t;
        }
    delete[] lists;
}

}  // namespace

constinit thread_local TensorFreeList* tensor_free_lists = nullptr;

bool TensorFreeLists::begin() noexcept {
    if (tensor_free_lists) return false;
    tensor_free_lists = new (std::nothrow) TensorFreeList[kSlabClasses]();
    if (!tensor_free_lists) return false;
    pthread_setspecific(thread_exit_key<free_all>(), tensor_free_lists);
    return true;
}

}  // namespace wengert
