// Products of very small matrices, many at a time.
//
// Of 2 x 2 matrices everything that is done once a product costs more than the product. So the sizes of B, which stays in
// registers, are constants of the loop, and one call takes a whole row of a batch. Its scalar arithmetic is the same on every
// instruction set.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace wengert::kernels {

inline constexpr int kTinyMatrix = 4;  // rows and columns of B at most
inline constexpr int64_t kTinyRows = 16;

template <class R>
struct ComplexPair {
    R re, im;
};

// C[m,n] = alpha A[m,k] B[k,n] + beta C for `count` products, whose matrices are `step` apart; strides in elements. beta == 0
// means that C is not read.
template <class T>
struct TinyProducts {
    struct Operand {
        T* data;
        int64_t row, col, step;
    };
    int64_t count, m;
    T alpha, beta;
    Operand a, b, c;
};

template <class T>
using TinyLoop = void (*)(const TinyProducts<T>&);
template <class T>
using TinyLoops = std::array<std::array<TinyLoop<T>, kTinyMatrix>, kTinyMatrix>;  // [k - 1][n - 1]

struct TinyProductsTable {
    TinyLoops<float> f32;
    TinyLoops<double> f64;
    TinyLoops<ComplexPair<float>> c64;
    TinyLoops<ComplexPair<double>> c128;
};
extern const TinyProductsTable tiny_products;

}  // namespace wengert::kernels
