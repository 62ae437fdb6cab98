#include "generated/ops/formulas/common.h"

#include <algorithm>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/strict_singular.h"

namespace wengert::ops::formulas {

Tensor zeros_like(const Tensor& t) { return zeros(t.sizes(), t.dtype(), t.device()); }

Tensor chain_rule(const Operand& cotangent, const Operand& partial) {
    return strict_singular() ? ops::mul(cotangent, partial) : ops::chain(cotangent, partial);
}

Tensor one_sided_product(const Tensor& cotangent, const Operand& partial) {
    const Tensor product = ops::mul(cotangent, partial);
    return strict_singular() ? product : ops::where(ops::eq(cotangent, 0), ops::chain(cotangent, partial), product);
}

bool is_complex_dtype(DType dtype) { return is_complex(dtype); }

bool is_number(const Operand& o) { return !o.is_tensor(); }

Tensor fitted(const Tensor& t, IntSpan sizes, DType dtype) {
    Tensor out = fitted_gradient(t, sizes, dtype);
    return out.is_same(t) ? ops::clone(t) : out;
}

Tensor fitted_gradient(const Tensor& grad, IntSpan sizes, DType dtype) {
    Tensor out = grad.dtype() == dtype ? grad : ops::to_dtype(grad, dtype);
    if (std::ranges::equal(out.sizes(), sizes)) return out;
    return is_broadcastable_to(out.sizes(), sizes) ? ops::clone(ops::expand(out, sizes)) : ops::sum_to_size(out, sizes);
}

Tensor expand_reduced(const Tensor& grad, IntSpan sizes, const std::optional<Dims>& dim, bool keepdim) {
    const int64_t n = static_cast<int64_t>(sizes.size());
    Tensor out = grad;
    if (!keepdim && dim && !dim->empty() && n > 0) {
        Dims kept(sizes);
        for (int64_t d : *dim) kept[static_cast<size_t>(wrap_dim(d, n, "sum"))] = 1;
        out = ops::reshape(out, kept);
    }
    return ops::expand(out, sizes);
}

}  // namespace wengert::ops::formulas
