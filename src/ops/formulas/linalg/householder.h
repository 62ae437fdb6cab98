// Products of Householder reflections: Q = H_1 ... H_k, H_i = I - tau_i v_i v_i^H, where v_i is column i of the unit lower
// trapezoid V [m,k]. Written out, Q = I - V T V^H with an upper triangular T (Schreiber and Van Loan 1989), for any tau:
// T = (I + diag(tau) S)^-1 diag(tau), where S is the strictly upper part of V^H V. So it is a few products and one triangular
// system, differentiable at every order.
#pragma once

#include <tuple>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor householder_columns(const Tensor& A, const Tensor& tau);  // the first n columns of Q, A [m,n]
Tensor householder_multiplied(const Tensor& A, const Tensor& tau, const Tensor& other, bool left, bool transpose);
std::tuple<Tensor, Tensor> householder_factors(const Tensor& A);  // of a QR decomposition, as LAPACK's geqrf has them

}  // namespace wengert::ops::formulas
