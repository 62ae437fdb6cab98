#include "kernels/nan_check.h"

#include <cmath>

#include "kernels/elementwise.h"

namespace wengert::kernels {

bool any_nan(const Tensor& t) {
    if (!is_differentiable(t.dtype())) return false;
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

}  // namespace wengert::kernels
