// Eigenvectors and singular vectors that continue along a tangent.
//
// Where values coincide every basis of the space of their vectors is as good as any other. As A moves along a tangent dA the
// values part, and one basis is continued: that which diagonalises dA within the space (perturbation theory of first order).
// Decompositions that are differentiated in forward mode choose it, so that the diagonal of V^H dA V has the derivatives of
// the values, in their order, and nothing of dA is left beside it. (Of general matrices it need not exist.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"
#include "kernels/linalg/linalg.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// One matrix of a batch, of any strides.
template <class T>
Matrix<T> matrix_at(const Tensor& t, int64_t index) {
    const size_t d = t.sizes().size();
    return {t.data_as<std::remove_const_t<T>>() + index * rows(t) * cols(t), rows(t), cols(t), t.strides()[d - 2],
            t.strides()[d - 1]};
}

template <class T>
Tensor product(Matrix<const T> a, Matrix<const T> b, DType dtype) {
    const Tensor out = empty(Dims{a.rows, b.cols}, dtype);
    gemm<T>(T(1), a, b, T(0), matrix_at<T>(out, 0));
    return out;
}
template <class T>
Tensor adjoint(Matrix<const T> a, DType dtype) {
    const Tensor out = empty(Dims{a.cols, a.rows}, dtype);
    for (int64_t i = 0; i < a.cols; ++i)
        for (int64_t j = 0; j < a.rows; ++j) out.data_as<T>()[i * a.rows + j] = conjugate(a(j, i));
    return out;
}
// P^H M Q
template <class T>
Tensor between(Matrix<const T> p, Matrix<const T> m, Matrix<const T> q, DType dtype) {
    const Tensor right = product<T>(m, q, dtype), left = adjoint<T>(p, dtype);
    return product<T>(matrix_at<const T>(left, 0), matrix_at<const T>(right, 0), dtype);
}
// Columns become their product with q.
template <class T>
void turn(Matrix<T> columns, Matrix<const T> q, DType dtype) {
    const Tensor turned = product<T>(columns, q, dtype);
    for (int64_t i = 0; i < columns.rows; ++i)
        for (int64_t j = 0; j < columns.cols; ++j) columns(i, j) = turned.data_as<T>()[i * columns.cols + j];
}

template <class T>
Tensor hermitian_part(const Tensor& t) {
    const Tensor h = adjoint<T>(matrix_at<const T>(t, 0), t.dtype());
    for (int64_t i = 0; i < t.numel(); ++i) h.data_as<T>()[i] = (h.data_as<T>()[i] + t.data_as<T>()[i]) / real_of<T>(2);
    return h;
}

// Runs of neighbours that coincide, [first, end), of values in order.
template <class R>
std::vector<std::pair<int64_t, int64_t>> runs(const R* x, int64_t n, double tolerance) {
    std::vector<std::pair<int64_t, int64_t>> found;
    for (int64_t first = 0, end = 1; first < n; first = end++) {
        while (end < n && std::abs(static_cast<double>(x[end] - x[end - 1])) <= tolerance) ++end;
        if (end - first > 1) found.emplace_back(first, end);
    }
    return found;
}

template <class T>
double largest(const T* x, int64_t n) {
    double out = 0;
    for (int64_t i = 0; i < n; ++i) out = std::max(out, static_cast<double>(std::abs(x[i])));
    return out;
}

// Sets of general values that coincide, one with another.
template <class C>
std::vector<std::vector<int64_t>> clusters(const C* x, int64_t n, double tolerance) {
    std::vector<std::vector<int64_t>> found;
    std::vector<bool> taken(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
        if (taken[static_cast<size_t>(i)]) continue;
        std::vector<int64_t> one{i};
        for (size_t at = 0; at < one.size(); ++at)
            for (int64_t j = i + 1; j < n; ++j)
                if (!taken[static_cast<size_t>(j)] && static_cast<double>(std::abs(x[j] - x[one[at]])) <= tolerance) {
                    taken[static_cast<size_t>(j)] = true;
                    one.push_back(j);
                }
        if (one.size() > 1) found.push_back(std::move(one));
    }
    return found;
}

