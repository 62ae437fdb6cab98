// Whether all numbers of a block are finite, compiled per instruction set (isa/finite_loops.cpp).
#pragma once

#include <cstdint>

namespace wengert::kernels {

struct FiniteTable {
    bool (*float32)(const float* data, int64_t n);
    bool (*float64)(const double* data, int64_t n);
};
const FiniteTable& finite_table();

}  // namespace wengert::kernels
