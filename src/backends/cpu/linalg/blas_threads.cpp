#include "kernels/linalg/blas_threads.h"

#include <mutex>
#include <vector>

#include "backends/cpu/linalg/blas.h"
#include "base/memory/immortal.h"
#include "base/threads/lock.h"

namespace wengert::kernels {
namespace {

struct Library {
    int (*get)();
    void (*set)(int);
    int before = 0;
};

struct Libraries {
    ForkSafeMutex mutex{LockRank::Memory};
    std::vector<Library> all;
    int users = 0;
};

Libraries& libraries() {
    static Immortal<Libraries> l;
    return *l;
}

}  // namespace

void control_blas_threads(int (*get)(), void (*set)(int)) {
    Libraries& l = libraries();
    std::lock_guard lock(l.mutex);
    for (const Library& known : l.all)
        if (known.set == set) return;
    l.all.push_back({get, set});
}

OneBlasThread::OneBlasThread() {
    blas_has_provider();
    Libraries& l = libraries();
    std::lock_guard lock(l.mutex);
    if (l.users++ > 0) return;
    for (Library& library : l.all) {
        library.before = library.get();
        if (library.before != 1) library.set(1);
    }
}

OneBlasThread::~OneBlasThread() {
    Libraries& l = libraries();
    std::lock_guard lock(l.mutex);
    if (--l.users > 0) return;
    for (const Library& library : l.all)
        if (library.before != 1) library.set(library.before);
}

}  // namespace wengert::kernels
