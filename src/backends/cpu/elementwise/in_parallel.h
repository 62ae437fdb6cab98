// Elementwise loops on several threads. An element is computed by the same instructions wherever ranges begin: they are cut
// at whole vectors, as blocks are (backends/cpu/isa/blocks.h).
#pragma once

#include <algorithm>
#include <atomic>

#include "backends/cpu/elementwise/arithmetic_error.h"
#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/elementwise/tiles.h"
#include "base/threads/parallel_for.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/strided_iteration.h"

namespace wengert::kernels {

inline constexpr int64_t kParallelBytes = 1 << 16;  // of what is only copied
inline constexpr int64_t kVectors = 64;             // elements that are whole vectors of any type

// So many units of `elements` each are a block.
inline int64_t units_of(int64_t elements) noexcept {
    return std::max<int64_t>(1, kParallelBlock / std::max<int64_t>(1, elements));
}

// The same of rows, of which loops take short ones in groups (backends/cpu/isa/rows.h).
inline int64_t rows_of(int64_t elements) noexcept {
    const int64_t rows = units_of(elements);
    return elements < 1024 ? (rows + kVectors - 1) / kVectors * kVectors : rows;
}

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

// loop(args, n, steps) of `arrays` arrays.
void run_flat(Loop loop, char* const* args, int64_t n, const int64_t* steps, int arrays);

// f(part of the iteration) in the place of f(iteration). Dimension 0 is cut at multiples of `unit`.
template <class F>
void in_parts(const StridedIteration& iteration, int64_t unit, F&& f) {
    int64_t numel = iteration.empty() ? 0 : 1;
    for (int d = 0; d < std::max(iteration.dims(), 1); ++d) numel *= iteration.size(d);
    if (numel < 2 * kParallelBlock) return f(iteration);
    int cut = 0;  // the outermost of the longest
    for (int d = 1; d < iteration.dims(); ++d)
        if (iteration.size(d) >= std::min<int64_t>(iteration.size(cut), kVectors)) cut = d;
    if (cut > 0) unit = 1;
    const int64_t size = iteration.size(cut), block = units_of(numel / size);
    parallel_for(size, (block + unit - 1) / unit * unit,
                 [&](int64_t begin, int64_t end) { f(iteration.part(cut, begin, end)); });
}

// loop(args, n, steps) for all rows of an iteration that has been coalesced.
template <class L>
void run_rows(const StridedIteration& iteration, const L& loop) {
    Notes notes;
    const Tiles tiles(iteration);
    if (tiles.is_worth_it()) return tiles.run(loop, [&] { notes.take(); });
    in_parts(iteration, kVectors, [&](const StridedIteration& part) {
        part.for_each_row(loop);
        notes.take();
    });
}

}  // namespace wengert::kernels
