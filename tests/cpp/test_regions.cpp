// Regions against sets of bytes, and the log of writes against a plain list.
#include <doctest/doctest.h>
#include <random>
#include <set>

#include "tensor/writes/write_log.h"

using namespace wengert;

namespace {

Tensor random_view(std::mt19937& random, const Tensor& base) {
    auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
    Dims sizes = base.sizes(), strides = base.strides();
    int64_t offset = base.offset();
    for (size_t d = 0; d < sizes.size(); ++d) {
        const int64_t first = below(sizes[d]), step = 1 + below(3);
        const int64_t length = below(2) == 0 ? 1 : 1 + below((sizes[d] - first + step - 1) / step);
        offset += first * strides[d];
        sizes[d] = length;
        strides[d] *= step;
    }
    return alias(base, sizes, strides, offset);
}

std::set<int64_t> bytes_of(const Tensor& t) {
    std::set<int64_t> bytes;
    Dims index(t.sizes().size(), 0);
    for (;;) {
        int64_t at = t.offset();
        for (size_t d = 0; d < index.size(); ++d) at += index[d] * t.strides()[d];
        for (int64_t b = 0; b < item_size(t.dtype()); ++b) bytes.insert(at * item_size(t.dtype()) + b);
        size_t d = index.size();
        while (d > 0 && ++index[d - 1] == t.sizes()[d - 1]) index[--d] = 0;
        if (d == 0) return bytes;
    }
}

bool intersect(const std::set<int64_t>& a, const std::set<int64_t>& b) {
    for (int64_t x : a)
        if (b.contains(x)) return true;
    return false;
}

}  // namespace

TEST_CASE("overlap never denies, and is exact where one dimension is stepped") {
    std::mt19937 random(7);
    const Tensor base = empty(Dims{4, 5, 6}, DType::Float64);
    int wrong = 0, total = 0;
    for (int i = 0; i < 4000; ++i) {
        const Tensor a = random_view(random, base), b = random_view(random, base);
        const bool truth = intersect(bytes_of(a), bytes_of(b));
        const bool told = overlap(region_of(*a.impl()), region_of(*b.impl()));
        CHECK((told || !truth));
        CHECK(told == overlap(region_of(*b.impl()), region_of(*a.impl())));
        wrong += told && !truth;
        total += !truth;
    }
    CHECK(wrong < total / 2);

    const Tensor matrix = empty(Dims{7, 6}, DType::Float32);
    auto column = [&](int64_t from, int64_t width) {
        return region_of(*alias(matrix, Dims{7, width}, Dims{6, 1}, from).impl());
    };
    for (int64_t i = 0; i < 6; ++i)
        for (int64_t j = 0; j < 6; ++j) CHECK(overlap(column(i, 1), column(j, 1)) == (i == j));
    CHECK_FALSE(overlap(column(0, 3), column(3, 3)));
    CHECK(overlap(column(0, 4), column(3, 3)));
    auto every_second = [&](int64_t from) { return region_of(*alias(matrix, Dims{21}, Dims{2}, from).impl()); };
    CHECK_FALSE(overlap(every_second(0), every_second(1)));
    CHECK(region_of(*alias(matrix, Dims{0, 6}, Dims{6, 1}, 3).impl()).empty());
}

TEST_CASE("hull holds both regions") {
    std::mt19937 random(8);
    const Tensor base = empty(Dims{5, 8}, DType::Float32);
    for (int i = 0; i < 2000; ++i) {
        const Tensor a = random_view(random, base), b = random_view(random, base), c = random_view(random, base);
        const Region both = hull(region_of(*a.impl()), region_of(*b.impl()));
        const std::set<int64_t> bytes = bytes_of(c);
        if (intersect(bytes_of(a), bytes) || intersect(bytes_of(b), bytes)) CHECK(overlap(both, region_of(*c.impl())));
    }
}

TEST_CASE("the log finds the latest write that overlaps") {
    std::mt19937 random(9);
    const Tensor base = empty(Dims{40, 8}, DType::Float32);
    WriteLog log(0);
    std::vector<Region> all;
    for (uint32_t number = 1; number <= 500; ++number) {
        const Region region = region_of(*random_view(random, base).impl());
        (void)log.add(region, "f", number);
        all.push_back(region);
        const Region asked = region_of(*random_view(random, base).impl());
        const auto since = static_cast<uint32_t>(random() % number);
        bool expected = false;
        for (uint32_t i = since; i < number; ++i) expected |= overlap(all[i], asked);
        CHECK(log.find(asked, since).any == expected);
    }
}

TEST_CASE("a long log forgets its older half and says so") {
    WriteLog log(0);
    auto element = [](int64_t i) { return Region{.begin = 4 * i, .end = 4 * i + 4}; };
    constexpr uint32_t count = 70'000;
    for (uint32_t number = 1; number <= count; ++number) (void)log.add(element(number), "f", number);
    CHECK_FALSE(log.find(element(1), count - 10).any);
    CHECK(log.find(element(count - 1), count - 10).operation == std::string("f"));
    const auto forgotten = log.find(element(0), 1);
    CHECK(forgotten.any);
    CHECK(forgotten.operation == nullptr);
    (void)log.add({.begin = 0, .end = 4 * count + 4}, "g", count + 1);
    CHECK(log.find(element(1), count).operation == std::string("g"));
}

TEST_CASE("writes from outside are found in the region that is asked about") {
    std::vector<float> memory(4096, 1.0f);
    static constexpr Storage::Foreign owner{[](void*) noexcept {}};
    const Ref<Storage> storage =
        Storage::wrap(memory.data(), static_cast<int64_t>(memory.size() * sizeof(float)), owner, nullptr);
    storage->watch();
    auto elements = [](int64_t from, int64_t to) { return Region{.begin = 4 * from, .end = 4 * to}; };
    storage->check_outside_writes(elements(0, 4096));
    CHECK(storage->writes == 0);
    memory[10] = 2;
    storage->check_outside_writes(elements(20, 4096));
    CHECK(storage->writes == 0);
    storage->check_outside_writes(elements(0, 20));
    CHECK(storage->writes == 1);
    CHECK(storage->find_write(elements(10, 11), 0).outside);
    CHECK_FALSE(storage->find_write(elements(11, 12), 0).any);
    memory[30] = 3;  // ours
    storage->note_write(elements(30, 31), "f");
    storage->check_outside_writes(elements(0, 4096));
    CHECK(storage->writes == 2);
}
