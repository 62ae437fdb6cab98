#include "kernels/elementwise.h"

#include "kernels/arithmetic_error.h"
#include "kernels/casting.h"
#include "kernels/direct_call.h"
#include "kernels/overlap.h"
#include "kernels/providers.h"
#include "kernels/strided_iteration.h"
#include "tensor/promotion.h"

namespace wengert::kernels {
namespace {

constexpr int kMaxInputs = StridedIteration::kMaxArrays - 1;

bool is_condition(const Kernel& kernel, size_t i) { return (kernel.condition_mask >> i) & 1; }

struct BoundLoop {
    Loop function;
    void* data;
};

BoundLoop loop_of(const Kernel& kernel, DType compute) {
    int d = static_cast<int>(compute);
    if (kernel.loops[d]) [[likely]]
        return {kernel.loops[d], kernel.data[d]};
    if (ProvidedLoop provided = provided_loop(kernel.name, compute); provided.loop)
        return {provided.loop, provided.data};
    std::string_view name = legacy_type_name(compute);
    name.remove_suffix(std::string_view("Tensor").size());
    fail(ErrorKind::Runtime, "[", kernel.name, "] \"", kernel.name, "\" not implemented for '", name,
         "'; convert the operands to another dtype first");
}

// The operands of one call in the compute dtype: what differs is converted, numbers are put into slots.
class Arguments {
public:
    Arguments(const Kernel& kernel, DType compute, Operands inputs) : kernel_(kernel), compute_(compute) {
        check(inputs.size() == kernel.inputs && inputs.size() <= kMaxInputs, ErrorKind::Runtime, "[", kernel.name,
              "] takes ", int{kernel.inputs}, " operands, got ", inputs.size());
        bool first = true;
        for (size_t i = 0; i < inputs.size(); ++i) {
            bind(i, inputs[i]);
            if (!inputs[i].is_tensor()) continue;
            if (first)
                shape_ = inputs[i].impl()->sizes;
            else if (inputs[i].impl()->sizes != shape_)
                shape_ = broadcast_shapes(shape_, inputs[i].impl()->sizes, kernel.name);
            first = false;
        }
    }
    Arguments(const Arguments&) = delete;

    const Dims& shape() const noexcept { return shape_; }

    void add_to(StridedIteration& iteration) const {
        for (int i = 0; i < kernel_.inputs; ++i) {
            const Array& a = arrays_[i];
            iteration.add(a.data, a.sizes(), a.strides(), item_size(a.dtype));
        }
    }

    // Whether writing to `out` would change an element of an input before it is read.
    bool conflict_with(const Tensor& out) const noexcept {
        for (int i = 0; i < kernel_.inputs; ++i) {
            const Array& a = arrays_[i];
            if (overlap(a.data, a.sizes(), a.strides(), a.dtype, out) == Overlap::Partial) return true;
        }
        return false;
    }

    void execute(StridedIteration& iteration) const {
        iteration.coalesce();
        BoundLoop loop = loop_of(kernel_, compute_);
        iteration.for_each_row(
            [&](char** pointers, int64_t n, const int64_t* steps) { loop.function(pointers, &n, steps, loop.data); });
        if (is_integral(compute_)) raise_noted_zero_division(kernel_.name);
    }

private:
    struct Array {  // no initialisers: most of the array of these is never touched
        std::byte* data;
        const TensorImpl* geometry;  // null: a number
        DType dtype;
        IntSpan sizes() const noexcept { return geometry ? IntSpan(geometry->sizes) : IntSpan(); }
        IntSpan strides() const noexcept { return geometry ? IntSpan(geometry->strides) : IntSpan(); }
    };

    void bind(size_t i, const Operand& input) {
        DType wanted = is_condition(kernel_, i) ? DType::Bool : compute_;
        Array& a = arrays_[i];
        a = {slots_[i].bytes, nullptr, wanted};
        TensorImpl* t = input.impl();
        if (!t) {
            store_scalar(&slots_[i], wanted, input.scalar());
        } else if (t->dtype == wanted) {
            a = {t->data(), t, wanted};
        } else if (t->numel == 1) {
            char* args[] = {reinterpret_cast<char*>(t->data()), reinterpret_cast<char*>(slots_[i].bytes)};
            int64_t n = 1, steps[] = {0, 0};
            cast_loop(t->dtype, wanted)(args, &n, steps, nullptr);
        } else {
            converted_.push_back(to_dtype(input.tensor(), wanted));
            a = {converted_.back().data(), converted_.back().impl(), wanted};
        }
    }

    const Kernel& kernel_;
    DType compute_;
    Dims shape_;
    Array arrays_[kMaxInputs];
    Slot slots_[kMaxInputs];
    SmallVector<Tensor, kMaxInputs> converted_;
};

[[gnu::noinline]] Tensor run_general(const Kernel& kernel, DType compute, Operands inputs) {
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

[[gnu::noinline]] void run_into_general(const Tensor& out, const Kernel& kernel, Operands inputs) {
    DType compute = compute_dtype(kernel, inputs), result = result_dtype(kernel, compute);
    check(can_cast(result, out.dtype()), ErrorKind::Runtime, "[", kernel.name, "] result type ", result,
          " can't be cast to the desired output type ", out.dtype());
    Arguments arguments(kernel, compute, inputs);
    check(out.sizes() == arguments.shape(), ErrorKind::Runtime, "[", kernel.name, "] output with shape ",
          ShapeOf{out.sizes()}, " doesn't match the broadcast shape ", ShapeOf{arguments.shape()});
    check_no_internal_overlap(out, kernel.name);
    if (out.dtype() != result || arguments.conflict_with(out)) {
        copy_into(out, run_general(kernel, compute, inputs));
        return;
    }
    StridedIteration iteration(out.sizes());
    arguments.add_to(iteration);
    iteration.add(out.data(), out.sizes(), out.strides(), item_size(result));
    iteration.order(kernel.inputs);
    arguments.execute(iteration);
}

}  // namespace

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

Tensor run(const Kernel& kernel, Operands inputs) {
    return with_direct_call(inputs.size(), [&](auto& call) {
        if (call.bind(kernel, inputs.data())) [[likely]]
            return call.run(kernel);
        return run_general(kernel, compute_dtype(kernel, inputs), inputs);
    });
}

Tensor run_as(DType compute, const Kernel& kernel, Operands inputs) {
    return with_direct_call(inputs.size(), [&](auto& call) {
        if (call.bind_as(compute, kernel, inputs.data())) [[likely]]
            return call.run(kernel);
        return run_general(kernel, compute, inputs);
    });
}

void run_into(const Tensor& out, const Kernel& kernel, Operands inputs) {
    with_direct_call(inputs.size(), [&](auto& call) {
        if (call.bind(kernel, inputs.data()) && call.fits(kernel, *out.impl())) [[likely]]
            call.run_into(kernel, *out.impl());
        else
            run_into_general(out, kernel, inputs);
    });
}

}  // namespace wengert::kernels
