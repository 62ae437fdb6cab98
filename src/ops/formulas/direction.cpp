#include "ops/formulas/direction.h"

#include <algorithm>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "graph/grad_mode.h"
#include "ops/formulas/common.h"
#include "ops/formulas/cusps/vectors.h"
#include "ops/generated_support.h"

namespace wengert::ops::formulas {

using namespace cusps;

namespace {

Tensor along(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Tensor& r, const Reduction& how) {
    if (highest_level(x) < 0 && !records(x)) return product;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return product;
    const Tensor zero = derivative({how, cotangent, x, r, true}, {});
    return ops::where(how.wide(is_zero), zero, product);
}

Tensor across(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Tensor& r, const Reduction& how) {
    const int32_t level = std::max(highest_level(x), highest_level(tangent));
    if (level < 0 && !records(x, tangent)) return sum;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return sum;
    const Tensor zero = functional({how, {}, x, r, true}, {tangent});
    return ops::where(is_zero, zero, sum);
}

// Vectors of which `a` and `b` are the components, one for each length.
Tensor vectors_of(const Operand& a, const Operand& b, const Tensor& r) {
    const auto fit = [&](const Operand& o) {
        return o.is_tensor() ? fitted(o.tensor(), r.sizes(), r.dtype()) : full(r.sizes(), o.scalar(), r.dtype());
    };
    return ops::stack(TensorList{fit(a), fit(b)}, 0);
}
Near near_components(Ref<Node> maker, const Tensor& c, const Tensor& vectors, const Tensor& r) {
    Near near{Reduction(vectors, std::move(maker)), c, vectors, r, true};
    near.how.elementwise = false;
    near.how.dim = Dims{0};
    return near;
}

}  // namespace

Tensor along_direction(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Lengths& r) {
    return along(product, cotangent, x, r.value, Reduction(x, r));
}
Tensor across_direction(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Lengths& r) {
    return across(sum, tangent, x, r.value, Reduction(x, r));
}

Tensor along_component(const Tensor& product, const Tensor& cotangent, const Operand& x, const Operand& other,
                       const Tensor& r) {
    if (!x.is_tensor() || (highest_level(x, other) < 0 && !records(x, other))) return product;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return product;
    const Near near = near_components(Ref<Node>::share(current_node()), cotangent, vectors_of(x, other, r), r);
    return ops::where(is_zero, ops::select(derivative(near, {}), 0, 0), product);
}
Tensor across_component(const Tensor& product, const Tensor& tangent, const Operand& x, const Operand& other,
                        const Tensor& r) {
    if (!x.is_tensor() || (highest_level(x, other, tangent) < 0 && !records(x, other, tangent))) return product;
    const Tensor is_zero = zero_mask(r);
    if (!any(is_zero)) return product;
    const Near near = near_components(gradient_edge(r).function, {}, vectors_of(x, other, r), r);
    return ops::where(is_zero, functional(near, {vectors_of(tangent, Scalar(0), r)}), product);
}

Tensor along_phase(const Tensor& product, const Tensor& cotangent, const Tensor& x) {
    if (!is_complex(x.dtype())) return product;
    return along(product, cotangent, x, ops::abs(detach(x)), Reduction(x, Ref<Node>::share(current_node())));
}
Tensor across_phase(const Tensor& product, const Tensor& tangent, const Tensor& x, const Tensor& r) {
    if (!is_complex(x.dtype())) return product;
    return across(is_complex(product.dtype()) ? ops::real(product) : product, tangent, x, r,
                  Reduction(x, gradient_edge(r).function));
}

}  // namespace wengert::ops::formulas
