// The operands of one call of an elementwise kernel, for all who walk over them (elementwise.cpp, reduced.cpp).
#pragma once

#include "backends/cpu/elementwise/arithmetic_error.h"
#include "backends/cpu/elementwise/converting_loop.h"
#include "backends/cpu/elementwise/direct_call.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/elementwise/strided_iteration.h"

namespace wengert::kernels {

inline constexpr int kMaxInputs = StridedIteration::kMaxArrays - 1;

// The operands of one call, and the loop that takes them: numbers are put into slots, and what is not of the dtype that the
// loop computes in is converted, block by block if it is large.
class Arguments {
public:
    Arguments(const Kernel& kernel, DType compute, Operands inputs)
        : kernel_(kernel), compute_(opmath_dtype(compute)), result_(result_dtype(kernel, compute)) {
        check(inputs.size() == kernel.inputs && inputs.size() <= kMaxInputs, ErrorKind::Runtime, "[", kernel.name,
              "] takes ", int{kernel.inputs}, " operands, got ", inputs.size());
        bool first = true;
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (!inputs[i].is_tensor()) continue;
            if (first)
                shape_ = inputs[i].impl()->sizes;
            else if (inputs[i].impl()->sizes != shape_)
                shape_ = broadcast_shapes(shape_, inputs[i].impl()->sizes, kernel.name);
            first = false;
        }
        const int64_t numel = numel_of(shape_);
        for (size_t i = 0; i < inputs.size(); ++i) bind(i, inputs[i], numel);
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

    // f(the loop from the operands, as they were added, to results of dtype `result`).
    template <class F>
    void with_loop(DType result, F&& f) const {
        const Loop loop = loop_of(kernel_, compute_);
        const DType made = result_dtype(kernel_, compute_);
        bool converts = made != result;
        for (int i = 0; i < kernel_.inputs; ++i) converts |= arrays_[i].dtype != wanted(i);
        if (!converts) return f(loop);
        ConvertingLoop converting(loop, kernel_.inputs + 1);
        for (int i = 0; i < kernel_.inputs; ++i)
            if (arrays_[i].dtype != wanted(i)) converting.convert_input(i, arrays_[i].dtype, wanted(i));
        if (made != result) converting.convert_output(made, result);
        f(converting);
    }

    // The iteration ends with an array of the results.
    void execute(StridedIteration& iteration) const {
        iteration.coalesce();
        with_loop(result_, [&](const auto& loop) { run_rows(iteration, loop); });
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

    DType wanted(size_t i) const noexcept { return is_condition(kernel_, i) ? DType::Bool : compute_; }

    void bind(size_t i, const Operand& input, int64_t numel) {
        const DType wanted = this->wanted(i);
        Array& a = arrays_[i];
        a = {slots_[i].bytes, nullptr, wanted};
        TensorImpl* t = input.impl();
        if (!t) {
            store_scalar(&slots_[i], wanted, input.scalar());
        } else if (t->dtype == wanted || (t->numel != 1 && !is_worth_a_copy(*t, numel))) {
            a = {t->data(), t, t->dtype};
        } else if (t->numel == 1) {
            char* args[] = {reinterpret_cast<char*>(t->data()), reinterpret_cast<char*>(slots_[i].bytes)};
            const int64_t steps[] = {0, 0};
            cast_loop(t->dtype, wanted)(args, 1, steps);
        } else {
            converted_.push_back(to_dtype(input.tensor(), wanted));
            a = {converted_.back().data(), converted_.back().impl(), wanted};
        }
    }

    // Whether it is read again and again, and its copy will be laid out as it is.
    static bool is_worth_a_copy(TensorImpl& t, int64_t numel) noexcept {
        return t.numel < numel && Tensor(Ref<TensorImpl>::share(&t)).is_non_overlapping_and_dense();
    }

    const Kernel& kernel_;
    DType compute_, result_;
    Dims shape_;
    Array arrays_[kMaxInputs];
    Slot slots_[kMaxInputs];
    SmallVector<Tensor, kMaxInputs> converted_;
};

}  // namespace wengert::kernels
