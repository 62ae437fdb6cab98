// qr, svd, eigh, eig and what stands on them.
#include <algorithm>

#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"
#include "kernels/reductions/nan_check.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// job 'N', 'S' or 'A'; u and vh are undefined for 'N'.
struct SvdResult {
    Tensor u, s, vh;
};

SvdResult empty_svd(const Tensor& self, char job) {
    const char* op = "linalg.svd";
    check_matrix(self, op);
    const int64_t m = lapack_int(rows(self), op), n = lapack_int(cols(self), op), k = std::min(m, n);
    const IntSpan batch = batch_sizes(self);
    const Device device = self.device();
    SvdResult r;
    r.s = empty(joined(batch, {k}), real_dtype(self.dtype()), device);
    if (job != 'N') {
        r.u = empty(joined(batch, {m, job == 'A' ? m : k}), self.dtype(), device);
        r.vh = empty(joined(batch, {job == 'A' ? n : k, n}), self.dtype(), device);
    }
    return r;
}

SvdResult svd(const Tensor& self, char job) {
    SvdResult r = empty_svd(self, job);
    // Of a matrix without elements all vectors are bases of the whole space.
    if (r.s.numel() > 0 || (job == 'A' && r.u.numel() + r.vh.numel() > 0)) svd_kernel(r.u, r.s, r.vh, self, job);
    return r;
}

bool is_lower(std::string_view uplo) {
    const char c = uplo.size() == 1 ? static_cast<char>(uplo[0] & ~0x20) : '?';
    check(c == 'L' || c == 'U', ErrorKind::Runtime, "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
    return c == 'L';
}

std::tuple<Tensor, Tensor> eigh(const Tensor& self, std::string_view uplo, bool vectors, const char* name) {
    check_square(self, name);
    const bool lower = is_lower(uplo);
    const int64_t n = lapack_int(cols(self), "linalg.eigh");
    Tensor w = empty(joined(batch_sizes(self), {n}), real_dtype(self.dtype()), self.device()), v;
    if (vectors) v = empty_column_major(batch_sizes(self), n, n, self.dtype(), self.device());
    if (w.numel() > 0) eigh_kernel(w, v, self, lower);
    return {w, v};
}

std::tuple<Tensor, Tensor> eig(const Tensor& self, bool vectors) {
    const char* op = "linalg.eig";
    check_square(self, op);
    const int64_t n = lapack_int(cols(self), op);
    const DType dtype = complex_dtype(self.dtype());
    Tensor w = empty(joined(batch_sizes(self), {n}), dtype, self.device()), v;
    if (vectors) v = empty_column_major(batch_sizes(self), n, n, dtype, self.device());
    if (w.numel() > 0) eig_kernel(w, v, self);
    return {w, v};
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& self, std::string_view mode) {
    const char* op = "linalg.qr";
    check(mode == "reduced" || mode == "complete" || mode == "r", ErrorKind::Runtime, "qr received unrecognized mode '",
          mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
    check_matrix(self, op);
    const int64_t m = lapack_int(rows(self), op), n = lapack_int(cols(self), op);
    const int64_t k = mode == "complete" ? m : std::min(m, n);
    const IntSpan batch = batch_sizes(self);
    Tensor q = mode == "r" ? empty(Dims{0}, self.dtype(), self.device())
                           : empty_column_major(batch, m, k, self.dtype(), self.device());
    Tensor r = empty_column_major(batch, k, n, self.dtype(), self.device());
    if (q.numel() + r.numel() > 0) qr_kernel(q, r, self);
    return {q, r};
}

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
    check_matrix(self, "geqrf");
    const int64_t k = std::min(lapack_int(rows(self), "geqrf"), lapack_int(cols(self), "geqrf"));
    Tensor a = column_major_copy(self), tau = empty(joined(batch_sizes(self), {k}), self.dtype(), self.device());
    if (tau.numel() > 0) geqrf_kernel(a, tau);
    return {a, tau};
}

Tensor householder_product(const Tensor& A, const Tensor& tau) {
    lapack_int(rows(A), "linalg.householder_product"), lapack_int(cols(A), "linalg.householder_product");
    Tensor out = column_major_copy(A);
    if (out.numel() > 0) orgqr_kernel(out, tau);
    return out;
}

Tensor ormqr(const Tensor& A, const Tensor& tau, const Tensor& C, bool left, bool adjoint) {
    lapack_int(rows(C), "ormqr"), lapack_int(cols(C), "ormqr");
    Tensor out = row_major_copy(C);
    if (out.numel() > 0 && tau.numel() > 0) ormqr_kernel(out, A, tau, left, adjoint);
    return out;
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& self, bool full_matrices) {
    SvdResult r = svd(self, full_matrices ? 'A' : 'S');
    return {r.u, r.s, r.vh};
}

Tensor linalg_svdvals(const Tensor& self) { return svd(self, 'N').s; }

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view uplo) {
    return eigh(self, uplo, true, "linalg.eigh");
}
Tensor linalg_eigvalsh(const Tensor& self, std::string_view uplo) {
    return std::get<0>(eigh(self, uplo, false, "linalg.eigvalsh"));
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) { return eig(self, true); }
Tensor linalg_eigvals(const Tensor& self) { return std::get<0>(eig(self, false)); }

