// Operands of an elementwise kernel that one call of its loop can read to the end: each lies in memory without gaps, like
// the result, or is one element for all (a number, a constant tensor). For kernels on large tensors that go through them
// in blocks of their own; nothing is converted.
#pragma once

#include "backends/cpu/elementwise/arguments.h"
#include "tensor/constant.h"

namespace wengert::kernels {

class FlatOperands {
public:
    // Whether all of them are of that kind, in a result of this shape.
    bool bind(const Kernel& kernel, DType compute, Operands inputs, IntSpan shape) {
        if (inputs.size() != kernel.inputs || inputs.size() > kMaxInputs || is_reduced(compute)) return false;
        for (size_t i = 0; i < inputs.size(); ++i)
            if (!bind(i, is_condition(kernel, i) ? DType::Bool : compute, inputs[i], shape)) return false;
        outputs_ = inputs.size();
        return true;
    }
    bool all_constant() const noexcept {
        return std::all_of(steps_, steps_ + outputs_, [](int64_t step) { return step == 0; });
    }

    // Where the results go, before the first `run`.
    void set_output(std::byte* data, int64_t step) noexcept {
        data_[outputs_] = reinterpret_cast<char*>(data);
        steps_[outputs_] = step;
    }
    void run(Loop loop, int64_t n) { loop(data_, n, steps_); }
    // The operands' next elements; the results stay where they were.
    void advance(int64_t n) noexcept {
        for (size_t i = 0; i < outputs_; ++i) data_[i] += n * steps_[i];
    }

private:
    bool bind(size_t i, DType wanted, const Operand& input, IntSpan shape) {
        const TensorImpl* t = input.impl();
        if (!t) {
            store_scalar(&slots_[i], wanted, input.scalar());
            data_[i] = reinterpret_cast<char*>(slots_[i].bytes);
            steps_[i] = 0;
            return true;
        }
        if (t->dtype != wanted) return false;
        data_[i] = reinterpret_cast<char*>(t->data());
        if (is_constant(*t) && is_broadcastable_to(t->sizes, shape)) {
            steps_[i] = 0;
            return true;
        }
        steps_[i] = item_size(wanted);
        return std::ranges::equal(t->sizes, shape) && is_contiguous(t->sizes, t->strides);
    }

    size_t outputs_ = 0;
    char* data_[kMaxInputs + 1];
    int64_t steps_[kMaxInputs + 1];
    Slot slots_[kMaxInputs];
};

}  // namespace wengert::kernels
