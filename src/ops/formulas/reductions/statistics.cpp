#include "generated/ops/formulas/reductions/statistics.h"

#include <algorithm>

#include "base/warnings.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"

namespace wengert::ops::formulas {
namespace {

void check_weights(const Tensor& w, int64_t observations, const char* name, bool integers) {
    check(w.dim() <= 1, ErrorKind::Runtime, "cov(): expected ", name, " to have one or fewer dimensions but got ", name,
          " with ", w.dim(), " dimensions");
    check(is_integral(w.dtype()) == integers, ErrorKind::Runtime, "cov(): expected ", name, " to have ",
          integers ? "integral" : "floating point", " dtype but got ", name, " with ", w.dtype(), " dtype");
    check(w.numel() == observations, ErrorKind::Runtime, "cov(): expected ", name,
          " to have the same numel as there are observations in the input but got ", w.numel(), " != ", observations);
}

}  // namespace

Tensor covariance(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
    check(self.dim() <= 2, ErrorKind::Runtime,
          "cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions");
    check(self.dtype() != DType::Bool, ErrorKind::Runtime, "cov(): bool dtype is not supported for input");
    Tensor x = is_integral(self.dtype()) ? ops::to_dtype(self, default_dtype()) : self;
    if (x.dim() < 2) x = ops::reshape(x, Dims{1, x.numel()});
    const int64_t n = x.size(1);
    Tensor w;  // of each observation
    if (fweights.defined()) {
        check_weights(fweights, n, "fweights", true);
        w = ops::reshape(fweights, Dims{n});
    }
    if (aweights.defined()) {
        check_weights(aweights, n, "aweights", false);
        Tensor a = ops::reshape(aweights, Dims{n});
        w = w.defined() ? ops::mul(w, a) : a;
    }
    if (!w.defined()) {
        if (n <= correction)
            warn(WarningKind::User,
                 "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
                 "observations.");
        x = x - ops::mean(x, Dims{1}, true);
        return ops::squeeze(ops::matmul(x, ops::conj(ops::t(x))) / std::max<int64_t>(n - correction, 0));
    }
    const Tensor total = ops::sum(w);
    x = x - ops::unsqueeze(ops::sum(ops::mul(x, w), Dims{1}) / total, 1);
    Tensor freedom = total - correction;
    if (correction != 0 && aweights.defined())
        freedom = total - ops::sum(ops::mul(w, ops::reshape(aweights, Dims{n}) / total)) * correction;
    return ops::squeeze(ops::matmul(ops::mul(x, w), ops::conj(ops::t(x))) / ops::clamp_min(freedom, 0));
}

Tensor correlation(const Tensor& self) {
    check(self.dim() <= 2, ErrorKind::Runtime,
          "corrcoef(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
          " dimensions");
    check(self.dtype() != DType::Bool, ErrorKind::Runtime, "corrcoef(): bool dtype is not supported for input");
    Tensor x = is_integral(self.dtype()) ? ops::to_dtype(self, default_dtype()) : self;
    if (x.dim() < 2) x = ops::reshape(x, Dims{1, x.numel()});
    x = x - ops::mean(x, Dims{1}, true);
    x = x / ops::linalg_vector_norm(x, 2, Dims{1}, true);  // products of directions, not of what may be huge
    const Tensor r = ops::squeeze(ops::matmul(x, ops::conj(ops::t(x))));
    auto within = [](const Tensor& t) { return ops::clamp_max(ops::clamp_min(t, -1), 1); };
    return is_complex(r.dtype()) ? ops::complex(within(ops::real(r)), within(ops::imag(r))) : within(r);
}

Tensor renormed(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
    check(self.dim() > 1, ErrorKind::Runtime, "renorm: input needs at least 2 dimensions, got ", self.dim(),
          " dimensions");
    check(p.to<double>() > 0, ErrorKind::Runtime, "renorm: non-positive-norm not supported, got p = ", p.to<double>());
    check(maxnorm.to<double>() >= 0, ErrorKind::Runtime, "renorm: expected maxnorm to be >= 0 but got ",
          maxnorm.to<double>());
    dim = wrap_dim(dim, self.dim(), "renorm");
    Dims others;
    for (int64_t d = 0; d < self.dim(); ++d)
        if (d != dim) others.push_back(d);
    const Tensor norm = ops::linalg_vector_norm(self, p.to<double>(), others, true);
    // A division: maxnorm / norm^2, in the derivative of a factor, may vanish where the whole does not.
    return ops::div(self, ops::where(ops::gt(norm, maxnorm), ops::div(norm + 1e-7, maxnorm), 1));
}

}  // namespace wengert::ops::formulas
