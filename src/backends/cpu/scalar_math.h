// The vocabulary of elementwise formulas on scalars: what `kernel:` and `d_x:` of the table may say.
//
// Every function is overloaded over the C++ types for which it makes sense: bool and integers (arithmetic, comparison,
// logic, bits), float and double (all), complex (what has a complex meaning). `chain(g, p)` is the chain-rule product.
#pragma once

#include "backends/cpu/scalar/complex_transcendental.h"
#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/special.h"
