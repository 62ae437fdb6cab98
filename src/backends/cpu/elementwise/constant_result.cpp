// Elementwise kernels on nothing but constants (kernels/elementwise/traffic.h, constant_result).
#include "backends/cpu/elementwise/flat_operands.h"
#include "kernels/elementwise/on_device.h"
#include "kernels/elementwise/traffic.h"

namespace wengert::kernels {

Tensor constant_result(DType compute, const Kernel& kernel, Operands inputs) {
    constexpr int64_t kComputed = 64;  // as in a long row: with the instructions for vectors
    const TensorImpl* cotangent = inputs[0].impl();
    if (!cotangent || cotangent->numel < kFewestConstants || any_off_host(inputs)) return {};
    Dims shape;
    for (const Operand& o : inputs) {
        if (o.is_tensor() && !is_constant(*o.impl())) return {};
        shape = broadcast_shapes(shape, o.sizes(), kernel.name);
    }
    FlatOperands operands;
    if (!operands.bind(kernel, compute, inputs, shape) || !operands.all_constant()) return {};
    const DType dtype = result_dtype(kernel, compute);
    Tensor results = empty(Dims{kComputed}, dtype);
    operands.set_output(results.data(), item_size(dtype));
    operands.run(loop_of(kernel, compute), kComputed);
    return alias(results, shape, Dims(shape.size(), 0), 0);
}

}  // namespace wengert::kernels
