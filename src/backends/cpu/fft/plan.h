// Plans: what a Fourier transform of n points needs to know that does not depend on the points.
//
// There are three ways. Few points are transformed by stages, one for each factor of n, in a block of lines that stays in the
// caches (fft/loops.h): lanes are lines. Many points n = a b, or a single line of which no lanes could be made, are two such
// transforms: of the columns of a matrix [a, b], whose results are twisted by roots of unity, and of its rows (D. H. Bailey,
// FFTs in external or hierarchical memory, 1990). And if n has a large prime factor, the transform is a convolution
// with exp(i pi k^2 / n), computed by transforms of at least 2n - 1 points (L. Bluestein, 1970).
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/fft/loops.h"

namespace wengert::kernels {

template <class T>
struct FftPlan {
    int64_t points;

    std::vector<FftStage<T>> stages;  // empty: one of the other ways
    std::vector<T> tables;            // which they point to

    std::shared_ptr<const FftPlan> columns, rows;  // a and b points, both within blocks
    std::vector<T> twists;                         // [a][2][twist_step], at [k][.][j]: w^(k j)
    int64_t twist_step = 0;

    std::shared_ptr<const FftPlan> padded;
    std::vector<T> chirp, spectrum;  // [points], exp(-i pi k^2 / n); [padded], the transform of its conjugate

    FftPlan() = default;
    FftPlan(const FftPlan&) = delete;

    bool has_stages() const noexcept { return !stages.empty(); }
    // Complex points of a block of lines, which is all that is needed; 0: a line is more than a block.
    int64_t block_points() const noexcept { return has_stages() ? points : padded ? padded->block_points() : 0; }
};

// Few lines, which fill only some of the lanes, may have another plan than many.
template <class T>
std::shared_ptr<const FftPlan<T>> make_fft_plan(int64_t n, bool few);

// For real points: half as many complex numbers where n is even, else as many, whose imaginary parts are zero.
template <class T>
struct RealFftPlan {
    int64_t points;
    std::shared_ptr<const FftPlan<T>> complex;
    std::vector<T> roots;  // of unity of n points, the first n / 4 + 1; even n
};

// Plans that were used lately are kept.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n, bool few);
template <class T>
std::shared_ptr<const RealFftPlan<T>> real_fft_plan(int64_t n, bool few);

}  // namespace wengert::kernels
