#include "tensor/debug_writes.h"

#include <mutex>
#include <vector>

#include "base/place.h"

namespace wengert {
namespace {

constexpr size_t kKept = 4096;

struct Write {
    const uint32_t* counter = nullptr;
    uint32_t version = 0;
    const char* operation = nullptr;
    std::shared_ptr<const Place> place;
};

struct Writes {
    std::mutex mutex;
    std::vector<Write> ring;
    size_t next = 0;
};
Writes& writes() {
    static Writes* w = new Writes;  // tensors may be written during static destruction
    return *w;
}

}  // namespace

void note_write(const uint32_t* counter, uint32_t version, const char* operation) {
    // Taken, and the one it replaces dropped, outside the lock: both may need the interpreter.
    Write write{counter, version, operation, current_place ? current_place() : nullptr};
    Writes& w = writes();
    std::lock_guard lock(w.mutex);
    if (w.ring.size() < kKept) w.ring.emplace_back();
    std::swap(w.ring[w.next], write);
    w.next = (w.next + 1) % kKept;
}

std::string describe_write(const uint32_t* counter, uint32_t version) {
    Write found;
    {
        Writes& w = writes();
        std::lock_guard lock(w.mutex);
        for (size_t age = 1; age <= w.ring.size() && !found.counter; ++age) {
            const Write& write = w.ring[(w.next + kKept - age) % kKept];
            if (write.counter == counter && write.version == version) found = write;
        }
    }
    std::string text = found.operation ? std::string(" by '") + found.operation + "'" : "";
    if (found.place) text += " at " + found.place->describe();
    return text;
}

void forget_writes() noexcept {
    Writes& w = writes();
    std::vector<Write> dropped;
    std::lock_guard lock(w.mutex);
    dropped.swap(w.ring);
    w.next = 0;
}

}  // namespace wengert
