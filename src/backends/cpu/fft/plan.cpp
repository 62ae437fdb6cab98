#include "backends/cpu/fft/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backends/cpu/fft/lines.h"
#include "backends/cpu/fft/roots.h"

namespace wengert::kernels {
namespace {

constexpr int64_t kLargestRadixOfFew = 31;  // where lanes are empty sums over all points cost more
// Blocks of more points are not in the second-level cache: two of as many vectors each, real and imaginary.
constexpr int64_t kMostPoints = 3072;
constexpr int64_t kFewestOfMatrix = 128;
constexpr int64_t kFullLanes = 16;  // a multiple of those of any instruction set

bool is_matrix(int64_t n, bool few) { return n > (few ? kFewestOfMatrix : kMostPoints); }

int64_t largest_prime_factor(int64_t n) {
    int64_t largest = 1;
    for (int64_t p = 2; p * p <= n; ++p)
        for (; n % p == 0; n /= p) largest = p;
    return std::max(n, largest);
}

std::vector<int64_t> radices(int64_t n) {
    std::vector<int64_t> out;
    int twos = std::countr_zero(static_cast<uint64_t>(n));
    n >>= twos;
    for (int taken; twos > 0; twos -= taken) {
        taken = twos == 4 ? 2 : std::min(twos, 3);
        out.push_back(int64_t{1} << taken);
    }
    for (int64_t p = 3; n > 1; p += 2)
        for (; n % p == 0; n /= p) out.push_back(p);
    if (out.empty()) out.push_back(1);
    return out;
}

// The largest divisor that is not above the root; if there are some such that all lanes are full, of those.
int64_t lesser_side(int64_t n) {
    const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    for (int64_t unit : {kFullLanes, int64_t{1}})
        for (int64_t side = root / unit * unit; side * 4 > root; side -= unit)
            if (n % side == 0 && n / side % unit == 0) return side;
    int64_t side = root;
    while (n % side != 0) --side;
    return side;
}

// The fewest points, at least n, that have small factors, and fill all lanes if they are to be a matrix.
int64_t smooth_above(int64_t n, bool of_matrix) {
    const int64_t twos = of_matrix ? kFullLanes * kFullLanes : 1;
    int64_t best = twos;
    while (best < n) best *= 2;
    for (int64_t fives = twos; fives < best; fives *= 5)
        for (int64_t odd = fives; odd < best; odd *= 3) {
            int64_t x = odd;
            while (x < n) x *= 2;
            best = std::min(best, x);
        }
    return best;
}

template <class T>
void put(std::vector<T>& to, WideComplex x) {
    to.push_back(static_cast<T>(x.re));
    to.push_back(static_cast<T>(x.im));
}

template <class T>
void plan_stages(FftPlan<T>& plan) {
    std::vector<size_t> starts;
    int64_t done = 1;
    const RootsOfUnity roots(plan.points);
    for (int64_t radix : radices(plan.points)) {
        const int64_t rest = plan.points / (done * radix);
        starts.push_back(plan.tables.size());
        for (int64_t p = 0; p < rest; ++p)
            for (int64_t k = 1; k < radix; ++k) put(plan.tables, roots(p * k * done));
        starts.push_back(plan.tables.size());
        const RootsOfUnity of_radix(radix);
        for (int64_t k = 0; k < radix; ++k) {
            const WideComplex w = of_radix(k);
            put(plan.tables, {w.re, -w.im});
        }
        plan.stages.push_back({.radix = radix, .rest = rest, .done = done, .twiddles = nullptr, .roots = nullptr});
        done *= radix;
    }
    for (size_t i = 0; i < plan.stages.size(); ++i) {
        plan.stages[i].twiddles = plan.tables.data() + starts[2 * i];
        plan.stages[i].roots = plan.tables.data() + starts[2 * i + 1];
    }
}

template <class T>
std::shared_ptr<FftPlan<T>> of_stages(int64_t n) {
    auto plan = std::make_shared<FftPlan<T>>();
    plan->points = n;
    plan_stages(*plan);
    return plan;
}

template <class T>
void plan_matrix(FftPlan<T>& plan, int64_t a, int64_t b) {
    const int64_t lanes = fft_table().of<T>().lanes;
    const auto side = [](int64_t n) -> std::shared_ptr<const FftPlan<T>> {  // always within a block
        if (largest_prime_factor(n) <= kLargestRadix) return of_stages<T>(n);
        return make_fft_plan<T>(n, false);
    };
    plan.columns = side(a);
    plan.rows = side(b);
    plan.twist_step = (b + lanes - 1) / lanes * lanes;
    plan.twists.resize(static_cast<size_t>(2 * a * plan.twist_step));
    const RootsOfUnity roots(plan.points);
    for (int64_t k = 0; k < a; ++k) {
        T* row = plan.twists.data() + 2 * k * plan.twist_step;
        for (int64_t j = 0; j < b; ++j) {
            const WideComplex w = roots(k * j);
            row[j] = static_cast<T>(w.re);
            row[plan.twist_step + j] = static_cast<T>(w.im);
        }
    }
}

template <class T>
void plan_convolution(FftPlan<T>& plan, bool few) {
    const int64_t n = plan.points, fewest = 2 * n - 1, m = smooth_above(fewest, is_matrix(fewest, few));
    plan.padded = make_fft_plan<T>(m, few);
    plan.spectrum.assign(static_cast<size_t>(2 * m), T(0));
    const RootsOfUnity roots(2 * n);
    int64_t square = 0;  // modulo 2n
    for (int64_t k = 0; k < n; ++k) {
        const WideComplex w = roots(square);
        put(plan.chirp, w);
        for (int64_t at : {k, (m - k) % m}) {
            plan.spectrum[static_cast<size_t>(2 * at)] = static_cast<T>(w.re);
            plan.spectrum[static_cast<size_t>(2 * at + 1)] = static_cast<T>(-w.im);
        }
        square = (square + 2 * k + 1) % (2 * n);
    }
    transform_lines(*plan.padded, FftLines<T>::one(plan.spectrum.data(), plan.spectrum.data()), false,
                    static_cast<T>(1 / static_cast<long double>(m)));
}

}  // namespace

template <class T>
std::shared_ptr<const FftPlan<T>> make_fft_plan(int64_t n, bool few) {
    const int64_t factor = largest_prime_factor(n), side = lesser_side(n);
    const bool of_matrix = is_matrix(n, few) && side > 1;
    const bool lanes_are_full = !few || n / factor >= fft_table().of<T>().lanes;
    const bool by_radices = factor <= (lanes_are_full ? kLargestRadix : kLargestRadixOfFew);
    const bool by_sides = side >= kFullLanes && 2 * (n / side) <= kMostPoints;  // convolutions within blocks
    if (by_radices && !of_matrix) return of_stages<T>(n);
    auto plan = std::make_shared<FftPlan<T>>();
    plan->points = n;
    if (of_matrix && (by_radices || by_sides))
        plan_matrix(*plan, side, n / side);
    else
        plan_convolution(*plan, few);
    return plan;
}

template std::shared_ptr<const FftPlan<float>> make_fft_plan<float>(int64_t, bool);
template std::shared_ptr<const FftPlan<double>> make_fft_plan<double>(int64_t, bool);

}  // namespace wengert::kernels
