// Whether elements are NaN, or all finite, on the CPU (kernels/reductions/nan_check.h).
#include <cmath>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/reductions/finite_table.h"
#include "kernels/reductions/reduce_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(FiniteTable, finite_table)

namespace {

int64_t numbers_in(const Tensor& t) { return t.numel() * (is_complex(t.dtype()) ? 2 : 1); }

bool all_finite(const Tensor& t) {
    if (real_dtype(t.dtype()) == DType::Float32) return finite_table().float32(t.data_as<float>(), numbers_in(t));
    return finite_table().float64(t.data_as<double>(), numbers_in(t));
}

bool any_nan(const Tensor& t) {
    if (all_finite(t)) return false;
    return dispatch_floating(real_dtype(t.dtype()), "any_nan", [&]<class T> {
        const T* p = t.data_as<T>();
        bool found = false;
        for (int64_t i = 0; i < numbers_in(t); ++i) found |= std::isnan(p[i]);
        return found;
    });
}

}  // namespace

constinit DeviceKernel<bool(const Tensor&)> any_nan_kernel{"any_nan", any_nan};
constinit DeviceKernel<bool(const Tensor&)> all_finite_kernel{"all_finite", all_finite};

}  // namespace wengert::kernels