// Eigenvectors of coinciding values as LAPACK finds them may be almost parallel although there are enough: an orthonormal
// basis of their span, [n,k] row-major, in their place. Unchanged where these are no eigenvectors, of a defective matrix.
template <class T>
void orthonormalize(Matrix<const T> a, T value, const Tensor& vectors, DType dtype) {
    using R = real_of<T>;
    const Tensor basis = row_major_copy(vectors);
    const Matrix<T> q = matrix_at<T>(basis, 0);
    auto inner = [&](int64_t i, int64_t j) {
        T sum(0);
        for (int64_t r = 0; r < q.rows; ++r) sum += conjugate(q(r, i)) * q(r, j);
        return sum;
    };
    for (int64_t j = 0; j < q.cols; ++j)
        for (int pass = 0; pass < 3; ++pass) {  // Gram and Schmidt, repeated
            for (int64_t i = 0; i < j; ++i) {
                const T along = inner(i, j);
                for (int64_t r = 0; r < q.rows; ++r) q(r, j) -= along * q(r, i);
            }
            const R length = std::sqrt(std::real(inner(j, j)));
            if (!(length > 0)) return;
            for (int64_t r = 0; r < q.rows; ++r) q(r, j) /= length;
        }
    const Tensor image = product<T>(a, q, dtype);
    double size = 0, error = 0;
    for (int64_t i = 0; i < q.rows; ++i) {
        for (int64_t j = 0; j < q.rows; ++j) size = std::max(size, static_cast<double>(std::abs(a(i, j))));
        for (int64_t j = 0; j < q.cols; ++j)
            error =
                std::max(error, static_cast<double>(std::abs(image.data_as<T>()[i * q.cols + j] - value * q(i, j))));
    }
    if (error <= 8 * coincidence_tolerance(dtype, q.rows) * size) copy_into(vectors, basis);
}

bool is_finite(const Tensor& t) {
    return dispatch_inexact(t.dtype(), "linalg", [&]<class T> { return linalg::is_finite(t.data_as<T>(), t.numel()); });
}

void eigh_along(Result v, const Tensor& w, const Tensor& along) {
    const Tensor tangents = row_major_copy(along);
    if (!is_finite(tangents)) return;
    const int64_t n = cols(v);
    const DType dtype = v->dtype();
    dispatch_inexact(dtype, "linalg.eigh", [&]<class T> {
        for (int64_t i = 0; i < batch_count(v); ++i) {
            const auto* x = w.data_as<real_of<T>>() + i * n;
            for (auto [first, end] : runs(x, n, coincidence_tolerance(dtype, n) * largest(x, n))) {
                const Matrix<T> columns = matrix_at<T>(v, i).block(0, first, n, end - first);
                const Tensor inner = between<T>(columns, matrix_at<const T>(tangents, i), columns, dtype);
                const Tensor q = std::get<1>(linalg_eigh(hermitian_part<T>(inner), "L"));
                turn<T>(columns, matrix_at<const T>(q, 0), dtype);
            }
        }
    });
}

void svd_along(Result u_out, Result s, Result vh_out, const Tensor& self, const Tensor& along) {
    const int64_t m = rows(self), n = cols(self), k = std::min(m, n);
    const bool full_matrices = cols(u_out) == m && rows(vh_out) == n;
    const Tensor tangents = row_major_copy(along);
    if (!is_finite(tangents)) return svd_kernel(u_out, s, vh_out, self, full_matrices ? 'A' : 'S');
    const IntSpan batch = batch_sizes(self);
    const DType dtype = self.dtype();
    const Tensor u = full_matrices ? *u_out : empty(joined(batch, {m, m}), dtype),
                 vh = full_matrices ? *vh_out : empty(joined(batch, {n, n}), dtype);
    svd_kernel(u, s, vh, self, 'A');
    dispatch_inexact(dtype, "linalg.svd", [&]<class T> {
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const auto* x = s->data_as<real_of<T>>() + i * k;
            const double tolerance = coincidence_tolerance(dtype, std::max(m, n)) * largest(x, k);
            int64_t positive = k;
            while (positive > 0 && static_cast<double>(x[positive - 1]) <= tolerance) --positive;
            const Tensor v = adjoint<T>(matrix_at<const T>(vh, i), dtype);
            const Matrix<T> left = matrix_at<T>(u, i), right = matrix_at<T>(v, 0);
            const Matrix<const T> tangent = matrix_at<const T>(tangents, i);
            for (auto [first, end] : runs(x, positive, tolerance)) {
                const Matrix<T> a = left.block(0, first, m, end - first), b = right.block(0, first, n, end - first);
                const Tensor q = std::get<1>(linalg_eigh(hermitian_part<T>(between<T>(a, tangent, b, dtype)), "L"));
                const Matrix<T> ascending = matrix_at<T>(q, 0);
                for (int64_t r = 0; r < ascending.rows; ++r)  // as singular values go
                    for (int64_t c = 0; c < ascending.cols / 2; ++c)
                        std::swap(ascending(r, c), ascending(r, ascending.cols - 1 - c));
                turn<T>(a, ascending, dtype);
                turn<T>(b, ascending, dtype);
            }
            if (positive < k) {  // vectors of zero turn on both sides, and with those that complete a basis
                const Matrix<T> a = left.block(0, positive, m, m - positive),
                                b = right.block(0, positive, n, n - positive);
                const auto [p, values, qh] = linalg_svd(between<T>(a, tangent, b, dtype), true);
                turn<T>(a, matrix_at<const T>(p, 0), dtype);
                turn<T>(b, matrix_at<const T>(adjoint<T>(matrix_at<const T>(qh, 0), dtype), 0), dtype);
            }
            const Matrix<T> to = matrix_at<T>(vh, i);
            for (int64_t r = 0; r < n; ++r)
                for (int64_t c = 0; c < n; ++c) to(r, c) = conjugate(right(c, r));
        }
    });
    if (full_matrices) return;
    copy_into(u_out, alias(u, u_out->sizes(), u.strides(), u.offset()));
    copy_into(vh_out, alias(vh, vh_out->sizes(), vh.strides(), vh.offset()));
}

