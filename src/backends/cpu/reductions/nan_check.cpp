#include "kernels/reductions/nan_check.h"

#include <cmath>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/reductions/finite_table.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(FiniteTable, finite_table)

bool any_nan(const Tensor& t) {
    if (!is_differentiable(t.dtype()) || all_finite(t)) return false;
    Tensor dense = contiguous(t);
    bool complex = is_complex(dense.dtype());
    int64_t n = dense.numel() * (complex ? 2 : 1);
    return dispatch_floating(real_dtype(dense.dtype()), "any_nan", [&]<class T> {
        const T* p = reinterpret_cast<const T*>(dense.data());
        bool found = false;
        for (int64_t i = 0; i < n; ++i) found |= std::isnan(p[i]);
        return found;
    });
}

bool all_finite(const Tensor& t) {
    const Tensor dense = t.is_contiguous() ? t : contiguous(t);
    const int64_t n = dense.numel() * (is_complex(dense.dtype()) ? 2 : 1);
    if (real_dtype(dense.dtype()) == DType::Float32)
        return finite_table().float32(reinterpret_cast<const float*>(dense.data()), n);
    return finite_table().float64(reinterpret_cast<const double*>(dense.data()), n);
}

}  // namespace wengert::kernels
