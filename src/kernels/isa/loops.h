// From a function of scalars to an inner loop over memory.
//
// `loop<F, Out, In...>` has the signature of a NumPy ufunc loop. It holds two bodies:
//
//   * one over arrays without gaps, which the compiler vectorises;
//   * one over any strides, element by element, for the few elements of a small tensor.
//
// A long row with gaps or with a repeated operand (stride 0: a number, a broadcast dimension) is brought to the first form
// block by block: operands are gathered into buffers of a few KiB that stay in the first-level cache, a repeated operand
// fills its buffer once. That costs less than computing exp element by element, and it keeps the generated code small:
// the bodies are not multiplied by the ways in which operands can be laid out.
//
// The output may be exactly one of the inputs (same address, same stride); other overlap has been resolved by the caller
// (kernels/elementwise.h), so the loops may be told that iterations are independent.
//
// The contract with the generated files that include this header stands in kernels/dispatch.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/scalar_math.h"

namespace wengert::kernels::WENGERT_ISA {

using namespace wengert::scalar;

inline constexpr int64_t kBlock = 256;  // elements
inline constexpr int64_t kShort = 8;    // rows below this length are not worth a block

template <class F, class Out, class... In, size_t... I>
WENGERT_INLINE void dense_loop(char* const* args, int64_t n, std::index_sequence<I...>) {
    [n](Out* out, const In*... in) __attribute__((always_inline)) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(F{}(in[i]...));
    }(reinterpret_cast<Out*>(args[sizeof...(In)]), reinterpret_cast<const In*>(args[I])...);
}

template <class F, class Out, class... In, size_t... I>
WENGERT_INLINE void strided_loop(char* const* args, int64_t n, const int64_t* steps, std::index_sequence<I...>) {
    char* out = args[sizeof...(In)];
    for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<Out*>(out + i * steps[sizeof...(In)]) =
            static_cast<Out>(F{}(*reinterpret_cast<const In*>(args[I] + i * steps[I])...));
        asm volatile("");  // not vectorised: short, and gathers gain nothing
    }
}

template <class T>
WENGERT_INLINE void gather(char* buffer, const char* from, int64_t n, int64_t step) {
    T* to = reinterpret_cast<T*>(buffer);
    for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const T*>(from + i * step);
}

template <class T>
WENGERT_INLINE void scatter(char* to, const char* buffer, int64_t n, int64_t step) {
    const T* from = reinterpret_cast<const T*>(buffer);
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * step) = from[i];
}

template <class F, class Out, class... In, size_t... I>
WENGERT_INLINE void long_loop(char* const* args, int64_t n, const int64_t* steps, std::index_sequence<I...> order) {
    constexpr size_t inputs = sizeof...(In);
    constexpr size_t widest = std::max({sizeof(Out), sizeof(In)...});
    alignas(64) char buffers[inputs + 1][kBlock * widest];
    const bool in_dense[] = {steps[I] == static_cast<int64_t>(sizeof(In))...};
    const bool out_dense = steps[inputs] == static_cast<int64_t>(sizeof(Out));
    const bool all_dense = (out_dense & ... & in_dense[I]);
    const int64_t block_length = all_dense || n < kBlock ? n : kBlock;
    ((steps[I] == 0 ? gather<In>(buffers[I], args[I], block_length, 0) : void()), ...);
    for (int64_t start = 0; start < n; start += block_length) {
        int64_t length = n - start < block_length ? n - start : block_length;
        char* block[inputs + 1];
        ((block[I] = in_dense[I] ? args[I] + start * steps[I] : buffers[I]), ...);
        ((!in_dense[I] && steps[I] != 0 ? gather<In>(buffers[I], args[I] + start * steps[I], length, steps[I]) : void()), ...);
        char* out = args[inputs] + start * steps[inputs];
        block[inputs] = out_dense ? out : buffers[inputs];
        dense_loop<F, Out, In...>(block, length, order);
        if (!out_dense) scatter<Out>(out, buffers[inputs], length, steps[inputs]);
    }
}

template <class F, class Out, class... In>
void loop(char** args, const int64_t* dimensions, const int64_t* steps, void*) {
    constexpr std::index_sequence_for<In...> order;
    const int64_t n = dimensions[0];
    if (n < kShort)
        strided_loop<F, Out, In...>(args, n, steps, order);
    else
        long_loop<F, Out, In...>(args, n, steps, order);
}

// entry<F, Out(In...)>(K_name, compute dtype): one line of a family's table.
template <class F, class Signature>
struct LoopOf;
template <class F, class Out, class... In>
struct LoopOf<F, Out(In...)> {
    static constexpr Loop value = loop<F, Out, In...>;
};
template <class F, class Signature>
constexpr LoopEntry entry(uint16_t kernel, DType dtype) {
    return {kernel, dtype, LoopOf<F, Signature>::value};
}

}  // namespace wengert::kernels::WENGERT_ISA
