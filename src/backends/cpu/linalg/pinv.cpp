// What a pseudoinverse is the product of, on the CPU.
#include <algorithm>

#include "backends/cpu/linalg/lapack.h"

namespace wengert::kernels {

using namespace linalg;

constinit DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, double, double)> pinv_kernel{
    "linalg_pinv",
    [](Result v, Result uh, const Tensor& u, const Tensor& s, const Tensor& vh, double atol, double rtol) {
        copy_into(v, matrix_transposed(vh));
        copy_into(uh, matrix_transposed(u));
        conjugate_(v);
        conjugate_(uh);
        const int64_t n = rows(v), k = cols(v);
        dispatch_inexact(v->dtype(), "linalg.pinv", [&]<class T> {
            using R = real_of<T>;
            T* to = v->data_as<T>();  // [n,k]; columns are divided by the singular values
            const R* values = s.data_as<R>();
            for (int64_t i = 0; i < batch_count(v); ++i, values += k, to += n * k) {
                const double limit = std::max(atol, rtol * static_cast<double>(values[0]));
                for (int64_t j = 0; j < k; ++j) {
                    const R factor = static_cast<double>(values[j]) > limit ? R(1) / values[j] : R(0);
                    for (int64_t row = 0; row < n; ++row) to[row * k + j] *= factor;
                }
            }
        });
    }};

}  // namespace wengert::kernels
