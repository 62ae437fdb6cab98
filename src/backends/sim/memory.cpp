#include "backends/sim/memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace wengert::sim {

void DeviceMemory::reserve_addresses() {
    constexpr auto bytes = static_cast<size_t>(kDeviceBytes);
    void* range = mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(range != MAP_FAILED, ErrorKind::Runtime, "[sim] the system has no addresses for the memory of a device");
    auto* base = static_cast<std::byte*>(range);
    if (mprotect(base + kDeviceBytes, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(range, 2 * bytes);
        fail(ErrorKind::Runtime, "[sim] the system has no memory for a device");
    }
    base_ = base;
}

std::byte* DeviceMemory::allocate(Stream stream, int64_t bytes) {
    if (bytes > kDeviceBytes) return nullptr;
    if (!base_) reserve_addresses();
    take_back_awaited();
    bytes = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
    Block*& first = free_[{stream.id, bytes}];
    Block* block = first;
    if (block)
        first = block->next_free;
    else
        block = new_block(stream, bytes);
    if (!block) return nullptr;
    ++block->tenants;
    statistics.allocated.add(bytes);
    statistics.active.add(bytes);
    return block->data;
}

// Behind all others, else in the first gap.
std::byte* DeviceMemory::find_gap(int64_t bytes) const noexcept {
    std::byte* const end = base_ + kDeviceBytes;
    if (blocks_.empty()) return base_;
    const Block& last = blocks_.rbegin()->second;
    if (end - (last.data + last.bytes) >= bytes) return last.data + last.bytes;
    std::byte* from = base_;
    for (const auto& [data, block] : blocks_) {
        if (data - from >= bytes) return from;
        from = data + block.bytes;
    }
    return nullptr;
}

Block* DeviceMemory::new_block(Stream stream, int64_t bytes) {
    if (statistics.reserved.current + bytes > statistics.limit) return nullptr;
    std::byte* data = find_gap(bytes);
    if (!data) return nullptr;
    awaited_.reserve(blocks_.size() + 1);  // so that `release` needs no memory
    Block& block = blocks_[data];
    block.data = data;
    block.bytes = bytes;
    block.stream = stream;
    statistics.reserved.add(bytes);
    return &block;
}

Block* DeviceMemory::find(const std::byte* data) noexcept {
    auto after = blocks_.upper_bound(const_cast<std::byte*>(data));
    if (after == blocks_.begin()) return nullptr;
    Block& block = std::prev(after)->second;
    return data < block.data + block.bytes ? &block : nullptr;
}

void DeviceMemory::record(Block& block, Stream stream) {
    if (!(stream == block.stream) && std::ranges::find(block.used, stream) == block.used.end())
        block.used.push_back(stream);
}

void DeviceMemory::release(Block& block, std::vector<EventRef> events) noexcept {
    statistics.allocated.remove(block.bytes);
    block.used.clear();
    block.awaited = std::move(events);
    if (block.awaited.empty()) return make_free(block);
    awaited_.push_back(&block);
}

void DeviceMemory::make_free(Block& block) noexcept {
    statistics.active.remove(block.bytes);
    block.next_free = std::exchange(free_.find({block.stream.id, block.bytes})->second, &block);
}

// What the streams did until their events is done: the next tenant need not wait for it.
void DeviceMemory::take_back_awaited() noexcept {
    std::erase_if(awaited_, [&](Block* block) {
        if (!std::ranges::all_of(block->awaited, [](const EventRef& e) { return e->is_done(); })) return false;
        for (const EventRef& event : block->awaited)
            std::erase_if(block->history, [&](const Access& a) { return event->clock.of(a.stream) >= a.time; });
        block->awaited.clear();
        make_free(*block);
        return true;
    });
}

namespace {

// Its whole pages go back to the system.
void drop_pages(std::byte* data, int64_t bytes) noexcept {
    constexpr uintptr_t kPage = 4096;
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage,
                    end = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / kPage * kPage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

void DeviceMemory::empty_cache() noexcept {
    take_back_awaited();
    for (auto& [kind, first] : free_) {
        for (Block* block = first; block;) {
            Block* const next = block->next_free;
            statistics.reserved.remove(block->bytes);
            drop_pages(in_reach(block->data), block->bytes);
            blocks_.erase(block->data);
            block = next;
        }
        first = nullptr;
    }
}

}  // namespace wengert::sim
