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

}  // namespace

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a > b) std::swap(a, b);  // a comes first in the order of DType
    if (a == DType::UInt8 && category(b) == Category::Integral) return b == DType::Int8 ? DType::Int16 : b;
    if (a == DType::Float16 && b == DType::BFloat16) return DType::Float32;
    if (a == DType::Float64 && b == DType::Complex64) return DType::Complex128;
    return b;
}

DType result_type(std::span<const Operand> operands) {
    Class dims, zero_dims, numbers;
    for (const Operand& o : operands) {
        if (!o.is_tensor())
            numbers.add(default_of(o.scalar().kind()));
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
