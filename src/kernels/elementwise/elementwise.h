// Elementwise kernels: from operands to a result, for every kernel of the table.
//
// A kernel is a row of generated inner loops (backends/cpu/isa/), one per compute dtype:
//
//     loop(args, n, steps): args[0..k-1] inputs of n elements, args[k] output, steps in bytes
//
// `run` does what surrounds them: type promotion, broadcasting (stride 0), casting of operands that are not of the
// compute dtype, allocation of the result, and coalescing of dimensions so that the inner loop is long. Numbers are
// operands with stride 0 that live on the stack. `run` has a first branch for what small tensors of the CPU do most, equal
// dtypes and shapes, all contiguous: it must stay a few dozen instructions, so it is the CPU's (backends/cpu/elementwise/).
// What it finds to be on another device it leaves to elementwise/on_device.h.
//
// Read `run` first, then backends/cpu/isa/loops.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "tensor/operand.h"

namespace wengert::kernels {

using Loop = void (*)(char** args, int64_t n, const int64_t* steps);

// The dtype of the result, given the compute dtype.
enum class ResultRule : uint8_t {
    Same,      // the compute dtype, which is the promoted dtype of the operands
    Floating,  // as Same, but integral operands are computed in the default dtype (exp, div, ...)
    Bool,      // comparisons and predicates
    Real,      // the real partner of a complex compute dtype (abs, angle); Floating where `float_compute`
    Complex,   // the complex partner of a real compute dtype
};

struct Kernel {
    const char* name;
    uint8_t inputs;
    uint8_t condition_mask;  // bit i: input i is bool whatever the compute dtype (where, masked_fill)
    ResultRule rule;
    bool float_compute;      // integral operands are promoted to the default dtype first
    Loop loops[kNumDTypes];  // null: not defined for that dtype
};

using Operands = std::span<const Operand>;

// A new tensor with the result. Its strides follow those of dense inputs. Up to five operands, which is what the table
// has, may be passed one by one (here and below): it spares an operation on small tensors the gathering of them.
Tensor run(const Kernel& kernel, Operands inputs);
template <std::same_as<Operand>... O>
Tensor run(const Kernel& kernel, const O&... inputs);
// Into `out`, whose shape must be the broadcast shape; its dtype may be any that the result can be cast to. Inputs may
// be `out` itself (in-place); other overlap is resolved through a copy.
void run_into(const Tensor& out, const Kernel& kernel, Operands inputs);
template <std::same_as<Operand>... O>
void run_into(const Tensor& out, const Kernel& kernel, const O&... inputs);

// The result in a given dtype, for VJPs whose cotangent fixes it: all inputs are cast to `compute`. `reusable` is an
// input, the cotangent, that its owner does not need after this; if nobody else can see it, its memory becomes that of the
// result.
Tensor run_as(DType compute, const Kernel& kernel, Operands inputs, const Tensor* reusable = nullptr);
template <std::same_as<Operand>... O>
Tensor run_as(DType compute, const Kernel& kernel, const Tensor* reusable, const O&... inputs);

// The sum or the mean of the results of a floating kernel, none of which are kept: they go through a block that stays in
// the cache. As accurate as `sum`.
Tensor run_reduced(const Kernel& kernel, Operands inputs, bool mean);

// So that one may write run(kernel, {a, b}).
inline Tensor run(const Kernel& kernel, std::initializer_list<Operand> inputs) {
    return run(kernel, Operands(inputs.begin(), inputs.size()));
}
inline Tensor run_as(DType compute, const Kernel& kernel, std::initializer_list<Operand> inputs,
                     const Tensor* reusable = nullptr) {
    return run_as(compute, kernel, Operands(inputs.begin(), inputs.size()), reusable);
}
inline void run_into(const Tensor& out, const Kernel& kernel, std::initializer_list<Operand> inputs) {
    run_into(out, kernel, Operands(inputs.begin(), inputs.size()));
}

Loop loop_of(const Kernel& kernel, DType compute);  // an error that names both where there is none
inline bool is_condition(const Kernel& kernel, size_t i) { return (kernel.condition_mask >> i) & 1; }

// The dtype in which `kernel` computes for these operands, and that of its result.
DType compute_dtype(const Kernel& kernel, Operands inputs);
inline DType result_dtype(const Kernel& kernel, DType compute) {
    if (kernel.rule <= ResultRule::Floating) [[likely]]
        return compute;
    switch (kernel.rule) {
        case ResultRule::Same:
        case ResultRule::Floating:
            break;
        case ResultRule::Bool:
            return DType::Bool;
        case ResultRule::Real:
            return real_dtype(compute);
        case ResultRule::Complex:
            return complex_dtype(compute);
    }
    return compute;
}

// The dtype of the result for these operands, known to be computed by some loop.
inline DType defined_result(const Kernel& kernel, Operands inputs) {
    const DType compute = compute_dtype(kernel, inputs);
    (void)loop_of(kernel, compute);
    return result_dtype(kernel, compute);
}

// dst[...] = src[...], converting and broadcasting; does not touch version counters.
void copy_into(const Tensor& dst, const Tensor& src);
void copy_disjoint(const Tensor& dst, const Tensor& src);  // where the two are known not to overlap
void fill_(const Tensor& dst, const Scalar& value);
Tensor to_dtype(const Tensor& t, DType dtype);  // `t` itself when nothing is to do
Tensor contiguous(const Tensor& t);             // likewise
Tensor clone(const Tensor& t);                  // always a copy; dense layouts are kept
// Sums `t` down to `sizes` (the transpose of broadcasting); `t` itself when the shapes are equal.
Tensor sum_to_size(const Tensor& t, IntSpan sizes);

}  // namespace wengert::kernels
