#include "kernels/linalg/pinv.h"

#include <algorithm>

#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"
#include "kernels/products/matmul.h"

namespace wengert::kernels {

using namespace linalg;

Tensor linalg_pinv(const Tensor& self, double atol, std::optional<double> rtol) {
    check_matrix(self, "linalg.pinv");
    const int64_t m = rows(self), n = cols(self), k = std::min(m, n);
    const IntSpan batch = batch_sizes(self);
    if (k == 0) return zeros(joined(batch, {n, m}), self.dtype(), self.device());
    const auto [u, s, vh] = linalg_svd(self, false);
    const double relative =
        rtol.value_or(atol > 0 ? 0 : static_cast<double>(std::max(m, n)) * limits_of(self.dtype()).epsilon);
    Tensor v = empty(joined(batch, {n, k}), self.dtype(), self.device()),
           uh = empty(joined(batch, {k, m}), self.dtype(), self.device());
    if (s.numel() > 0) pinv_kernel(v, uh, u, s, vh, atol, relative);
    return matmul(v, uh);  // [n,k] x [k,m]
}

}  // namespace wengert::kernels
