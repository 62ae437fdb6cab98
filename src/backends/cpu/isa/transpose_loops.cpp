// Turning matrices over, once per instruction set.
#include "backends/cpu/isa/transpose.h"
#include "backends/cpu/products/transpose_table.h"

namespace wengert::kernels::WENGERT_ISA {

extern const TransposeTable transpose_table;
const TransposeTable transpose_table = {transpose<float>, transpose<double>};

}  // namespace wengert::kernels::WENGERT_ISA