double coincidence_tolerance(DType dtype, int64_t size) {
    return 4 * static_cast<double>(size) * limits_of(dtype).epsilon;
}

std::tuple<Tensor, Tensor> eigh_along(const Tensor& self, const Tensor& along, std::string_view uplo) {
    auto [w, v] = linalg_eigh(self, uplo);
    if (along.defined() && w.numel() > 0) eigh_along_kernel(v, w, along);
    return {w, v};
}

std::tuple<Tensor, Tensor, Tensor> svd_along(const Tensor& self, const Tensor& along, bool full_matrices) {
    if (!along.defined() || self.numel() == 0) return linalg_svd(self, full_matrices);
    SvdResult r = empty_svd(self, full_matrices ? 'A' : 'S');
    svd_along_kernel(r.u, r.s, r.vh, self, along);
    return {r.u, r.s, r.vh};
}

std::tuple<Tensor, Tensor> eig_along(const Tensor& self, const Tensor& along) {
    auto [w, v] = linalg_eig(self);
    if (w.numel() > 0) eig_along_kernel(v, w, self, along);
    return {w, v};
}

namespace {

// Of smaller matrices there are many: operations on all of them are faster than a few products for each.
constexpr int64_t kOneByOne = 16;

}  // namespace

Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors) {
    if (cols(vectors) < kOneByOne) return {};
    const Tensor out = empty(vectors.sizes(), vectors.dtype(), vectors.device());
    if (out.numel() > 0) eigh_backward_kernel(out, grad_values, grad_vectors, values, vectors);
    return all_finite(out) ? out : Tensor();
}

Tensor svd_backward(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u, const Tensor& s,
                    const Tensor& vh) {
    if (s.size(-1) < kOneByOne) return {};
    const Tensor out = empty(joined(batch_sizes(u), {rows(u), cols(vh)}), u.dtype(), u.device());
    if (out.numel() > 0) svd_backward_kernel(out, grad_u, grad_s, grad_vh, u, s, vh);
    return all_finite(out) ? out : Tensor();
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
    const char* op = "linalg.lstsq";
    check_matrix(self, op);
    check_same_dtype(self, b, op);
    std::string_view name = driver.value_or("gelsy");
    check(name == "gels" || name == "gelsy" || name == "gelsd" || name == "gelss", ErrorKind::Runtime, op,
          ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", name);
    bool vector = b.dim() == self.dim() - 1;
    check(vector || b.dim() == self.dim(), ErrorKind::Runtime, op,
          ": input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1; got ",
          ShapeOf{self.sizes()}, " and ", ShapeOf{b.sizes()});
    Dims sizes = b.sizes(), strides = b.strides();
    if (vector) {
        sizes.push_back(1);
        strides.push_back(1);
    }
    Tensor rhs = alias(b, sizes, strides, b.offset());
    int64_t m = rows(self), n = cols(self), k = cols(rhs), r = std::min(m, n);
    check(rows(rhs) == m, ErrorKind::Runtime, op, ": input.size(-2) should match other.size(", vector ? "-1)" : "-2)",
          ", got ", ShapeOf{self.sizes()}, " and ", ShapeOf{b.sizes()});
    Dims batch = common_batch(self, rhs, op);
    lapack_int(m, "linalg.svd"), lapack_int(n, "linalg.svd");
    const DType dtype = self.dtype(), real = real_dtype(dtype);
    const Device device = self.device();
    Tensor x = zeros(joined(batch, {n, k}), dtype, device), ranks = empty(batch, DType::Int64, device);
    const bool wants_values = name == "gelsd" || name == "gelss";
    Tensor s = wants_values ? empty(joined(batch, {r}), real, device) : Tensor(), squares;
    if (name != "gelsy" && m > n) squares = zeros(joined(batch, {k}), real, device);
    const double cut = name == "gels" ? 0  // full rank is the caller's word
                                      : rcond.value_or(limits_of(dtype).epsilon * static_cast<double>(std::max(m, n)));
    if (ranks.numel() > 0) lstsq_kernel(x, ranks, s, squares, self, rhs, cut);
    const Tensor nothing = empty(Dims{0}, real, device);
    const bool residuals = squares.defined() && (ranks.numel() == 0 || all_have_rank_kernel(ranks, n));
    if (vector) x = alias(x, joined(batch, {n}), contiguous_strides(joined(batch, {n})), 0);
    return {x, residuals ? squares : nothing, name == "gels" ? empty(Dims{0}, DType::Int64, device) : ranks,
            wants_values ? s : nothing};
}

}  // namespace wengert::kernels
