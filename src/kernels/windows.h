// Window functions of signals. A periodic window continues itself with period `length`; another one is symmetric. They
// are computed in float64, and are of the default dtype if none is given.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert::kernels {

// a - b cos(2 pi n / N) + c cos(4 pi n / N)
Tensor cosine_window(int64_t length, bool periodic, double a, double b, double c, std::optional<DType> dtype);
Tensor bartlett_window(int64_t length, bool periodic, std::optional<DType> dtype);
Tensor kaiser_window(int64_t length, bool periodic, double beta, std::optional<DType> dtype);

}  // namespace wengert::kernels
