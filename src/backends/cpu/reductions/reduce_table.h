// The inner loops of reductions, and the table in which reduce.cpp and its neighbours find them.
//
// Every reduction of the library is made of one kind of loop, a tile:
//
//     for c in 0..cols:  for r in 0..rows:  acc[c] = merge(acc[c], in[r * row_stride + c * col_stride])
//
// One call therefore serves a long contiguous vector (cols 1), many short rows (row_stride 1), a sum over leading
// dimensions (col_stride 1) and whatever is strided both ways; the loop looks at the strides once and picks the order
// that streams through memory. Accumulators of sums are wider than the elements: float lanes are folded into double
// every few hundred elements, so errors do not grow with the length; the lanes have a fixed number, so that all
// instruction sets give the same bits.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace wengert::kernels {

struct Tile {
    int64_t rows, row_stride;  // reduced
    int64_t cols, col_stride;  // kept
};

using TileLoop = void (*)(const void* in, const Tile& tile, void* acc, double parameter);
// values/indices: of the first extreme element of each column; NaN counts as extreme.
using ArgLoop = void (*)(const void* in, const Tile& tile, void* values, int64_t* indices);

using InPlaceLoop = void (*)(double* x, int64_t n);

// What a tile loop accumulates, for elements of type T.
enum class Reduction : uint8_t {
    Sum,            // int64, double or complex128
    NanSum,         // double: NaN counts as 0
    Prod,           // as Sum
    Max,            // T: NaN wins
    Min,            //
    All,            // bool
    Any,            //
    CountNonzero,   // int64
    AbsSum,         // double: sum of |x| (real types)
    SquareSum,      // double: sum of |x|^2
    AbsPowSum,      // double: sum of |x|^parameter
    AbsMax,         // T
    AbsMin,         // T
    Deviation,      // struct Centered: sum of (x - center)^2 for the center already there
    ExpSum,         // Centered too: sum of exp(x - center)
    ExpSumBelow,    // the same over x < center
    ScaledSquares,  // Centered too: sum of |x * center|^2, computed in double
    ScaledPowSum,   // Centered too: sum of |x * center|^parameter, computed in double
    Spread,         // struct Spread, computed in double
};
inline constexpr int kNumReductions = 19;

struct Centered {
    double center;
    double total;
};
// Sums of x * scale - origin and of its square.
struct Spread {
    double scale, origin;
    double sum, squares;
};

struct ReduceTable {
    TileLoop tile[kNumReductions][kNumDTypes];  // null where not defined
    ArgLoop arg_max[kNumDTypes];
    ArgLoop arg_min[kNumDTypes];
    InPlaceLoop log, log1p;
};

const ReduceTable& reduce_table();

}  // namespace wengert::kernels
