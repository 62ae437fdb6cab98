#include "tensor/representable.h"

#include <limits>

#include "base/error.h"

namespace wengert {
namespace {

template <class T>
bool fits(double v) {
    constexpr double end = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;  // the first that is too big
    constexpr double least = std::is_signed_v<T> ? -end : 1 - end;
    return v < end && (v >= least || v > least - 1);  // NaN is neither
}

bool fits(double v, DType dtype) {
    switch (dtype) {
        case DType::UInt8:
            return fits<uint8_t>(v);
        case DType::UInt16:
            return fits<uint16_t>(v);
        case DType::UInt32:
            return fits<uint32_t>(v);
        case DType::UInt64:
            return fits<uint64_t>(v);
        case DType::Int8:
            return fits<int8_t>(v);
        case DType::Int16:
            return fits<int16_t>(v);
        case DType::Int32:
            return fits<int32_t>(v);
        case DType::Int64:
            return fits<int64_t>(v);
        default:
            return true;
    }
}

}  // namespace

void check_representable(const Scalar& value, DType dtype) {
    if (!is_integral(dtype) || (value.kind() != Category::Floating && !value.is_wide())) return;
    check(value.is_wide() ? dtype == DType::UInt64 || dtype == DType::Bool : fits(value.to<double>(), dtype),
          ErrorKind::Runtime, "value cannot be converted to type ", dtype, " without overflow: ", value.to<double>());
}

}  // namespace wengert
