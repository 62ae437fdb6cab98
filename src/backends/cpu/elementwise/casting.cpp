#include "backends/cpu/elementwise/casting.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/every_second.h"
#include "backends/cpu/elementwise/reduced_float_table.h"
#include "backends/cpu/elementwise/row_table.h"
#include "generated/kernels/comparison.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(ReducedFloatTable, reduced_float_table)
WENGERT_TABLE_PER_ISA(RowTable, row_table)

namespace {

// As C++ converts, where C++ says what happens. Beyond that: complex to real takes the real part, floating to an integral
// type goes through int64 or, to a small signed one, int32 (so that -1.0 wraps) as far as that goes, NaN is true, and
// reduced types are floats.
template <class To, class From>
To convert(From x) {
    if constexpr (std::is_same_v<To, From>)
        return x;
    else if constexpr (is_reduced_float<From>)
        return convert<To>(static_cast<float>(x));
    else if constexpr (is_reduced_float<To>)
        return To(convert<float>(x));
    else if constexpr (std::is_same_v<To, bool>)
        return x != From(0);
    else if constexpr (std::is_same_v<From, complex64> || std::is_same_v<From, complex128>) {
        if constexpr (std::is_same_v<To, complex64> || std::is_same_v<To, complex128>)
            return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
        else
            return convert<To>(x.real());
    } else if constexpr (std::is_same_v<To, complex64> || std::is_same_v<To, complex128>)
        return To(static_cast<typename To::value_type>(x));
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && std::is_signed_v<To> &&
                       sizeof(To) <= sizeof(int32_t))
        return static_cast<To>(static_cast<int32_t>(x));  // that has a vector form
    else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>)
        return x < From(0x1p63) ? static_cast<To>(static_cast<int64_t>(x)) : static_cast<To>(x);
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
        return static_cast<To>(static_cast<int64_t>(x));
    else
        return static_cast<To>(x);
}

// to[i] = last[-i]
template <class T>
void copy_backwards(const T* last, T* to, int64_t n) {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        typedef Word Vector [[gnu::vector_size(16)]];
        constexpr int kWords = sizeof(Vector) / sizeof(Word);
        for (; n >= kWords; n -= kWords, last -= kWords, to += kWords) {
            Vector v;
            std::memcpy(&v, last - (kWords - 1), sizeof v);
            if constexpr (kWords == 4)
                v = __builtin_shufflevector(v, v, 3, 2, 1, 0);
            else
                v = __builtin_shufflevector(v, v, 1, 0);
            std::memcpy(static_cast<void*>(to), &v, sizeof v);
        }
    }
    for (int64_t i = 0; i < n; ++i) to[i] = last[-i];
}

template <class From, class To>
void loop(char** args, int64_t n, const int64_t* steps) {
    if (steps[0] == sizeof(From) && steps[1] == sizeof(To)) {
        const From* from = reinterpret_cast<const From*>(args[0]);
        To* to = reinterpret_cast<To*>(args[1]);
        if constexpr (std::is_same_v<From, To>) {
            if (n >= 16) {  // for fewer it is not worth the call
                std::memmove(to, from, static_cast<size_t>(n) * sizeof(To));
                return;
            }
        }
        if constexpr (std::is_same_v<To, bool> && std::is_floating_point_v<From>) {
            static const Loop differs = loop_of(K_ne, dtype_of<From>);  // has a form for each instruction set
            From zero = 0;
            char* operands[] = {args[0], reinterpret_cast<char*>(&zero), args[1]};
            const int64_t each[] = {steps[0], 0, steps[1]};
            return differs(operands, n, each);
        }
        if constexpr (has_reduced_float_loop<From, To>) return reduced_float_table().of<From, To>()(from, to, n);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
    } else if (steps[0] == 0 && steps[1] == sizeof(To)) {
        const To value = convert<To>(*reinterpret_cast<const From*>(args[0]));
        spread_rows(reinterpret_cast<To*>(args[1]), 1, n, reinterpret_cast<const char*>(&value), 0);
    } else if (std::is_same_v<From, To> && steps[0] == -int64_t{sizeof(From)} && steps[1] == sizeof(To)) {
        copy_backwards(reinterpret_cast<const From*>(args[0]), reinterpret_cast<From*>(args[1]), n);
    } else if (std::is_same_v<From, To> && has_every_second<From> && steps[0] == 2 * int64_t{sizeof(From)} &&
               steps[1] == sizeof(To)) {
        if constexpr (has_every_second<From>)
            take_every_second(reinterpret_cast<const From*>(args[0]), n, reinterpret_cast<From*>(args[1]));
    } else {
        char *from = args[0], *to = args[1];
        for (int64_t i = 0; i < n; ++i, from += steps[0], to += steps[1])
            *reinterpret_cast<To*>(to) = convert<To>(*reinterpret_cast<const From*>(from));
    }
}

struct CastTable {
    Loop loops[kNumDTypes][kNumDTypes] = {};
};

constexpr CastTable make_table() {
    CastTable table;
#define TO(name, type, python, legacy) \
    table.loops[static_cast<int>(dtype_of<From>)][static_cast<int>(DType::name)] = loop<From, type>;
    auto row = [&table]<class From>(From*) { WENGERT_DTYPES(TO) };
#undef TO
#define FROM(name, type, python, legacy) row(static_cast<type*>(nullptr));
    WENGERT_DTYPES(FROM)
#undef FROM
    return table;
}

constexpr CastTable cast_table = make_table();

}  // namespace

Loop cast_loop(DType from, DType to) noexcept { return cast_table.loops[static_cast<int>(from)][static_cast<int>(to)]; }

void store_scalar(void* where, DType dtype, const Scalar& value) {
    switch (dtype) {
#define X(name, type, python, legacy)                  \
    case DType::name:                                  \
        *static_cast<type*>(where) = value.to<type>(); \
        break;
        WENGERT_DTYPES(X)
#undef X
    }
}

}  // namespace wengert::kernels
