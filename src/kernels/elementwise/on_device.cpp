#include "kernels/elementwise/on_device.h"

#include "kernels/elementwise/overlap.h"
#include "kernels/elementwise/strided_iteration.h"
#include "kernels/on_host.h"

namespace wengert::kernels {
namespace {

Device device_of(Operands inputs) {
    for (const Operand& o : inputs)
        if (is_off_host(o.flags())) return o.impl()->storage->device();
    return {};
}

// The inputs on one device; a number that lies in a tensor of the CPU is brought there.
class Gathered {
public:
    Gathered(Device device, Operands inputs) {
        for (const Operand& o : inputs) {
            const bool moves =
                o.is_tensor() && o.sizes().empty() && o.impl()->storage->device().type == DeviceType::Cpu;
            if (moves) moved_.push_back(on_device(o.tensor(), device));
            operands_.push_back(moves ? Operand(moved_.back()) : o);
        }
    }
    operator Operands() const noexcept { return operands_; }

private:
    SmallVector<Operand, 4> operands_;
    SmallVector<Tensor, 4> moved_;
};

Dims broadcast_shape(const Kernel& kernel, Operands inputs) {
    check(inputs.size() == kernel.inputs, ErrorKind::Runtime, "[", kernel.name, "] takes ", int{kernel.inputs},
          " operands, got ", inputs.size());
    Dims shape;
    for (const Operand& o : inputs)
        if (o.is_tensor()) shape = broadcast_shapes(shape, o.sizes(), kernel.name);
    return shape;
}

// The strides of a result follow the operands.
Tensor result_of(const Kernel& kernel, DType compute, Operands inputs, Device device) {
    const Dims shape = broadcast_shape(kernel, inputs);
    const DType dtype = result_dtype(kernel, compute);
    (void)loop_of(kernel, compute);
    StridedIteration order(shape);
    for (const Operand& o : inputs)
        if (const TensorImpl* t = o.impl()) order.add(nullptr, t->sizes, t->strides, item_size(t->dtype));
    order.order();
    return order.empty() ? empty(shape, dtype, device) : empty_strided(shape, order.permuted_strides(), dtype, device);
}

}  // namespace

Tensor run_on_device(const Kernel& kernel, DType compute, Operands inputs) {
    const Device device = device_of(inputs);
    const Gathered gathered(device, inputs);
    Tensor out = result_of(kernel, compute, gathered, device);
    elementwise_kernel(out, kernel, compute, gathered);
    return out;
}

void run_into_on_device(const Tensor& out, const Kernel& kernel, DType compute, Operands inputs) {
    if (out.dtype() != result_dtype(kernel, compute)) {
        copy_into(out, run_on_device(kernel, compute, Gathered(out.device(), inputs)));
        return;
    }
    elementwise_kernel(out, kernel, compute, Gathered(out.device(), inputs));
}

Tensor run_reduced_on_device(const Kernel& kernel, DType compute, Operands inputs, bool mean) {
    const Device device = device_of(inputs);
    (void)broadcast_shape(kernel, inputs);
    Tensor out = empty(Dims{}, compute, device);
    reduced_kernel(out, kernel, compute, Gathered(device, inputs), mean);
    return out;
}

}  // namespace wengert::kernels
