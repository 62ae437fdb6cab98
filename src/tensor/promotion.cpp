#include "tensor/promotion.h"

namespace wengert {
namespace {

DType default_of(Category c) {
    switch (c) {
        case Category::Bool:
            return DType::Bool;
        case Category::Integral:
            return DType::Int64;
        case Category::Floating:
            return default_dtype();
        case Category::Complex:
            return complex_dtype(default_dtype());
    }
    return DType::Bool;
}

// The running join of one operand class.
struct Class {
    std::optional<DType> dtype;
    void add(DType d) { dtype = dtype ? promote(*dtype, d) : d; }
};

// `high` decides unless `low` has a higher category; then the lower class decides, but complex keeps high's precision.
std::optional<DType> combine(std::optional<DType> high, std::optional<DType> low) {
    if (!high) return low;
    if (!low || category(*high) >= category(*low)) return high;
    if (category(*low) == Category::Complex && is_floating(*high)) return complex_dtype(*high);
    return low;
}

// The least that holds the values of both.
DType promote_integers(DType a, DType b) {
    if (is_unsigned(a) == is_unsigned(b)) return item_size(a) > item_size(b) ? a : b;
    if (is_unsigned(b)) std::swap(a, b);
    if (item_size(b) > item_size(a)) return b;
    switch (a) {
        case DType::UInt8:
            return DType::Int16;
        case DType::UInt16:
            return DType::Int32;
        case DType::UInt32:
            return DType::Int64;
        default:
            fail(ErrorKind::Runtime, "Promotion of uint64 and signed integers is not supported, attempted to promote ",
                 a, " and ", b,
                 ": no integer dtype holds the values of both; convert one of the tensors with .to(dtype)");
    }
}

}  // namespace

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a > b) std::swap(a, b);  // a comes first in the order of DType
    if (category(a) == Category::Integral && category(b) == Category::Integral) return promote_integers(a, b);
    if (a == DType::Float16 && b == DType::BFloat16) return DType::Float32;
    if (a == DType::Float64 && b == DType::Complex64) return DType::Complex128;
    return b;
}

DType result_type(std::span<const Operand> operands) {
    Class dims, zero_dims, numbers;
    for (const Operand& o : operands) {
        if (!o.is_tensor())
            numbers.add(o.scalar().is_wide() ? DType::UInt64 : default_of(o.scalar().kind()));
        else if (o.impl()->dim() > 0)
            dims.add(o.impl()->dtype);
        else
            zero_dims.add(o.impl()->dtype);
    }
    return *combine(combine(dims.dtype, zero_dims.dtype), numbers.dtype);
}

bool can_cast(DType from, DType to) {
    if (category(from) == Category::Complex && category(to) != Category::Complex) return false;
    if (category(from) == Category::Floating && is_integral(to)) return false;
    return !(from != DType::Bool && to == DType::Bool);
}

}  // namespace wengert
