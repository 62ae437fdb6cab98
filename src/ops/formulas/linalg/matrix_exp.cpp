#include "generated/ops/formulas/linalg/matrix_exp.h"

#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/products/matmul.h"
#include "generated/ops/linalg.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/views.h"

namespace wengert::ops::formulas {

namespace {

Tensor and_another(const Tensor& directions, const Tensor& direction) {
    return ops::cat(TensorList{ops::unsqueeze(direction, -3), directions}, -3);
}

// All of them but one, and another in its place.
Tensor replaced(const Tensor& directions, int64_t i, const Tensor& by) {
    const Tensor before = ops::slice(directions, -3, 0, i),
                 after = ops::slice(directions, -3, i + 1, directions.size(-3));
    return ops::cat(TensorList{before, ops::unsqueeze(by, -3), after}, -3);
}

}  // namespace

Tensor matrix_exp_grad(const Tensor& grad, const Tensor& A) {
    return ops::matrix_exp_along(conjugate_transpose(A), ops::unsqueeze(grad, -3));
}

Tensor matrix_exp_tangent(const Tensor& tangent, const Tensor& A) {
    return ops::matrix_exp_along(A, ops::unsqueeze(tangent, -3));
}

Tensor exp_along_grad_matrix(const Tensor& grad, const Tensor& A, const Tensor& directions) {
    return ops::matrix_exp_along(conjugate_transpose(A), and_another(conjugate_transpose(directions), grad));
}

Tensor exp_along_grad_directions(const Tensor& grad, const Tensor& A, const Tensor& directions) {
    const Tensor ah = conjugate_transpose(A), others = conjugate_transpose(directions);
    if (directions.size(-3) == 0) return formulas::zeros_like(directions);
    TensorList each;
    for (int64_t i = 0; i < directions.size(-3); ++i)
        each.push_back(ops::matrix_exp_along(ah, replaced(others, i, grad)));
    return ops::stack(each, -3);
}

Tensor exp_along_tangent_matrix(const Tensor& tangent, const Tensor& A, const Tensor& directions) {
    return ops::matrix_exp_along(A, and_another(directions, tangent));
}

Tensor exp_along_tangent_directions(const Tensor& tangents, const Tensor& A, const Tensor& directions) {
    Tensor sum;
    for (int64_t i = 0; i < directions.size(-3); ++i) {
        const Tensor term = ops::matrix_exp_along(A, replaced(directions, i, ops::select(tangents, -3, i)));
        sum = sum.defined() ? sum + term : term;
    }
    return sum;
}

}  // namespace wengert::ops::formulas
