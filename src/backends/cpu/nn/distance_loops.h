// Distances between rows and their gradients, for the norms without powers, compiled once per instruction set.
#pragma once

#include <array>
#include <cstdint>

namespace wengert::kernels {

// What becomes of a difference: 1 where it is not 0, its size or its square, which are summed, or its size, of which the
// greatest counts.
enum class Norm { Count, Sum, Euclidean, Greatest };
inline constexpr int kNorms = 4;

// Rows of x are taken so many at a time.
inline constexpr int kRowsOfPairs = 4;
// Longer rows are summed up along themselves, others across so many rows of y.
inline constexpr int64_t kLongRow = 256;
template <class T>
inline constexpr int64_t kPlaces = 128 / static_cast<int64_t>(sizeof(T));

template <class T>
struct DistanceLoops {
    // Of one norm: the sums, or the greatest.
    struct Sums {
        // out [batch,m,n] of x [batch,m,d] and y [batch,n,d]
        void (*of_rows)(const T* x, const T* y, int64_t batch, int64_t m, int64_t n, int64_t d, T* out);
        // out [kRowsOfPairs,kPlaces] of 1 to kRowsOfPairs rows of x [.,d], and of `count` columns of places [d,.], whose rows
        // are `step` apart. Whole vectors are read and written.
        void (*across)(const T* x, int64_t rows, const T* places, int64_t step, int64_t count, int64_t d, T* out);
    };
    std::array<Sums, kNorms> sums;
    // places [d,n], rows `step` apart, become the transposed rows of y [n,d].
    void (*transpose)(int64_t n, int64_t d, const T* y, int64_t y_step, T* places, int64_t step);
    // Takes the square roots if no sum of squares can have overflowed or vanished, and says whether.
    bool (*take_roots)(T* sums, int64_t count);
    // weights [n] = cotangents / lengths, 0 where either is 0. False if digits are lost, or a length is not finite.
    bool (*quotients)(const T* cotangents, const T* lengths, int64_t n, T* weights);
    // Of each of a batch: to [rows,d] += the sum over s of weights[r,s] * (x - y), others [n,d] -= that over r. x [rows,d],
    // y [n,d], 1 to kRowsOfPairs rows. Of differences or, for the sum norm, of their signs.
    using Gradients = void (*)(int64_t batch, const T* x, int64_t rows, const T* y, int64_t n, int64_t d,
                               const T* weights, T* to, T* others);
    Gradients add_differences, add_signs;
};
struct DistanceTable {
    DistanceLoops<float> of_float;
    DistanceLoops<double> of_double;
};
const DistanceTable& distance_table();

}  // namespace wengert::kernels
