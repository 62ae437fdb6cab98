// Integer division by zero on a device (backends/cpu/elementwise/arithmetic_error.h): the host reads the flag after the launch,
// where the row says `divides: true`, raises and clears it.
#include "backends/cpu/elementwise/arithmetic_error.h"

extern "C" __device__ int wengert_zero_division = 0;

namespace wengert {

void note_zero_division() noexcept { wengert_zero_division = 1; }  // all threads write the same

}  // namespace wengert
