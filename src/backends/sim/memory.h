// The memory of a device: addresses that the host cannot touch, and a cache of blocks.
//
// A device address is one of a range that is reserved and never accessible: a host that follows it dies of SIGSEGV. The
// memory itself is mapped at a fixed distance behind, where only the device's threads look (`in_reach`).
//
// A block belongs to the stream it was allocated on. When its tensor dies it is free for the next one of its size on that
// stream, though work is still to be done: the queue orders the two. Other streams that use it have to be told of
// (`record`); the block is then free when they have passed an event that is recorded when the tensor dies. Blocks of other
// streams and sizes are reused only when all memory is taken: then the cache is emptied.
//
// All of it is called under the lock of the system (system.h), and takes no other.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "backends/sim/race_checker.h"
#include "backends/sim/sim.h"
#include "backends/sim/streams.h"

namespace wengert::sim {

inline constexpr int64_t kDeviceBytes = int64_t{1} << 30;
inline constexpr int64_t kBlockAlignment = 512;

struct Block {
    std::byte* data;
    int64_t bytes;
    Stream stream;             // whose it is
    uint64_t tenants = 0;      // tensors that had it
    std::vector<Stream> used;  // other streams that use it
    std::vector<EventRef> awaited;
    Block* next_free = nullptr;
    History history;
};

class DeviceMemory {
public:
    // Null where there is no room.
    std::byte* allocate(Stream stream, int64_t bytes);
    // Of the block that it has, and that is not free yet for `events` of the other streams that use it.
    void release(Block& block, std::vector<EventRef> events) noexcept;
    // Gives back all blocks that are free. Only when the device has nothing to do.
    void empty_cache() noexcept;

    Block* find(const std::byte* data) noexcept;  // that it lies in; null for the memory of tensors without elements
    static void record(Block& block, Stream stream);

    static std::byte* in_reach(std::byte* data) noexcept { return data + kDeviceBytes; }
    static const std::byte* in_reach(const std::byte* data) noexcept { return data + kDeviceBytes; }

    MemoryStatistics statistics{{}, {}, {}, kDeviceBytes, kDeviceBytes};

private:
    struct Kind {
        int64_t stream, bytes;
        auto operator<=>(const Kind&) const = default;
    };
    void reserve_addresses();
    Block* new_block(Stream stream, int64_t bytes);
    std::byte* find_gap(int64_t bytes) const noexcept;
    void take_back_awaited() noexcept;
    void make_free(Block& block) noexcept;

    std::byte* base_ = nullptr;
    std::map<std::byte*, Block> blocks_;  // by address
    std::map<Kind, Block*> free_;         // the first of each; for every kind there is a block of
    std::vector<Block*> awaited_;         // has room for all blocks
};

}  // namespace wengert::sim
