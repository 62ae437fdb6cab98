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

}  // namespace wengert
