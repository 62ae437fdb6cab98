// The first branch of `run`, for what small tensors do most: contiguous tensors of one dtype and shape, and numbers that do
// not change the dtype. `bind` says whether a call is of that kind. A call on one-element tensors costs little more than
// these instructions, so all of it is inlined, unrolled over the number of operands.
#pragma once

#include <array>
#include <utility>

#include "backends/cpu/elementwise/arithmetic_error.h"
#include "backends/cpu/elementwise/casting.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/memory/free_lists.h"

namespace wengert::kernels {

// A number, or one converted element, where a loop can read it.
struct alignas(16) Slot {
    std::byte bytes[16];
};

// Equal sizes, both contiguous: one pass over the dimensions.
[[gnu::always_inline]] inline bool same_contiguous(const TensorImpl& a, const TensorImpl& b) noexcept {
    if (a.sizes.size() != b.sizes.size()) return false;
    if (a.numel == 1 && b.numel == 1) return true;
    int64_t expected = 1;
    for (size_t d = a.sizes.size(); d-- > 0;) {
        int64_t size = a.sizes[d];
        if (size != b.sizes[d]) return false;
        if (size != 1 && (a.strides[d] != expected || b.strides[d] != expected)) return false;
        expected *= size;
    }
    return true;
}

template <size_t N>
class DirectCall {
public:
    using Inputs = std::array<const Operand*, N>;  // known one by one, they stay in registers

    // Takes the dtype from the tensors.
    [[gnu::always_inline]] bool bind(const Kernel& kernel, const Inputs& inputs) { return bind<true>(kernel, inputs); }
    // Takes the dtype as given; numbers are converted to it whatever they are.
    [[gnu::always_inline]] bool bind_as(DType compute, const Kernel& kernel, const Inputs& inputs) {
        return bind<false>(kernel, inputs) && dtype_ == compute;
    }

    [[gnu::always_inline]] Tensor run(const Kernel& kernel) {
        if (kernel.rule <= ResultRule::Floating) [[likely]] {
            if (TensorImpl* out = TensorFreeLists::take_like(*model_, dtype_)) [[likely]] {
                Tensor result(Ref<TensorImpl>::adopt(out));
                run_to(kernel, out->storage->data(), item_);
                return result;
            }
        }
        Tensor out = empty_same(*model_, result_dtype(kernel, dtype_));
        run_into(kernel, *out.impl());
        return out;
    }

    // Whether the result is like `model`, one of the inputs.
    [[gnu::always_inline]] bool yields(const Kernel& kernel, const TensorImpl& model) const noexcept {
        return &model == model_ && result_dtype(kernel, dtype_) == model.dtype;
    }

    // Whether `out` can take the result as it is, overlapping each input exactly or not at all.
    [[gnu::always_inline]] bool fits(const Kernel& kernel, const TensorImpl& out) const noexcept {
        if (out.dtype != result_dtype(kernel, dtype_) || out.flags & kOffHost || !same_contiguous(out, *model_))
            return false;
        const char *begin = address(out, item_size(out.dtype)), *end = begin + out.numel * item_size(out.dtype);
        for (size_t i = 0; i < N; ++i) {
            bool exact = args_[i] == begin && steps_[i] == item_size(out.dtype);
            if (!exact && args_[i] < end && begin < args_[i] + model_->numel * steps_[i]) return false;
        }
        return true;
    }

    [[gnu::always_inline]] void run_into(const Kernel& kernel, const TensorImpl& out) {
        run_to(kernel, out.data(), item_size(out.dtype));
    }

    // Into `buffer`, at most `room` elements at a time; f(number of elements) follows each time.
    template <class F>
    void in_blocks(const Kernel& kernel, char* buffer, int64_t room, F&& f) {
        args_[N] = buffer;
        steps_[N] = item_size(result_dtype(kernel, dtype_));
        for (int64_t left = model_->numel; left > 0; left -= room) {
            const int64_t n = left < room ? left : room;
            loop_(args_, n, steps_);
            f(n);
            for (size_t i = 0; i < N; ++i) args_[i] += n * steps_[i];
        }
    }
    DType dtype() const noexcept { return dtype_; }
    int64_t numel() const noexcept { return model_->numel; }
    IntSpan sizes() const noexcept { return model_->sizes; }

private:
    [[gnu::always_inline]] void run_to(const Kernel& kernel, std::byte* out, int64_t step) {
        args_[N] = reinterpret_cast<char*>(out);
        steps_[N] = step;
        if (model_->numel < 2 * kParallelBlock) [[likely]]
            loop_(args_, model_->numel, steps_);
        else
            run_flat(loop_, args_, model_->numel, steps_, N + 1);
        if (is_integral(dtype_)) [[unlikely]]
            raise_noted_zero_division(kernel.name);
    }

