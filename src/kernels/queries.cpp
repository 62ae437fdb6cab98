#include "kernels/queries.h"

#include "kernels/on_host.h"

namespace wengert::kernels {

bool is_contiguous(const Tensor& self, std::optional<MemoryFormat> format) {
    const MemoryFormat asked = format.value_or(MemoryFormat::Preserve);
    return is_laid_out(self, asked == MemoryFormat::Preserve ? MemoryFormat::Contiguous : asked);
}

bool is_same_size(const Tensor& self, const Tensor& other) { return same_shape(self, other); }

bool is_set_to(const Tensor& self, const Tensor& tensor) {
    return self.storage() == tensor.storage() && self.offset() == tensor.offset() && self.sizes() == tensor.sizes() &&
           self.strides() == tensor.strides();
}

Scalar local_scalar(const Tensor& self) {
    check(self.numel() == 1, ErrorKind::Runtime, "a Tensor with ", self.numel(),
          " elements cannot be converted to Scalar");
    const Tensor value = on_host(self, "item");
    return dispatch_stored(value.dtype(), [&]<class T> {
        if constexpr (is_reduced_float<T>)
            return Scalar(static_cast<float>(*value.data_as<T>()));
        else
            return Scalar(*value.data_as<T>());
    });
}

bool is_nonzero(const Tensor& self) {
    check(self.numel() != 0, ErrorKind::Runtime, "Boolean value of Tensor with no values is ambiguous");
    check(self.numel() == 1, ErrorKind::Runtime,
          "Boolean value of Tensor with more than one value is ambiguous; use .any() or .all()");
    const Tensor value = on_host(self, "is_nonzero");
    return dispatch_stored(value.dtype(), [&]<class T> { return *value.data_as<T>() != T(0); });
}

}  // namespace wengert::kernels
