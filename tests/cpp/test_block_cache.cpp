// Large blocks: where they begin, and that they are found again.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "tensor/block_cache.h"

using namespace wengert;

namespace {

struct Block {
    void* data;
    size_t size;
};

Block allocate(size_t bytes) {
    Block block{};
    block.data = block_allocate(bytes, &block.size);
    return block;
}

}  // namespace

TEST_CASE("large blocks are aligned, whole, and begin at different places in their huge pages") {
    std::vector<Block> blocks;
    std::set<uintptr_t> places;
    for (size_t i = 0; i < 8; ++i) {
        blocks.push_back(allocate(kHugeBlock + i * 1000));
        const auto& [data, size] = blocks.back();
        CHECK(size >= kHugeBlock + i * 1000);
        const auto at = reinterpret_cast<uintptr_t>(data);
        CHECK(at % kBlockAlignment == 0);
        places.insert(at % kHugePage);
        std::memset(data, static_cast<int>(i + 1), size);
    }
    CHECK(places.size() == blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
        const auto* bytes = static_cast<const unsigned char*>(blocks[i].data);
        CHECK(bytes[0] == i + 1);
        CHECK(bytes[blocks[i].size - 1] == i + 1);
    }
    for (const auto& [data, size] : blocks) block_free(data, size);
    empty_block_cache();
}

TEST_CASE("a freed block is handed out again") {
    empty_block_cache();
    const Block first = allocate(kHugeBlock);
    block_free(first.data, first.size);
    const Block second = allocate(kHugeBlock - 100);
#ifndef WENGERT_SANITIZE
    CHECK(second.data == first.data);
    CHECK(second.size == first.size);
#endif
    block_free(second.data, second.size);
    empty_block_cache();
}
