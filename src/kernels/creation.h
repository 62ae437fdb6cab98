// Tensors made from numbers: ranges, identity, index lists. dtype: by PyTorch's rules where it is not given (int64 for
// integral ranges, else the default dtype or its complex partner).
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert::kernels {

inline DType dtype_or(std::optional<DType> dtype, DType otherwise) noexcept { return dtype.value_or(otherwise); }

Tensor zeros(IntSpan sizes, std::optional<DType> dtype);
Tensor ones(IntSpan sizes, std::optional<DType> dtype = {});
Tensor empty(IntSpan sizes, std::optional<DType> dtype);
Tensor full(IntSpan sizes, const Scalar& value, std::optional<DType> dtype);  // the value's dtype if none is given
Tensor empty_strided(IntSpan sizes, IntSpan strides, std::optional<DType> dtype);
Tensor scalar_tensor(const Scalar& value, std::optional<DType> dtype);
// Of the dtype of `self` if none is given, and as it lies in memory.
Tensor full_like(const Tensor& self, const Scalar& value, std::optional<DType> dtype = {});
Tensor empty_like(const Tensor& self, std::optional<DType> dtype);

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1, std::optional<DType> dtype = {});
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype = {});
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10,
                std::optional<DType> dtype = {});
Tensor eye(int64_t n, std::optional<int64_t> m = {}, std::optional<DType> dtype = {});
// With both ends; of the default dtype if none is given.
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype);
// The frequencies of a Fourier transform of n points at distance d, in its order: all, or those that are not negative.
Tensor fft_frequencies(int64_t n, double d, bool half, std::optional<DType> dtype);
// [2, n]: rows and columns of the elements below (above) a diagonal, row by row.
Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, std::optional<DType> dtype = {});
Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, std::optional<DType> dtype = {});

}  // namespace wengert::kernels
