#include "tensor/dtype.h"

#include <atomic>

namespace wengert {
namespace {

std::atomic<DType> current_default{DType::Float32};

}  // namespace

std::string_view dtype_name(DType d) {
    static constexpr std::string_view names[] = {
#define X(name, type, python, legacy) python,
        WENGERT_DTYPES(X)
#undef X
    };
    return names[static_cast<int>(d)];
}

std::string_view legacy_type_name(DType d) {
    static constexpr std::string_view names[] = {
#define X(name, type, python, legacy) legacy,
        WENGERT_DTYPES(X)
#undef X
    };
    return names[static_cast<int>(d)];
}

DType default_dtype() noexcept { return current_default.load(std::memory_order_relaxed); }

void set_default_dtype(DType d) {
    check(is_floating(d), ErrorKind::Type, "only floating-point types are supported as the default type, got ", d);
    current_default = d;
}

void check_inexact(DType d, const char* op) {
    dispatch_inexact(opmath_dtype(d), op, []<class T> {});
}
void check_floating(DType d, const char* op) {
    dispatch_floating(opmath_dtype(d), op, []<class T> {});
}
void check_ordered(DType d, const char* op) {
    dispatch_ordered(opmath_dtype(d), op, []<class T> {});
}

}  // namespace wengert
