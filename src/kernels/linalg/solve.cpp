// LU factors: solve, inv, lu, det.
#include <algorithm>

#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {

using namespace linalg;

void check_solvable(const Tensor&, const Tensor& info) {
    check_info(info, "linalg.solve",
               [](int32_t) -> std::string { return "The solver failed because the input matrix is singular."; });
}

Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
    const char* op = "linalg.solve";
    check_square(a, op);
    check_same_dtype(a, b, op);
    check(b.dim() >= 1, ErrorKind::Runtime, op, ": B must have at least 1 dimension");
    IntSpan vector_shape = IntSpan(a.sizes()).first(a.sizes().size() - 1);
    bool vector = b.dim() == 1 || (b.dim() == a.dim() - 1 && std::equal(vector_shape.begin(), vector_shape.end(),
                                                                        b.sizes().begin(), b.sizes().end()));
    check(left || !vector, ErrorKind::Runtime, op,
          ": Vector broadcasting of the left hand side is not supported for left=False");
    Dims sizes = b.sizes(), strides = b.strides();
    if (vector) {
        sizes.push_back(1);
        strides.push_back(1);
    }
    Tensor rhs = alias(b, sizes, strides, b.offset());
    check_system(a, rhs, left, op);
    Tensor out = row_major_copy(rhs, common_batch(a, rhs, op));
    lapack_int(cols(a), op), lapack_int(rows(out), op), lapack_int(cols(out), op);
    if (a.numel() > 0) (check_errors ? solve_checked_kernel : solve_kernel)(out, a, left);
    if (!vector) return out;
    Dims shape(out.sizes().begin(), out.sizes().end() - 1);
    return alias(out, shape, contiguous_strides(shape), 0);
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& self, bool check_errors) {
    const char* op = "linalg.inv";
    check_square(self, op);
    lapack_int(cols(self), op);
    Tensor info = zero_info(self), out = row_major_copy(self);
    if (out.numel() > 0) inverse_kernel(out, info);
    if (check_errors)
        check_info(info, op, [](int32_t at) {
            return "The diagonal element " + std::to_string(at) +
                   " is zero, the inversion could not be completed because the input matrix is singular.";
        });
    return {out, info};
}

Tensor linalg_inv(const Tensor& self) { return std::get<0>(linalg_inv_ex(self, true)); }

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& self, bool pivot, bool check_errors) {
    const char* op = "linalg.lu_factor";
    check_matrix(self, op);
    check(pivot, ErrorKind::Runtime, op, ": LU without pivoting is not implemented on the CPU");
    const int64_t k = std::min(lapack_int(rows(self), op), lapack_int(cols(self), op));
    Tensor lu = column_major_copy(self), info = zero_info(self);
    Tensor pivots = empty(joined(batch_sizes(self), {k}), DType::Int32, self.device());
    if (lu.numel() > 0) lu_factor_kernel(lu, pivots, info);
    if (check_errors)
        check_info(info, op, [](int32_t at) {
            const std::string i = std::to_string(at);
            return "U[" + i + "," + i +
                   "] is zero and using it on lu_solve would result in a division by zero. If you still want to "
                   "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)";
        });
    return {lu, pivots, info};
}

namespace {

// Row exchanges are written by users too: each must stay inside its matrix.
void check_pivots(const Tensor& lu, const Tensor& pivots, const char* op) {
    const int64_t k = std::min(rows(lu), cols(lu));
    check(pivots.dim() >= 1 && pivots.size(-1) == k, ErrorKind::Runtime, op,
          ": Number of pivots per batch should be same as the dimension of the matrix, but they are ",
          ShapeOf{pivots.sizes()}, " for ", ShapeOf{lu.sizes()});
    if (pivots.numel() > 0) check_pivots_kernel(pivots, rows(lu), op);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu_data, const Tensor& lu_pivots, bool unpack_data,
                                             bool unpack_pivots) {
    check_matrix(lu_data, "lu_unpack", "LU_data");
    check(lu_pivots.dtype() == DType::Int32, ErrorKind::Runtime,
          "[lu_unpack] LU_pivots is expected to be a contiguous tensor of wengert.int32 dtype, got ",
          lu_pivots.dtype());
    if (unpack_pivots) check_pivots(lu_data, lu_pivots, "lu_unpack");
    const int64_t m = rows(lu_data), n = cols(lu_data), k = std::min(m, n);
    const auto result = [&](bool wanted, int64_t rows, int64_t cols) {
        return zeros(wanted ? joined(batch_sizes(lu_data), {rows, cols}) : Dims{0}, lu_data.dtype(), lu_data.device());
    };
    Tensor p = result(unpack_pivots, m, m), l = result(unpack_data, m, k), u = result(unpack_data, k, n);
    const Tensor pivots = unpack_pivots ? expand(lu_pivots, joined(batch_sizes(lu_data), {k})) : Tensor();
    if (p.numel() + l.numel() > 0) lu_unpack_kernel(p, l, u, lu_data, pivots);
    return {p, l, u};
}

Tensor lu_row_order(const Tensor& lu_data, const Tensor& lu_pivots, bool inverse) {
    check_matrix(lu_data, "lu_unpack", "LU_data");
    check(lu_pivots.dtype() == DType::Int32 && lu_pivots.dim() == 1 &&
              lu_pivots.size(0) == std::min(rows(lu_data), cols(lu_data)),
          ErrorKind::Runtime, "[lu_unpack] LU_pivots must be int32 [k], k the lesser size of LU_data, got ",
          lu_pivots.dtype(), " ", ShapeOf{lu_pivots.sizes()});
    check_pivots(lu_data, lu_pivots, "lu_unpack");
    const Tensor order = empty(Dims{rows(lu_data)}, DType::Int64, lu_data.device());
    if (order.numel() > 0) lu_row_order_kernel(order, lu_pivots, inverse);
    return order;
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& self) {
    const char* op = "linalg.slogdet";
    check_square(self, op);
    lapack_int(cols(self), op);
    Tensor sign = empty(batch_sizes(self), self.dtype(), self.device()),
           log = empty(batch_sizes(self), real_dtype(self.dtype()), self.device());
    if (sign.numel() > 0) slogdet_kernel(sign, log, self);
    return {sign, log};
}

Tensor linalg_det(const Tensor& self) {
    const char* op = "linalg.det";
    check_square(self, op);
    lapack_int(cols(self), op);
    Tensor out = empty(batch_sizes(self), self.dtype(), self.device());
    if (out.numel() > 0) det_kernel(out, self);
    return out;
}

}  // namespace wengert::kernels
