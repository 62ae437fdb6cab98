#include "engine/devices/device_threads.h"

#include <map>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/threads/lock.h"
#include "base/threads/thread_end.h"
#include "engine/devices/device_pass.h"

namespace wengert {
namespace {

constinit thread_local DeviceQueue* own_queue = nullptr;

struct DeviceThread {
    DeviceQueue queue;
    std::thread thread;
};

struct DeviceThreads {
    std::mutex mutex;
    std::map<std::pair<DeviceType, int8_t>, std::unique_ptr<DeviceThread>> by_device;
};

std::atomic<DeviceThreads*> current{nullptr};
std::atomic<bool> lost_in_fork = false;

DeviceThreads& threads() {
    [[maybe_unused]] static const bool registered = (at_fork_in_child([]() noexcept {
                                                         if (current.exchange(nullptr)) lost_in_fork = true;
                                                     }),
                                                     true);
    DeviceThreads* all = current.load(std::memory_order_acquire);
    if (all) return *all;
    auto* fresh = new DeviceThreads;
    if (current.compare_exchange_strong(all, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *all;
}

void serve(DeviceQueue& queue) noexcept {
    own_queue = &queue;
    for (;;) {
        bool ends;
        const ReadyNode ready = queue.pop(&ends);
        if (ends) return;
        if (ready.node) ready.pass->run(ready);
    }
}

}  // namespace

DeviceQueue* queue_of_this_thread() noexcept { return own_queue; }

DeviceQueue& device_queue(Device device) {
    check(!lost_in_fork, ErrorKind::Runtime,
          "Unable to handle autograd's threading in combination with fork-based multiprocessing: the threads of "
          "devices do not exist in a forked child. Use the start method 'spawn', or fork before the first backward "
          "pass on ",
          device);
    DeviceThreads& all = threads();
    const std::lock_guard lock(all.mutex);
    auto& entry = all.by_device[{device.type, device.index}];
    if (!entry) {
        entry = std::make_unique<DeviceThread>();
        entry->thread = std::thread(serve, std::ref(entry->queue));
    }
    return entry->queue;
}

void end_device_threads() {
    DeviceThreads* all = current.load(std::memory_order_acquire);
    if (!all) return;
    decltype(all->by_device) ended;
    {
        const std::lock_guard lock(all->mutex);
        ended.swap(all->by_device);
    }
    for (auto& [device, entry] : ended) {
        entry->queue.end();
        entry->thread.join();
    }
}

}  // namespace wengert
