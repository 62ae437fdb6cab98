#include "backends/cpu/elementwise/in_parallel.h"

#include <atomic>

#include "backends/cpu/elementwise/arithmetic_error.h"
#include "backends/cpu/elementwise/tiles.h"

namespace wengert::kernels {
namespace {

// What loops note on the threads they ran on is noted on this one.
class Notes {
public:
    void take() noexcept {
        if (take_zero_division()) division_.store(true, std::memory_order_relaxed);
    }
    ~Notes() {
        if (division_.load(std::memory_order_relaxed)) note_zero_division();
    }

private:
    std::atomic<bool> division_{false};
};

}  // namespace

void run_flat(Loop loop, char* const* args, int64_t n, const int64_t* steps, int arrays) {
    Notes notes;
    parallel_for(n, kParallelBlock, [&](int64_t begin, int64_t end) {
        char* from[StridedIteration::kMaxArrays];
        for (int a = 0; a < arrays; ++a) from[a] = args[a] + begin * steps[a];
        loop(from, end - begin, steps);
        notes.take();
    });
}

void run_rows(const StridedIteration& iteration, Loop loop) {
    Notes notes;
    const Tiles tiles(iteration);
    if (tiles.is_worth_it()) return tiles.run(loop, [&] { notes.take(); });
    in_parts(iteration, kVectors, [&](const StridedIteration& part) {
        part.for_each_row(loop);
        notes.take();
    });
}

}  // namespace wengert::kernels
