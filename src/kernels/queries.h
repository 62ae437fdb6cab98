// Questions about tensors and dtypes, which read no element (but for is_nonzero and local_scalar).
#pragma once

#include <optional>

#include "tensor/memory_format.h"
#include "tensor/operand.h"
#include "tensor/promotion.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

inline int64_t dim(const Tensor& self) noexcept { return self.dim(); }
inline int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
inline const Dims& sizes(const Tensor& self) noexcept { return self.sizes(); }
inline int64_t stride(const Tensor& self, int64_t dim) { return self.stride(dim); }
inline const Dims& strides(const Tensor& self) noexcept { return self.strides(); }
inline int64_t numel(const Tensor& self) noexcept { return self.numel(); }
inline int64_t element_size(const Tensor& self) noexcept { return item_size(self.dtype()); }
inline int64_t storage_offset(const Tensor& self) noexcept { return self.offset(); }
inline int64_t data_ptr(const Tensor& self) noexcept {
    return self.numel() ? static_cast<int64_t>(reinterpret_cast<intptr_t>(self.data())) : 0;
}
bool is_contiguous(const Tensor& self, std::optional<MemoryFormat> format);
bool is_same_size(const Tensor& self, const Tensor& other);
bool is_set_to(const Tensor& self, const Tensor& tensor);
inline int64_t device_index(const Tensor& self) noexcept {  // its index; -1 for the CPU
    return self.device().type == DeviceType::Cpu ? -1 : self.device().index;
}

inline bool is_floating_point(const Tensor& self) noexcept { return is_floating(self.dtype()); }
inline bool is_complex(const Tensor& self) noexcept { return wengert::is_complex(self.dtype()); }
inline bool is_signed(const Tensor& self) noexcept { return wengert::is_signed(self.dtype()); }
inline bool is_inference(const Tensor& self) noexcept { return self.flags() & kInference; }
bool is_nonzero(const Tensor& self);      // an error unless it has one element
Scalar local_scalar(const Tensor& self);  // likewise

inline DType promote_types(DType a, DType b) { return promote(a, b); }
inline bool can_cast(DType from, DType to) noexcept { return wengert::can_cast(from, to); }
inline DType result_type_of(const Operand& a, const Operand& b) { return result_type({a, b}); }

}  // namespace wengert::kernels
