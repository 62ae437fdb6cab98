#include "tensor/memory/expected_memory.h"

#include <algorithm>
#include <cstring>

namespace wengert {

ExpectedMemory::ExpectedMemory(const std::byte* memory, int64_t bytes)
    : bytes_(bytes), every_(std::max<int64_t>(1, (bytes + kLimit - 1) / kLimit)) {
    int64_t pages = (bytes + kPage - 1) / kPage;
    copy_.resize(static_cast<size_t>((pages + every_ - 1) / every_ * kPage));
    refresh(memory, {.begin = 0, .end = bytes});
}

// f(offset in the memory, offset in the copy, length) for each piece that the region and the pages kept have in common.
template <class F>
void ExpectedMemory::for_each_piece(const Region& region, F&& f) {
    auto range = [&](int64_t from, int64_t to) {
        if (every_ == 1) return f(from, from, to - from);
        while (from < to) {
            int64_t page = from / kPage, end = std::min(to, (page + 1) * kPage);
            if (page % every_ == 0) f(from, page / every_ * kPage + from % kPage, end - from);
            from = page % every_ == 0 ? end : std::max(end, (page / every_ + 1) * every_ * kPage);
        }
    };
    const int64_t end = std::min(region.end, bytes_);
    if (region.is_dense()) {
        if (region.begin < end) range(region.begin, end);
        return;
    }
    for (int64_t at = region.begin; at < end; at += region.pitch) range(at, std::min(at + region.width, end));
}

void ExpectedMemory::refresh(const std::byte* memory, const Region& region) {
    for_each_piece(region, [&](int64_t at, int64_t kept, int64_t length) {
        std::memcpy(copy_.data() + kept, memory + at, static_cast<size_t>(length));
    });
}

Region ExpectedMemory::take_changes(const std::byte* memory, const Region& region) {
    Region changes;
    for_each_piece(region, [&](int64_t at, int64_t kept, int64_t length) {
        const std::byte *now = memory + at, *before = copy_.data() + kept;
        if (std::memcmp(now, before, static_cast<size_t>(length)) == 0) return;
        int64_t first = 0, last = length;
        while (now[first] == before[first]) ++first;
        while (now[last - 1] == before[last - 1]) --last;
        changes = hull(changes, {.begin = at + first, .end = at + last});
        std::memcpy(copy_.data() + kept, now, static_cast<size_t>(length));
    });
    return changes;
}

}  // namespace wengert
