// Whether all numbers of a block are finite, once per instruction set.
//
// The exponent of what is infinite or NaN is all ones: one more carries into the sign's place. No branch and no
// comparison, so that this runs at the speed of memory.
#include <limits>

#include "backends/cpu/reductions/finite_table.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T, class Bits>
bool all_finite(const T* data, int64_t n) {
    constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
    constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1, kStep = Bits{1} << kMantissa;
    Bits found = 0;
    for (int64_t i = 0; i < n; ++i) found |= (__builtin_bit_cast(Bits, data[i]) & kMagnitude) + kStep;
    return (found & ~kMagnitude) == 0;
}

}  // namespace

extern const FiniteTable finite_table;
const FiniteTable finite_table = {all_finite<float, uint32_t>, all_finite<double, uint64_t>};

}  // namespace wengert::kernels::WENGERT_ISA
