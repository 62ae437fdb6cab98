// The threads that run nodes of devices: one for each device, begun when a pass first needs it, for as long as the process
// lives.
#pragma once

#include "engine/devices/device_queue.h"
#include "tensor/device.h"

namespace wengert {

// The queue of a device, at which its thread stands. Raises in a forked child of a process that had such threads.
DeviceQueue& device_queue(Device device);

// The queue that this thread stands at: null unless it is the thread of a device.
DeviceQueue* queue_of_this_thread() noexcept;

// The threads end, each after the node that it runs: before the interpreter does, whose lock nodes may need.
void end_device_threads();

}  // namespace wengert
