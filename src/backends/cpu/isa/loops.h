// From a function of scalars to an inner loop over memory.
//
// `loop<F, Out, In...>` is a Loop (kernels/elementwise/elementwise.h). It holds two bodies:
//
//   * one over arrays without gaps, which the compiler vectorises;
//   * one over any strides, element by element, for the few elements of a small tensor.
//
// A long row with gaps or with a repeated operand (stride 0: a number, a broadcast dimension) is brought to the first form
// block by block: operands are gathered into buffers of a few KiB that stay in the first-level cache, a repeated operand
// fills its buffer once (backends/cpu/isa/blocks.h). That costs less than computing exp element by element, and it keeps the
// generated code small: the bodies are not multiplied by the ways in which operands can be laid out. Large results leave
// by the same buffers.
//
// The output may be exactly one of the inputs (same address, same stride); other overlap has been resolved by the caller
// (kernels/elementwise/elementwise.h), so the loops may be told that iterations are independent.
//
// The contract with the generated files that include this header stands in backends/cpu/dispatch.h.
#pragma once

#include <cstddef>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/isa/blocks.h"
#include "backends/cpu/scalar_math.h"

namespace wengert::kernels::WENGERT_ISA {

using namespace wengert::scalar;

inline constexpr int64_t kShort = 8;  // rows below this length are not worth a block

template <class F, class Out, class... In, size_t... I>
WENGERT_INLINE void strided_loop(char* const* args, int64_t n, const int64_t* steps, std::index_sequence<I...>) {
    char* out = args[sizeof...(In)];
    for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<Out*>(out + i * steps[sizeof...(In)]) =
            static_cast<Out>(F{}(*reinterpret_cast<const In*>(args[I] + i * steps[I])...));
        asm volatile("");  // not vectorised: short, and gathers gain nothing
    }
}

template <class F, class Out, class... In, size_t... I>
WENGERT_INLINE void dense_loop(char* const* args, int64_t n, std::index_sequence<I...>) {
    [n](Out* out, const In*... in) __attribute__((always_inline)) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(F{}(in[i]...));
    }(reinterpret_cast<Out*>(args[sizeof...(In)]), reinterpret_cast<const In*>(args[I])...);
}

template <class F, class Out, class... In>
void dense_row(char* const* args, int64_t n) {
    dense_loop<F, Out, In...>(args, n, std::index_sequence_for<In...>());
}

template <class F, class Out, class... In>
void loop(char** args, int64_t n, const int64_t* steps) {
    static constexpr int64_t sizes[] = {sizeof(In)..., sizeof(Out)};
    constexpr int arrays = sizeof...(In) + 1;
    if (n < kShort) return strided_loop<F, Out, In...>(args, n, steps, std::index_sequence_for<In...>());
    run_row<arrays>(dense_row<F, Out, In...>, args, n, steps, sizes);
}

// entry<F, Out(In...)>(&K_name, compute dtype): one line of a family's table.
template <class F, class Signature>
struct LoopOf;
template <class F, class Out, class... In>
struct LoopOf<F, Out(In...)> {
    static constexpr Loop value = loop<F, Out, In...>;
};
template <class F, class Signature>
constexpr LoopEntry entry(Kernel* kernel, DType dtype) {
    return {kernel, dtype, LoopOf<F, Signature>::value};
}

}  // namespace wengert::kernels::WENGERT_ISA
