// base/threads/parallel_for.h: which ranges there are, and what becomes of errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/threads/parallel_for.h"

using namespace wengert;

namespace {

struct Threads {
    explicit Threads(int n) : before(num_threads()) { set_num_threads(n); }
    ~Threads() { set_num_threads(before); }
    const int before;
};

// What one index takes: enough for a few blocks to be worth threads.
void take_a_while() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

}  // namespace

TEST_CASE("parallel_for covers every index once, in ranges that begin at multiples of the block") {
    for (int threads : {1, 2, 5}) {
        const Threads limit(threads);
        for (int64_t n : {0, 1, 7, 8, 15, 16, 17, 100, 203}) {
            CAPTURE(threads);
            CAPTURE(n);
            constexpr int64_t block = 8;
            std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
            std::atomic<bool> aligned = true, long_enough = true;
            parallel_for(n, block, [&](int64_t begin, int64_t end) {
                if (begin % block != 0) aligned = false;
                if (end - begin < std::min(block, n)) long_enough = false;
                for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
                take_a_while();
            });
            for (const auto& count : seen) CHECK(count == 1);
            CHECK(aligned);
            CHECK(long_enough);
        }
    }
}

TEST_CASE("several threads take part, and no more than allowed") {
    const Threads limit(3);
    std::mutex mutex;
    std::set<std::thread::id> ids;
    parallel_for(60, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) take_a_while();
        const std::lock_guard lock(mutex);
        ids.insert(std::this_thread::get_id());
    });
    CHECK(ids.size() <= 3);
    CHECK(ids.contains(std::this_thread::get_id()));
}

TEST_CASE("what is short stays on the thread that calls") {
    const Threads limit(4);
    std::atomic<bool> elsewhere = false;
    const auto caller = std::this_thread::get_id();
    for (int turn = 0; turn < 100; ++turn)
        parallel_for(8, 1, [&](int64_t, int64_t) {
            if (std::this_thread::get_id() != caller) elsewhere = true;
        });
    CHECK_FALSE(elsewhere);
}

TEST_CASE("one inside another starts no further threads") {
    const Threads limit(4);
    std::mutex mutex;
    std::set<std::thread::id> ids;
    std::atomic<int> done = 0;
    parallel_for(20, 1, [&](int64_t outer, int64_t last) {
        for (; outer < last; ++outer)
            parallel_for(8, 1, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) take_a_while();
                done += static_cast<int>(end - begin);
                const std::lock_guard lock(mutex);
                ids.insert(std::this_thread::get_id());
            });
    });
    CHECK(done == 160);
    CHECK(ids.size() <= 4);
    {
        const OneThread here;
        CHECK_FALSE(may_use_threads());
    }
    CHECK(may_use_threads());
}

TEST_CASE("the error of the first range that fails comes out, when all threads are done") {
    const Threads limit(4);
    for (int turn = 0; turn < 20; ++turn) {
        std::atomic<int> running = 0;
        CHECK_THROWS_WITH_AS(parallel_for(100, 1,
                                          [&](int64_t begin, int64_t) {
                                              ++running;
                                              take_a_while();
                                              --running;
                                              if (begin >= 10) throw std::runtime_error("from a range");
                                          }),
                             "from a range", std::runtime_error);
        CHECK(running == 0);
    }
    int64_t covered = 0;  // and the threads go on to live
    parallel_for(3, 4, [&](int64_t begin, int64_t end) { covered += end - begin; });
    CHECK(covered == 3);
}
