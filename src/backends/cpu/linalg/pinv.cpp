#include "kernels/linalg/pinv.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"
#include "kernels/products/matmul.h"

namespace wengert::kernels {

using namespace linalg;

Tensor linalg_pinv(const Tensor& self, double atol, std::optional<double> rtol) {
    check_matrix(self, "linalg.pinv");
    const int64_t m = rows(self), n = cols(self), k = std::min(m, n);
    if (k == 0) return zeros(joined(batch_sizes(self), {n, m}), self.dtype());
    const auto [u, s, vh] = linalg_svd(self, false);
    Tensor v = row_major_copy(matrix_transposed(vh)), uh = row_major_copy(matrix_transposed(u));
    conjugate_(v);
    conjugate_(uh);
    dispatch_inexact(self.dtype(), "linalg.pinv", [&]<class T> {
        using R = decltype(std::abs(T()));
        const double relative =
            rtol.value_or(atol > 0 ? 0 : static_cast<double>(std::max(m, n)) * std::numeric_limits<R>::epsilon());
        T* to = v.data_as<T>();  // [n,k]; columns are divided by the singular values
        const R* values = s.data_as<R>();
        for (int64_t i = 0; i < batch_count(self); ++i, values += k, to += n * k) {
            const double limit = std::max(atol, relative * static_cast<double>(values[0]));
            for (int64_t j = 0; j < k; ++j) {
                const R factor = static_cast<double>(values[j]) > limit ? R(1) / values[j] : R(0);
                for (int64_t row = 0; row < n; ++row) to[row * k + j] *= factor;
            }
        }
    });
    return matmul(v, uh);  // [n,k] x [k,m]
}

}  // namespace wengert::kernels
