// The operands of one call of an elementwise kernel, for all who walk over them (elementwise.cpp, reduced.cpp).
#pragma once

#include "backends/cpu/elementwise/arithmetic_error.h"
#include "backends/cpu/elementwise/casting.h"
#include "backends/cpu/elementwise/direct_call.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/elementwise/strided_iteration.h"

namespace wengert::kernels {

inline constexpr int kMaxInputs = StridedIteration::kMaxArrays - 1;

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
        run_rows(iteration, loop_of(kernel_, compute_));
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
            const int64_t steps[] = {0, 0};
            cast_loop(t->dtype, wanted)(args, 1, steps);
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

}  // namespace wengert::kernels
