#include "backends/cpu/fft/roots.h"

#include <cmath>
#include <utility>

namespace wengert::kernels {
namespace {

// The angle is brought into the first eighth of the circle by exact arithmetic, where neither function loses accuracy.
WideComplex root_of_unity(int64_t k, int64_t n) {
    constexpr long double right_angle = 1.57079632679489661923132169163975144L;
    const bool lower = 2 * k < n;
    int64_t quarters = 4 * (lower ? k : n - k);  // in units of a right angle / n
    const bool left = quarters > n;
    if (left) quarters = 2 * n - quarters;
    const bool steep = 2 * quarters > n;
    if (steep) quarters = n - quarters;
    const long double angle = right_angle * static_cast<long double>(quarters) / static_cast<long double>(n);
    long double re = std::cos(angle), im = std::sin(angle);
    if (steep) std::swap(re, im);
    return {left ? -re : re, lower ? -im : im};
}

}  // namespace

RootsOfUnity::RootsOfUnity(int64_t n) : n_(n) {
    if (n < 1024) return;
    while (int64_t{1} << (2 * bits_) < n) ++bits_;
    for (int64_t k = 0; k < int64_t{1} << bits_; ++k) low_.push_back(root_of_unity(k, n));
    for (int64_t k = 0; k < n; k += int64_t{1} << bits_) high_.push_back(root_of_unity(k, n));
}

WideComplex RootsOfUnity::operator()(int64_t k) const {
    if (bits_ == 0) return root_of_unity(k, n_);
    const auto [a, b] = low_[static_cast<size_t>(k & ((int64_t{1} << bits_) - 1))];
    const auto [c, d] = high_[static_cast<size_t>(k >> bits_)];
    return {a * c - b * d, a * d + b * c};
}

}  // namespace wengert::kernels
