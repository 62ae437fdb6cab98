// Large blocks: where they begin, and that they are found again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "base/error.h"
#include "tensor/memory/block_cache.h"

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

#ifndef WENGERT_SANITIZE
TEST_CASE("blocks of one size make room for blocks of another") {
    empty_block_cache();
    const size_t before = block_statistics().held;
    constexpr size_t kSize = 120 << 10, kCount = 4096;  // 480 MiB
    std::vector<Block> small;
    for (size_t i = 0; i < kCount; ++i) small.push_back(allocate(kSize));
    const size_t most = block_statistics().held - before;
    for (const auto& [data, size] : small) block_free(data, size);
    CHECK(block_statistics().kept > most / 2);
    std::vector<Block> large;  // as much again, in blocks that the kept ones are too small for
    size_t held = 0;
    for (size_t i = 0; i < 120; ++i) {
        large.push_back(allocate(size_t{4} << 20));
        held = std::max(held, block_statistics().held - before);
    }
    CHECK(held <= most + most / 4 + kSpareBytes + (size_t{8} << 20));
    for (const auto& [data, size] : large) block_free(data, size);
    empty_block_cache();
    CHECK(block_statistics().kept == 0);
    CHECK(block_statistics().held == before);
}

TEST_CASE("what two sizes need in turn is kept") {
    empty_block_cache();
    const Block a = allocate(kHugeBlock), b = allocate(3 * kHugeBlock);
    block_free(a.data, a.size);
    block_free(b.data, b.size);
    for (int i = 0; i < 3; ++i) {
        const Block c = allocate(kHugeBlock);
        CHECK(c.data == a.data);
        block_free(c.data, c.size);
        const Block d = allocate(3 * kHugeBlock);
        CHECK(d.data == b.data);
        block_free(d.data, d.size);
    }
    empty_block_cache();
}
#endif

TEST_CASE("how much is kept can be said in bytes, K, M and G") {
    CHECK(parse_cache_bytes("0") == 0);
    CHECK(parse_cache_bytes("1234") == 1234);
    CHECK(parse_cache_bytes("500K") == size_t{500} << 10);
    CHECK(parse_cache_bytes("64M") == size_t{64} << 20);
    CHECK(parse_cache_bytes("2G") == size_t{2} << 30);
    for (const char* text : {"", "x", "-1", "1.5G", "3T", "12MB", "99999999999999999999", "18446744073709551615K"})
        CHECK_THROWS_AS(parse_cache_bytes(text), Error);
}
