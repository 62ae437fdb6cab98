// Turning matrices over, once per instruction set.
#include "kernels/isa/transpose.h"
#include "kernels/products/transpose_table.h"

namespace wengert::kernels::WENGERT_ISA {

extern const TransposeTable transpose_table;
const TransposeTable transpose_table = {transpose<float>, transpose<double>};

}  // namespace wengert::kernels::WENGERT_ISA
