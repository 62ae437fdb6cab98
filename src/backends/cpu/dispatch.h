// Which compiled copy of an inner loop runs: chosen once, when the library is loaded.
//
// THE CONTRACT between the generator and this directory. From the table's `kernel:` and `d_x:` rows the generator writes,
// per family (one ops/*.yaml file), four kinds of text:
//
//   generated/kernels/<family>.h        extern Kernel K_tanh, K_tanh_d_self, ...;   (forward and VJP kernels)
//   generated/backends/cpu/isa_<family>.cpp  compiled once per instruction set, with -DWENGERT_ISA=v2|v3|v4 (or generic):
//                                       the loops over float and double, and over int32_t and int64_t where the kernel
//                                       has integer loops (not `float_compute`)
//   generated/backends/cpu/base_<family>.cpp compiled once, without WENGERT_ISA: the loops over all other dtypes
//   generated/backends/cpu/kernel_table.cpp  all kernels, without loops, and the call that installs the loops
//
// An isa_ or base_ file looks like this (backends/cpu/isa/loops.h defines WENGERT_ISA as `base` where the build does not):
//
//     #include "generated/kernels/trigonometric.h"
//     #include "backends/cpu/isa/loops.h"
//
//     namespace wengert::kernels::WENGERT_ISA {
//     namespace {
//
//     struct Tanh {  // tanh(self)
//         template <class T>
//         WENGERT_INLINE auto operator()(T self) const { return tanh(self); }
//     };
//     struct TanhDSelf {  // 1 - result * result
//         template <class T>
//         WENGERT_INLINE auto operator()(T grad, T result) const { return chain(grad, conj(T(1) - result * result)); }
//     };
//     struct Where {  // a condition is bool whatever T is (Kernel::condition_mask)
//         template <class T>
//         WENGERT_INLINE auto operator()(bool condition, T self, T other) const { return where(condition, self, other); }
//     };
//
//     }  // namespace
//
//     extern const LoopEntry loops_trigonometric[];
//     const LoopEntry loops_trigonometric[] = {
//         entry<Tanh, float(float)>(&K_tanh, DType::Float32),
//         entry<TanhDSelf, float(float, float)>(&K_tanh_d_self, DType::Float32),
//         entry<Where, float(bool, float, float)>(&K_where, DType::Float32),
//         entry<Lt, bool(float, float)>(&K_lt, DType::Float32),             // ResultRule::Bool
//         entry<Abs, float(complex64)>(&K_abs, DType::Complex64),           // ResultRule::Real
//         end_of_loops,                                                    // always the last
//     };
//
//     }  // namespace wengert::kernels::WENGERT_ISA
//
// In a functor every input that is no condition has the compute type T; the result is converted to the output type of the
// entry. Literals must be written `T(0.5)`: a bare 0.5 would turn float32 arithmetic into float64. `pi`, `inf` and `nan`
// are `pi<T>`, `inf<T>`, `nan<T>`. Functions and mixed operators (bool * T, complex * real) come from
// backends/cpu/scalar_math.h, namespace wengert::scalar, which is visible inside the file's namespace. Nothing else may be
// defined outside an unnamed namespace in these files: cmake/check_isa_symbols.py.
//
// generated/backends/cpu/kernel_table.cpp installs them (a kernel without a loop for some dtype raises when it is asked to compute in it):
//
//     constinit Kernel K_tanh{"tanh", 1, 0, ResultRule::Floating, true, {}};
//
//     #define DECLARE(isa) namespace isa { extern const LoopEntry loops_arithmetic[], loops_trigonometric[]; }
//     #define SET(isa) {#isa, {isa::loops_arithmetic, isa::loops_trigonometric}},
//     DECLARE(base) WENGERT_FOR_EACH_ISA(DECLARE)
//     static const bool installed = install_loops({SET(base) WENGERT_FOR_EACH_ISA(SET)});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "kernels/elementwise/elementwise.h"

// X(isa, ...) for the instruction sets that the loops were compiled for, from the poorest to the richest
// (cmake/isa.cmake).
#ifdef WENGERT_HAVE_X86_64_LEVELS
#define WENGERT_FOR_EACH_ISA(X, ...) \
    X(v2 __VA_OPT__(, ) __VA_ARGS__) X(v3 __VA_OPT__(, ) __VA_ARGS__) X(v4 __VA_OPT__(, ) __VA_ARGS__)
#else
#define WENGERT_FOR_EACH_ISA(X, ...) X(generic __VA_OPT__(, ) __VA_ARGS__)
#endif

namespace wengert::kernels {

struct LoopEntry {
    Kernel* kernel;
    DType dtype;  // the compute dtype
    Loop loop;
};
inline constexpr LoopEntry end_of_loops{nullptr, DType::Bool, nullptr};

struct LoopSet {
    std::string_view isa;
    std::initializer_list<const LoopEntry*> families;
};

// Gives kernels the loops of "base", then those of the best instruction set that this processor has, and
// returns true. The environment variable WENGERT_ISA names another (poorer) one.
bool install_loops(std::initializer_list<LoopSet> sets);

// Every kernel of the table, for those who check them all.
std::span<const Kernel* const> all_kernels() noexcept;

// The instruction set in use: "v3".
std::string_view instruction_set() noexcept;

}  // namespace wengert::kernels
