#include "kernels/elementwise/arithmetic_error.h"

#include "base/error.h"

namespace wengert {
namespace {

constinit thread_local bool zero_division_noted = false;

}  // namespace

void note_zero_division() noexcept { zero_division_noted = true; }

void raise_noted_zero_division(const char* op) {
    if (!zero_division_noted) return;
    zero_division_noted = false;
    fail(ErrorKind::Runtime, "[", op, "] ZeroDivisionError: an integer was divided by zero");
}

}  // namespace wengert
