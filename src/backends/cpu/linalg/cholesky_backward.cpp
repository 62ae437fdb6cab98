// The derivative of A -> L with A = L L^H, in the other direction: what the factor's cotangent says of A.
//
// The factorization undone step by step (I. Murray, Differentiation of the Cholesky decomposition, 2016): with
//
//     L = [ K   ]   K K^H = A,   R K^H = A',   D D^H = A'' - R R^H
//         [ R D ]
//
// first D, then R, then K. That costs 5/6 n^3 operations; two triangular systems and a product of whole matrices would
// cost 4 n^3. The cotangent of a Hermitian matrix is kept as that of its lower triangle, whose elements stand for two
// each, until the end.
#include <algorithm>
#include <complex>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

constexpr int64_t kFewColumns = 12;  // are undone one by one: products so small would cost more

// One column of L after the other, from the last one: `g` holds the cotangent of L, and then of A.
template <class T>
void undo_columns(Matrix<const T> l, Matrix<T> g) {
    const int64_t n = l.rows;
    for (int64_t k = n - 1; k >= 0; --k) {
        const auto d = std::real(l(k, k));
        auto of_d = std::real(g(k, k));
        for (int64_t i = k + 1; i < n; ++i) {
            g(i, k) /= d;
            of_d -= std::real(conjugate(l(i, k)) * g(i, k));
        }
        of_d /= d;
        for (int64_t j = 0; j < k; ++j) g(k, j) -= of_d * l(k, j);
        for (int64_t i = k + 1; i < n; ++i) {
            const T c = g(i, k), c_h = conjugate(c);
            for (int64_t j = 0; j < k; ++j) {
                g(k, j) -= c_h * l(i, j);
                g(i, j) -= c * l(k, j);
            }
        }
        g(k, k) = of_d / 2;
    }
}

// R := R K^-1 for the lower triangular K, both parts of row-major matrices whose rows are `ld` apart.
template <class T>
void divide_by_triangle(Matrix<const T> k, Matrix<T> r, int ld) {
    const T one(1);
    const int m = static_cast<int>(r.cols), n = static_cast<int>(r.rows);  // BLAS sees transposed matrices: K^T R^T
    blas<T>().trsm("L", "U", "N", "N", &m, &n, &one, k.data, &ld, r.data, &ld);
}

// factor (S + S^H), of a lower triangle S
template <class T>
void symmetrize(real_of<T> factor, Matrix<const T> s, Matrix<T> out) {
    for (int64_t i = 0; i < s.rows; ++i) {
        for (int64_t j = 0; j < i; ++j) {
            out(i, j) = factor * s(i, j);
            out(j, i) = conjugate(out(i, j));
        }
        out(i, i) = 2 * factor * s(i, i);
    }
}

// Half of the columns after the other: `g` holds the cotangent of L, and then of A. Rows are `ld` apart.
template <class T>
void undo(Matrix<const T> l, Matrix<T> g, int ld) {
    const int64_t n = l.rows;
    if (n <= kFewColumns) return undo_columns(l, g);
    const int64_t h = n / 2, rest = n - h;
    const Matrix<const T> k = l.block(0, 0, h, h), r = l.block(h, 0, rest, h), d = l.block(h, h, rest, rest);
    const Matrix<T> of_k = g.block(0, 0, h, h), of_r = g.block(h, 0, rest, h), of_d = g.block(h, h, rest, rest);
    undo(d, of_d, ld);
    {
        Scratch<T> memory(rest * rest);
        const Matrix<T> both = row_major(memory.data(), rest, rest);
        symmetrize<T>(1, of_d, both);
        gemm<T>(T(-1), both, r, T(1), of_r);
    }
    divide_by_triangle(k, of_r, ld);
    gemm<T>(T(-1), Adjoint<T>(of_r).view(), r, T(1), of_k);  // above the diagonal it is not read
    undo(k, of_k, ld);
}

void cholesky_backward(Result out, const Tensor& grad, const Tensor& factor, bool upper) {
    const auto lower_copy = [upper](const Tensor& t) {
        Tensor copy = row_major_copy(upper ? matrix_transposed(t) : t);
        if (upper) conjugate_(copy);
        return copy;
    };
    const Tensor l = upper ? lower_copy(factor) : contiguous(factor), g = lower_copy(grad);
    const int n = static_cast<int>(cols(l));
    dispatch_inexact(l.dtype(), "linalg.cholesky", [&]<class T> {
        for (int64_t i = 0; i < batch_count(l); ++i) {
            const int64_t start = i * n * n;
            const Matrix<T> of_a = row_major(g.data_as<T>() + start, n, n);
            undo<T>(row_major<const T>(l.data_as<T>() + start, n, n), of_a, std::max(n, 1));
            symmetrize<T>(real_of<T>(0.5), of_a, row_major(out->data_as<T>() + start, n, n));
        }
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> cholesky_backward_kernel{"cholesky_backward",
                                                                                                  cholesky_backward};

}  // namespace wengert::kernels
