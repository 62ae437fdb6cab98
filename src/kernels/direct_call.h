// The first branch of `run`, for what small tensors do most: contiguous tensors of one dtype and shape, and numbers that do
// not change the dtype. `bind` says whether a call is of that kind. A call on one-element tensors costs little more than
// these instructions, so all of it is inlined, unrolled over the number of operands.
#pragma once

#include "kernels/arithmetic_error.h"
#include "kernels/casting.h"
#include "kernels/elementwise.h"

namespace wengert::kernels {

// A number, or one converted element, where a loop can read it.
struct alignas(16) Slot {
    std::byte bytes[16];
};

// Equal sizes, both contiguous: one pass over the dimensions.
[[gnu::always_inline]] inline bool same_contiguous(const TensorImpl& a, const TensorImpl& b) noexcept {
    if (a.sizes.size() != b.sizes.size()) return false;
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
    // Takes the dtype from the tensors.
    [[gnu::always_inline]] bool bind(const Kernel& kernel, const Operand* inputs) {
        const TensorImpl* model = first_tensor(kernel, inputs);
        return model && bind<true>(kernel, *model, inputs);
    }
    // Takes the dtype as given; numbers are converted to it whatever they are.
    [[gnu::always_inline]] bool bind_as(DType compute, const Kernel& kernel, const Operand* inputs) {
        const TensorImpl* model = first_tensor(kernel, inputs);
        return model && model->dtype == compute && bind<false>(kernel, *model, inputs);
    }

    [[gnu::always_inline]] Tensor run(const Kernel& kernel) {
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
        if (out.dtype != result_dtype(kernel, dtype_) || !same_contiguous(out, *model_)) return false;
        const char *begin = address(out), *end = begin + out.numel * item_size(out.dtype);
        for (size_t i = 0; i < N; ++i) {
            bool exact = args_[i] == begin && steps_[i] == item_size(out.dtype);
            if (!exact && args_[i] < end && begin < args_[i] + model_->numel * steps_[i]) return false;
        }
        return true;
    }

    [[gnu::always_inline]] void run_into(const Kernel& kernel, const TensorImpl& out) {
        args_[N] = address(out);
        steps_[N] = item_size(out.dtype);
        loop_(args_, &model_->numel, steps_, kernel.data[static_cast<int>(dtype_)]);
        if (is_integral(dtype_)) [[unlikely]]
            raise_noted_zero_division(kernel.name);
    }

    // Into `buffer`, at most `room` elements at a time; f(number of elements) follows each time.
    template <class F>
    void in_blocks(const Kernel& kernel, char* buffer, int64_t room, F&& f) {
        args_[N] = buffer;
        steps_[N] = item_size(result_dtype(kernel, dtype_));
        for (int64_t left = model_->numel; left > 0; left -= room) {
            const int64_t n = left < room ? left : room;
            loop_(args_, &n, steps_, kernel.data[static_cast<int>(dtype_)]);
            f(n);
            for (size_t i = 0; i < N; ++i) args_[i] += n * steps_[i];
        }
    }
    DType dtype() const noexcept { return dtype_; }
    int64_t numel() const noexcept { return model_->numel; }

private:
    static char* address(const TensorImpl& t) noexcept { return reinterpret_cast<char*>(t.data()); }

    static bool is_condition(const Kernel& kernel, size_t i) noexcept { return (kernel.condition_mask >> i) & 1; }

    // The tensor whose dtype and shape the others must have; conditions are bool in any case.
    [[gnu::always_inline]] static const TensorImpl* first_tensor(const Kernel& kernel, const Operand* inputs) noexcept {
        for (size_t i = 0; i < N; ++i)
            if (inputs[i].is_tensor() && !is_condition(kernel, i)) return inputs[i].impl();
        return nullptr;
    }

    template <bool promote>
    [[gnu::always_inline]] bool bind(const Kernel& kernel, const TensorImpl& model, const Operand* inputs) {
        DType dtype = model.dtype;
        model_ = &model;
        dtype_ = dtype;
        loop_ = kernel.loops[static_cast<int>(dtype)];  // null for integers where they are computed as floats
        if (!loop_ || kernel.inputs != N) return false;
        bool compared = false;  // whether the model's layout has been looked at
#pragma GCC unroll 4
        for (size_t i = 0; i < N; ++i) {
            const DType wanted = is_condition(kernel, i) ? DType::Bool : dtype;
            if (const TensorImpl* t = inputs[i].impl()) [[likely]] {
                if (t->dtype != wanted) return false;
                if (t != &model) {
                    if (!same_contiguous(*t, model)) return false;
                    compared = true;
                }
                args_[i] = address(*t);
                steps_[i] = item_size(wanted);
            } else {
                if (promote && inputs[i].scalar().kind() > category(wanted)) return false;
                store_number(i, wanted, inputs[i].scalar());
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
    Loop loop_;
    char* args_[N + 1];
    int64_t steps_[N + 1];
    Slot slots_[N];
};

// Calls f with the DirectCall for that many operands. Five and more are rare: they share the general way.
struct NoDirectCall {
    bool bind(const Kernel&, const Operand*) { return false; }
    bool bind_as(DType, const Kernel&, const Operand*) { return false; }
    bool yields(const Kernel&, const TensorImpl&) const { return false; }
    bool fits(const Kernel&, const TensorImpl&) const { return false; }
    Tensor run(const Kernel&) { return {}; }
    void run_into(const Kernel&, const TensorImpl&) {}
    template <class F>
    void in_blocks(const Kernel&, char*, int64_t, F&&) {}
    DType dtype() const { return DType::Float32; }
    int64_t numel() const { return 0; }
};

template <class F>
[[gnu::always_inline]] inline decltype(auto) with_direct_call(size_t operands, F&& f) {
    switch (operands) {
#define CASE(n)             \
    case n: {               \
        DirectCall<n> call; \
        return f(call);     \
    }
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
#undef CASE
        default: {
            NoDirectCall call;
            return f(call);
        }
    }
}

}  // namespace wengert::kernels
