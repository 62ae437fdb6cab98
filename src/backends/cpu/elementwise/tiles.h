// Elementwise loops over planes whose rows are short, or in which an operand lies across.
//
// A row of 64 elements costs more to begin than to compute, and an operand that is transposed has its neighbours in other
// rows. So the two innermost dimensions of an iteration are cut into tiles of rows and columns. Operands that do not lie as the
// loop wants them are gathered into buffers which stay in the first-level cache, in the order in which they lie in memory:
//
//   * short rows: a tile is as many whole rows as fit, and one call of the loop computes it. A row of such a tile may span
//     several dimensions: of a batch of 2 x 2 matrices it is a matrix. Results that do not lie so are scattered from a buffer;
//   * an operand across: a tile is kAcross rows of 64 columns, gathered column by column, and one call computes a row of it.
//
// Tiles depend on the sizes alone, so results are the same for any number of threads.
#pragma once

#include <cstdlib>
#include <cstring>

#include "backends/cpu/elementwise/strided.h"
#include "base/threads/parallel_for.h"
#include "kernels/elementwise/strided_iteration.h"

namespace wengert::kernels {

class Tiles {
public:
    explicit Tiles(const StridedIteration& iteration);
    bool is_worth_it() const noexcept { return rows_ > 0; }

    // loop(args, n, steps) for all of them, then `after()` on each thread.
    template <class L, class After>
    void run(const L& loop, const After& after) const {
        const int64_t across = whole_ ? 1 : ceil_of(it_.size(0), columns_), down = ceil_of(it_.size(row_dim_), rows_);
        parallel_for(planes_ * down * across, std::max<int64_t>(1, kParallelBlock / (rows_ * columns_)),
                     [&](int64_t begin, int64_t end) {
                         alignas(64) char buffers[StridedIteration::kMaxArrays][kBytes];
                         for (int64_t t = begin; t < end; ++t)
                             run_tile(loop, t / (down * across), t / across % down * rows_, t % across * columns_,
                                      buffers);
                         after();
                     });
    }

private:
    static constexpr int64_t kBytes = 8192, kShortRow = 256, kRepeatedRow = 512, kShortest = 32, kAcross = 32,
                             kColumns = 64, kFewest = 512, kRun = 8;
    enum class Lies : uint8_t {
        AsTile,
        AsRows,
        Elsewhere
    };  // along rows that are dense to each other; along rows; otherwise

    static int64_t ceil_of(int64_t n, int64_t part) noexcept { return (n + part - 1) / part; }
    // Whether the dimensions up to `last` lie in array `a` one within the other without gaps.
    bool is_dense(int a, int last) const noexcept;
    // Between a buffer [rows, columns] and where that lies: of rows that span several dimensions, and of one dimension.
    void gather(char* buffer, const char* from, int array, int64_t rows, int64_t columns) const;
    void gather_plane(char* buffer, const char* from, int array, int64_t rows, int64_t columns) const;
    void scatter(const char* buffer, char* to, int array, int64_t rows, int64_t columns) const;
    // f(byte offset in memory, byte offset in a row of a buffer) for each element of a row that spans several dimensions.
    template <class F>
    void each_of_row(int array, int64_t columns, F f) const {
        const int64_t item = it_.item_size(array);
        for (int64_t c = 0; c < columns; ++c) {
            int64_t offset = 0, left = c;
            for (int d = 0; d < row_dim_; left /= it_.size(d++)) offset += left % it_.size(d) * it_.steps(d)[array];
            f(offset, c * item);
        }
    }

    template <class L>
    void run_tile(const L& loop, int64_t plane, int64_t row, int64_t column, char (*buffers)[kBytes]) const {
        const int arrays = it_.arrays();
        const int64_t rows = std::min(rows_, it_.size(row_dim_) - row);
        const int64_t columns = whole_ ? columns_ : std::min(columns_, it_.size(0) - column);
        char *args[StridedIteration::kMaxArrays], *start[StridedIteration::kMaxArrays];
        int64_t steps[StridedIteration::kMaxArrays], down[StridedIteration::kMaxArrays];
        char* result = nullptr;  // where the last array lies
        for (int a = 0; a < arrays; ++a) {
            start[a] = it_.data()[a] + row * it_.steps(row_dim_)[a] + column * it_.steps(0)[a];
            int64_t left = plane;
            for (int d = row_dim_ + 1; d < it_.dims(); left /= it_.size(d++))
                start[a] += left % it_.size(d) * it_.steps(d)[a];
            steps[a] = it_.item_size(a);
            down[a] = it_.steps(row_dim_)[a];
            if (lies_[a] != Lies::Elsewhere) continue;
            if (a + 1 < arrays) gather(buffers[a], start[a], a, rows, columns);
            result = start[a];
            start[a] = buffers[a];
            down[a] = columns * steps[a];
        }
        const int64_t calls = whole_ ? 1 : rows;
        for (int64_t r = 0; r < calls; ++r) {
            for (int a = 0; a < arrays; ++a) args[a] = start[a] + r * down[a];
            loop(args, whole_ ? rows * columns : columns, steps);
        }
        if (lies_[arrays - 1] == Lies::Elsewhere) scatter(buffers[arrays - 1], result, arrays - 1, rows, columns);
    }

    const StridedIteration& it_;
    int64_t planes_ = 1, rows_ = 0, columns_ = 0;
    int row_dim_ = 1;     // rows follow each other along it, and span the dimensions within
    bool whole_ = false;  // a tile is one call
    Lies lies_[StridedIteration::kMaxArrays];
};

}  // namespace wengert::kernels
