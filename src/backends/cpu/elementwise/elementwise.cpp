#include "kernels/elementwise/elementwise.h"

#include "backends/cpu/elementwise/arguments.h"
#include "backends/cpu/elementwise/direct_call.h"
#include "kernels/elementwise/on_device.h"
#include "tensor/promotion.h"

namespace wengert::kernels {

Loop loop_of(const Kernel& kernel, DType compute) {
    if (Loop loop = kernel.loops[static_cast<int>(opmath_dtype(compute))]) [[likely]]
        return loop;
    std::string_view name = legacy_type_name(compute);
    name.remove_suffix(std::string_view("Tensor").size());
    fail(ErrorKind::Runtime, "[", kernel.name, "] \"", kernel.name, "\" not implemented for '", name,
         "'; convert the operands to another dtype first");
}

namespace {

Tensor run_general(const Kernel& kernel, DType compute, Operands inputs) {
    if (any_off_host(inputs)) return run_on_device(kernel, compute, inputs);
    Arguments arguments(kernel, compute, inputs);
    StridedIteration iteration(arguments.shape());
    arguments.add_to(iteration);
    iteration.order();
    DType dtype = result_dtype(kernel, compute);
    Tensor out = iteration.empty() ? empty(arguments.shape(), dtype)
                                   : empty_strided(arguments.shape(), iteration.permuted_strides(), dtype);
    iteration.add(out.data(), out.sizes(), out.strides(), item_size(dtype));
    arguments.execute(iteration);
    return out;
}

// Into a tensor of the dtype and shape of the result.
void compute_into(const Tensor& out, const Kernel& kernel, DType compute, Operands inputs) {
    Arguments arguments(kernel, compute, inputs);
    if (arguments.conflict_with(out)) return copy_into(out, run_general(kernel, compute, inputs));
    StridedIteration iteration(out.sizes());
    arguments.add_to(iteration);
    iteration.add(out.data(), out.sizes(), out.strides(), item_size(out.dtype()));
    iteration.order(kernel.inputs);
    arguments.execute(iteration);
}

void run_into_general(const Tensor& out, const Kernel& kernel, Operands inputs) {
    const DType compute = compute_dtype(kernel, inputs), result = result_dtype(kernel, compute);
    check(can_cast(result, out.dtype()), ErrorKind::Runtime, "[", kernel.name, "] result type ", result,
          " can't be cast to the desired output type ", out.dtype());
    Dims shape;
    for (const Operand& o : inputs)
        if (o.is_tensor()) shape = broadcast_shapes(shape, o.sizes(), kernel.name);
    check(out.sizes() == shape, ErrorKind::Runtime, "[", kernel.name, "] output with shape ", ShapeOf{out.sizes()},
          " doesn't match the broadcast shape ", ShapeOf{shape});
    check_no_internal_overlap(out, kernel.name);
    if (is_off_host(out) || any_off_host(inputs)) return run_into_on_device(out, kernel, compute, inputs);
    if (out.dtype() != result) return copy_into(out, run_general(kernel, compute, inputs));
    compute_into(out, kernel, compute, inputs);
}

// The general ways need the operands side by side.
template <class... O>
[[gnu::noinline]] Tensor run_in_general(const Kernel& kernel, const O&... inputs) {
    const std::array<Operand, sizeof...(O)> operands{inputs...};
    return run_general(kernel, compute_dtype(kernel, operands), operands);
}

template <class... O>
[[gnu::noinline]] Tensor run_as_in_general(DType compute, const Kernel& kernel, const O&... inputs) {
    const std::array<Operand, sizeof...(O)> operands{inputs...};
    return run_general(kernel, compute, operands);
}

template <class... O>
[[gnu::noinline]] void run_into_in_general(const Tensor& out, const Kernel& kernel, const O&... inputs) {
    run_into_general(out, kernel, std::array<Operand, sizeof...(O)>{inputs...});
}

}  // namespace

constinit DeviceKernel<void(Result, const Kernel&, DType, Operands)> elementwise_kernel{
    "elementwise",
    [](Result out, const Kernel& kernel, DType compute, Operands inputs) {
        compute_into(out, kernel, compute, inputs);
    },
    Elements::Stored};

DType compute_dtype(const Kernel& kernel, Operands inputs) {
    DType dtype;
    if (kernel.condition_mask == 0) {
        dtype = result_type(inputs);
    } else {
        SmallVector<Operand, 4> values;
        for (size_t i = 0; i < inputs.size(); ++i)
            if (!is_condition(kernel, i)) values.push_back(inputs[i]);
        dtype = result_type(values);
    }
    return kernel.float_compute && is_integral(dtype) ? default_dtype() : dtype;
}

template <std::same_as<Operand>... O>
Tensor run(const Kernel& kernel, const O&... inputs) {
    DirectCall<sizeof...(O)> call;
    if (!call.bind(kernel, {&inputs...})) [[unlikely]]
        return run_in_general(kernel, inputs...);
    return call.run(kernel);
}

template <std::same_as<Operand>... O>
Tensor run_as(DType compute, const Kernel& kernel, const Tensor* reusable, const O&... inputs) {
    DirectCall<sizeof...(O)> call;
    if (!call.bind_as(compute, kernel, {&inputs...})) [[unlikely]]
        return run_as_in_general(compute, kernel, inputs...);
    const bool is_reused = reusable && is_unseen(*reusable) && !reusable->impl()->meta && reusable->flags() == 0 &&
                           call.yields(kernel, *reusable->impl());
    if (!is_reused) return call.run(kernel);
    call.run_into(kernel, *reusable->impl());
    return *reusable;
}

template <std::same_as<Operand>... O>
void run_into(const Tensor& out, const Kernel& kernel, const O&... inputs) {
    DirectCall<sizeof...(O)> call;
    if (!call.bind(kernel, {&inputs...}) || !call.fits(kernel, *out.impl())) [[unlikely]]
        return run_into_in_general(out, kernel, inputs...);
    call.run_into(kernel, *out.impl());
}

#define WENGERT_INSTANTIATE(...)                                              \
    template Tensor run(const Kernel&, __VA_ARGS__);                          \
    template Tensor run_as(DType, const Kernel&, const Tensor*, __VA_ARGS__); \
    template void run_into(const Tensor&, const Kernel&, __VA_ARGS__);
WENGERT_INSTANTIATE(const Operand&)
WENGERT_INSTANTIATE(const Operand&, const Operand&)
WENGERT_INSTANTIATE(const Operand&, const Operand&, const Operand&)
WENGERT_INSTANTIATE(const Operand&, const Operand&, const Operand&, const Operand&)
WENGERT_INSTANTIATE(const Operand&, const Operand&, const Operand&, const Operand&, const Operand&)
#undef WENGERT_INSTANTIATE

Tensor run(const Kernel& kernel, Operands inputs) {
    return with_each(
        kernel, inputs, [&](const auto&... each) { return run(kernel, each...); },
        [&] { return run_general(kernel, compute_dtype(kernel, inputs), inputs); });
}

Tensor run_as(DType compute, const Kernel& kernel, Operands inputs, const Tensor* reusable) {
    return with_each(
        kernel, inputs, [&](const auto&... each) { return run_as(compute, kernel, reusable, each...); },
        [&] { return run_general(kernel, compute, inputs); });
}

void run_into(const Tensor& out, const Kernel& kernel, Operands inputs) {
    with_each(
        kernel, inputs, [&](const auto&... each) { run_into(out, kernel, each...); },
        [&] { run_into_general(out, kernel, inputs); });
}

}  // namespace wengert::kernels
