#include "backends/cpu/elementwise/arithmetic_error.h"

#include <utility>

#include "base/error.h"

namespace wengert {
namespace {

constinit thread_local bool zero_division_noted = false;

}  // namespace

void note_zero_division() noexcept { zero_division_noted = true; }

bool take_zero_division() noexcept { return std::exchange(zero_division_noted, false); }

void raise_noted_zero_division(const char* op) {
    if (!take_zero_division()) return;
    fail(ErrorKind::Runtime, "[", op, "] ZeroDivisionError: an integer was divided by zero");
}

}  // namespace wengert
