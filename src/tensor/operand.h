// Operand: an argument that is a tensor or a Python number.
//
// Numbers never become tensors on the way to a kernel: a kernel sees them as an element with stride 0. Like
// std::string_view an Operand does not own what it points to and is only used for parameters.
#pragma once

#include "tensor/tensor.h"

namespace wengert {

class Operand {
public:
    Operand(const Tensor& t) noexcept : Operand(t.impl()) {}
    Operand(TensorImpl* t) noexcept : tensor_(t) {
        if (!t) [[unlikely]]
            scalar_ = Scalar();
    }
    Operand(const Scalar& s) noexcept : tensor_(nullptr), scalar_(s) {}
    template <class T>
        requires std::is_arithmetic_v<T>
    Operand(T v) noexcept : tensor_(nullptr), scalar_(v) {}
    Operand(std::complex<double> v) noexcept : tensor_(nullptr), scalar_(v) {}

    bool is_tensor() const noexcept { return tensor_ != nullptr; }
    TensorImpl* impl() const noexcept { return tensor_; }
    Tensor tensor() const noexcept { return Tensor(Ref<TensorImpl>::share(tensor_)); }
    const Scalar& scalar() const noexcept { return scalar_; }
    uint32_t flags() const noexcept { return tensor_ ? tensor_->flags : 0; }
    IntSpan sizes() const noexcept { return tensor_ ? IntSpan(tensor_->sizes) : IntSpan(); }
    // The dtype on its own, without company.
    DType dtype() const noexcept { return tensor_ ? tensor_->dtype : scalar_dtype(scalar_); }

private:
    TensorImpl* tensor_;
    union {
        Scalar scalar_;  // only where there is no tensor: not even zeros are written otherwise
    };
};

// Owns what an Operand points to.
class HeldOperand {
public:
    HeldOperand(Tensor t) noexcept : tensor_(std::move(t)) {}
    HeldOperand(const Operand& o) noexcept : tensor_(o.tensor()), scalar_(o.is_tensor() ? Scalar() : o.scalar()) {}
    operator Operand() const noexcept { return tensor_.defined() ? Operand(tensor_) : Operand(scalar_); }

private:
    Tensor tensor_;
    Scalar scalar_;
};

// The same of several.
class HeldOperands {
public:
    HeldOperands(std::span<const Operand> operands) : operands_(operands) {
        for (const Operand& o : operands)
            if (o.is_tensor()) owned_.push_back(o.tensor());
    }
    operator std::span<const Operand>() const noexcept { return operands_; }

private:
    SmallVector<Operand, 4> operands_;
    SmallVector<Tensor, 4> owned_;
};

}  // namespace wengert
