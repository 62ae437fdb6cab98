// Tensors made from numbers: ranges, identity, index lists. dtype: by PyTorch's rules where it is not given (int64 for
// integral ranges, else the default dtype or its complex partner).
#pragma once

#include <optional>

#include "tensor/options.h"

namespace wengert::kernels {

using wengert::as_of;  // as factories call them
using wengert::with_dtype;

Tensor zeros(IntSpan sizes, const TensorOptions& options);
Tensor ones(IntSpan sizes, const TensorOptions& options);
Tensor empty(IntSpan sizes, const TensorOptions& options);
Tensor full(IntSpan sizes, const Scalar& value, const TensorOptions& options);  // the value's dtype if none is given
Tensor empty_strided(IntSpan sizes, IntSpan strides, const TensorOptions& options);
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options);
// As it lies in memory.
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = {});
Tensor empty_like(const Tensor& self, const TensorOptions& options);

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1, const TensorOptions& options = {});
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {});
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10,
                const TensorOptions& options = {});
Tensor eye(int64_t n, std::optional<int64_t> m = {}, const TensorOptions& options = {});
// With both ends; of the default dtype if none is given.
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options);
// The frequencies of a Fourier transform of n points at distance d, in its order: all, or those that are not negative.
Tensor fft_frequencies(int64_t n, double d, bool half, const TensorOptions& options);
// [2, n]: rows and columns of the elements below (above) a diagonal, row by row.
Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {});
Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {});

// --- Windows of signals. A periodic window continues itself with period `length`; another one is symmetric. They are computed
// in float64, and are of the default dtype if none is given.
// a - b cos(2 pi n / N) + c cos(4 pi n / N)
Tensor cosine_window(int64_t length, bool periodic, double a, double b, double c, const TensorOptions& options);
Tensor bartlett_window(int64_t length, bool periodic, const TensorOptions& options);
Tensor kaiser_window(int64_t length, bool periodic, double beta, const TensorOptions& options);

}  // namespace wengert::kernels
