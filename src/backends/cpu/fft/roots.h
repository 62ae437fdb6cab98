// Roots of unity: exp(-2 pi i k / n), to be rounded to float or double.
#pragma once

#include <cstdint>
#include <vector>

namespace wengert::kernels {

struct WideComplex {
    long double re, im;
};

// Of many k: a root is the product of two, of which two tables of sqrt(n) each know all. They are wider than the result, so the
// error of the product is lost in its rounding (where long double is not, it is one unit in the last place).
class RootsOfUnity {
public:
    explicit RootsOfUnity(int64_t n);
    WideComplex operator()(int64_t k) const;  // 0 <= k < n

private:
    int64_t n_;
    int bits_ = 0;
    std::vector<WideComplex> low_, high_;  // of k < 2^bits, and of its multiples
};

}  // namespace wengert::kernels