template <class T>
Tensor columns_at(Matrix<const T> m, const std::vector<int64_t>& columns, DType dtype) {
    const int64_t k = static_cast<int64_t>(columns.size());
    const Tensor out = empty(Dims{m.rows, k}, dtype);
    for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t j = 0; j < k; ++j) out.data_as<T>()[r * k + j] = m(r, columns[static_cast<size_t>(j)]);
    return out;
}
// With norm 1.
template <class T>
void set_columns(Matrix<T> m, const std::vector<int64_t>& columns, const Tensor& from) {
    const int64_t k = static_cast<int64_t>(columns.size());
    const T* x = from.data_as<T>();
    for (int64_t j = 0; j < k; ++j) {
        real_of<T> square(0);
        for (int64_t r = 0; r < m.rows; ++r) square += std::norm(x[r * k + j]);
        const auto length = std::sqrt(square);
        for (int64_t r = 0; r < m.rows; ++r) m(r, columns[static_cast<size_t>(j)]) = x[r * k + j] / length;
    }
}

void eig_along(Result v, const Tensor& w, const Tensor& self, const Tensor& along) {
    const int64_t n = cols(self);
    const DType dtype = v->dtype();
    const Tensor matrices = empty(self.sizes(), dtype);
    copy_into(matrices, self);
    Tensor tangents;
    if (along.defined()) {
        tangents = empty(self.sizes(), dtype);
        copy_into(tangents, along);
        if (!is_finite(tangents)) tangents = Tensor();
    }
    dispatch_inexact(dtype, "linalg.eig", [&]<class T> {
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const T* x = w.data_as<T>() + i * n;
            const auto found = clusters(x, n, coincidence_tolerance(dtype, n) * largest(x, n));
            const Matrix<T> all = matrix_at<T>(v, i);
            for (const std::vector<int64_t>& c : found) {
                const Tensor vectors = columns_at<T>(all, c, dtype);
                orthonormalize<T>(matrix_at<const T>(matrices, i), x[c[0]], vectors, dtype);
                set_columns<T>(all, c, vectors);
            }
            if (found.empty() || !tangents.defined()) continue;
            const Tensor basis = empty(Dims{n, n}, dtype);
            for (int64_t r = 0; r < n; ++r)
                for (int64_t c = 0; c < n; ++c) basis.data_as<T>()[r * n + c] = all(r, c);
            const Tensor moved = product<T>(matrix_at<const T>(tangents, i), all, dtype);
            const Tensor inner = linalg_solve(basis, moved, true, false);  // V^-1 dA V
            if (!is_finite(inner)) continue;                               // defective
            for (const std::vector<int64_t>& c : found) {
                const Tensor rows = columns_at<T>(matrix_at<const T>(inner, 0).transposed(), c, dtype);
                const Tensor block = columns_at<T>(matrix_at<const T>(rows, 0).transposed(), c, dtype);
                const Tensor q = std::get<1>(linalg_eig(block)), vectors = columns_at<T>(all, c, dtype);
                turn<T>(matrix_at<T>(vectors, 0), matrix_at<const T>(q, 0), dtype);
                set_columns<T>(all, c, vectors);
            }
        }
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> eigh_along_kernel{"eigh_along", eigh_along,
                                                                                     HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&)> svd_along_kernel{
    "svd_along", svd_along, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&)> eig_along_kernel{
    "eig_along", eig_along, HostWaits::ForErrors};

}  // namespace wengert::kernels