    static char* address(const TensorImpl& t, int64_t item) noexcept {
        return reinterpret_cast<char*>(t.storage->data() + t.offset * item);
    }

    static bool is_condition(const Kernel& kernel, size_t i) noexcept { return (kernel.condition_mask >> i) & 1; }

    template <bool promote>
    [[gnu::always_inline]] bool bind(const Kernel& kernel, const Inputs& inputs) {
        // The tensor whose dtype and shape the others must have; conditions are bool in any case.
        if (inputs[0]->is_tensor() && !kernel.condition_mask) [[likely]]
            return bind_to<promote, false>(kernel, *inputs[0]->impl(), inputs);
#pragma GCC unroll 5
        for (size_t i = 0; i < N; ++i)
            if (inputs[i]->is_tensor() && !is_condition(kernel, i))
                return bind_to<promote, true>(kernel, *inputs[i]->impl(), inputs);
        return false;
    }

    // Unless `any`, the model is the first operand and there are no conditions.
    template <bool promote, bool any>
    [[gnu::always_inline]] bool bind_to(const Kernel& kernel, const TensorImpl& model, const Inputs& inputs) {
        const DType dtype = model.dtype;
        model_ = &model;
        dtype_ = dtype;
        item_ = item_size(dtype);
        loop_ = kernel.loops[static_cast<int>(dtype)];  // null for integers where they are computed as floats
        if (!loop_ || model.flags & kOffHost) return false;
        bool compared = false;  // whether the model's layout has been looked at
        if (!any) {
            args_[0] = address(model, item_);
            steps_[0] = item_;
        }
#pragma GCC unroll 5
        for (size_t i = any ? 0 : 1; i < N; ++i) {
            const bool condition = any && is_condition(kernel, i);
            const DType wanted = condition ? DType::Bool : dtype;
            if (const TensorImpl* t = inputs[i]->impl()) [[likely]] {
                if (t->dtype != wanted || t->flags & kOffHost) return false;
                if (t != &model) {
                    if (!same_contiguous(*t, model)) return false;
                    compared = true;
                }
                steps_[i] = condition ? 1 : item_;
                args_[i] = address(*t, steps_[i]);
            } else {
                if (promote && inputs[i]->scalar().kind() > category(wanted)) return false;
                store_number(i, wanted, inputs[i]->scalar());
                args_[i] = reinterpret_cast<char*>(slots_[i].bytes);
                steps_[i] = 0;
            }
        }
        return compared || same_contiguous(model, model);
    }

    [[gnu::always_inline]] void store_number(size_t i, DType dtype, const Scalar& value) {
        if (dtype == DType::Float32)
            *reinterpret_cast<float*>(slots_[i].bytes) = value.to<float>();
        else
            store_scalar(slots_[i].bytes, dtype, value);
    }

    const TensorImpl* model_;
    DType dtype_;
    int64_t item_;  // bytes of an element
    Loop loop_;
    char* args_[N + 1];
    int64_t steps_[N + 1];
    Slot slots_[N];
};

// Calls f with the operands one by one, and `otherwise` where there are more than a DirectCall takes, which is rare, or
// not as many as the kernel does.
template <class F, class Otherwise>
decltype(auto) with_each(const Kernel& kernel, Operands inputs, F&& f, Otherwise&& otherwise) {
    if (inputs.size() != kernel.inputs) return otherwise();
    switch (inputs.size()) {
        case 1:
            return f(inputs[0]);
        case 2:
            return f(inputs[0], inputs[1]);
        case 3:
            return f(inputs[0], inputs[1], inputs[2]);
        case 4:
            return f(inputs[0], inputs[1], inputs[2], inputs[3]);
        case 5:
            return f(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4]);
        default:
            return otherwise();
    }
}

}  // namespace wengert::kernels
