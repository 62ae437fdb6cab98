// Gradients of Hermitian eigenproblems and of singular values where no values coincide, in a pass that is not recorded: the
// formulas of ops/formulas/linalg/spectra.cpp, with what they do to elements between two products in one loop. Results are
// NaN where values coincide, or vanish among singular ones; the formulas know more about these.
#include <algorithm>
#include <cmath>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"
#include "kernels/linalg/linalg.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// Matrices without gaps, row-major or column-major.
Tensor dense(const Tensor& t) {
    return !t.defined() || t.is_contiguous() || matrix_transposed(t).is_contiguous() ? t : contiguous(t);
}
// Nothing, if it is undefined.
template <class T>
Matrix<const T> matrix_at(const Tensor& t, int64_t index) {
    if (!t.defined()) return {nullptr, 0, 0, 0, 0};
    const size_t d = t.sizes().size();
    return {t.data_as<const T>() + index * rows(t) * cols(t), rows(t), cols(t), t.strides()[d - 2], t.strides()[d - 1]};
}

// Whether neighbours of x, values in order, differ by no more than rounding errors, or the last one from 0 (`vanish`).
template <class R>
bool coincide(const R* x, int64_t n, double tolerance, bool vanish) {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<double>(std::abs(x[i])));
    const double limit = tolerance * largest;
    bool any = vanish && n > 0 && static_cast<double>(x[n - 1]) <= limit;
    for (int64_t i = 1; i < n; ++i) any |= static_cast<double>(std::abs(x[i] - x[i - 1])) <= limit;
    return any;
}

// Pairs of elements (i, j) and (j, i), i > j, in squares whose rows and columns stay in the cache.
template <class F>
void for_each_pair(int64_t n, F&& f) {
    constexpr int64_t kSquare = 32;
    for (int64_t i0 = 0; i0 < n; i0 += kSquare)
        for (int64_t j0 = 0; j0 <= i0; j0 += kSquare)
            for (int64_t i = i0; i < std::min(n, i0 + kSquare); ++i)
                for (int64_t j = j0; j < std::min(i, j0 + kSquare); ++j) f(i, j);
}

// The Hermitian matrix a b, whose lower triangle is computed.
template <class T>
void hermitian_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out) {
    const int64_t n = out.rows, step = std::max<int64_t>(64, (n + 3) / 4);
    for (int64_t i = 0; i < n; i += step) {
        const int64_t height = std::min(step, n - i), width = i + height;
        gemm<T>(T(1), a.block(i, 0, height, a.cols), b.block(0, 0, b.rows, width), T(0),
                out.block(i, 0, height, width));
    }
    for_each_pair(n, [&](int64_t i, int64_t j) { out(j, i) = conjugate(out(i, j)); });
    if constexpr (is_complex_type<T>)
        for (int64_t i = 0; i < n; ++i) out(i, i) = std::real(out(i, i));
}

// M diag(factors)
template <class T>
void scale_columns(Matrix<const T> m, const real_of<T>* factors, Matrix<T> out) {
    for (int64_t i = 0; i < m.rows; ++i)
        for (int64_t j = 0; j < m.cols; ++j) out(i, j) = m(i, j) * factors[j];
}

template <class T>
struct EighGrad {
    const Tensor &out, &values, &vectors, &grad_values, &grad_vectors;
    const int64_t n = cols(out);
    const Scratch<T> inner_memory{n * n}, product_memory{n * n};

    void of_matrix(int64_t index) const {
        using R = real_of<T>;
        const R* w = values.data_as<const R>() + index * n;
        const R* of_w = grad_values.defined() ? grad_values.data_as<const R>() + index * n : nullptr;
        const Matrix<const T> v = matrix_at<T>(vectors, index), of_v = matrix_at<T>(grad_vectors, index);
        if (coincide(w, n, coincidence_tolerance(out.dtype(), n), false)) return fill_matrix_with_nan(out, index);
        const Adjoint<T> adjoint(v);
        const Matrix<const T> vh = adjoint.view();
        const Matrix<T> inner = row_major(inner_memory.data(), n, n), product = row_major(product_memory.data(), n, n),
                        to = row_major(out.data_as<T>() + index * n * n, n, n);
        if (!of_v.data) {  // V diag(g) V^H
            scale_columns<T>(v, of_w, inner);
            return hermitian_product<T>(inner, vh, to);
        }
        gemm<T>(T(1), vh, of_v, T(0), inner);
        for_each_pair(n, [&](int64_t i, int64_t j) {
            const T x = (inner(i, j) - conjugate(inner(j, i))) / (2 * (w[j] - w[i]));
            inner(i, j) = x;
            inner(j, i) = conjugate(x);
        });
        for (int64_t i = 0; i < n; ++i) inner(i, i) = of_w ? of_w[i] : R(0);
        gemm<T>(T(1), inner, vh, T(0), product);
        hermitian_product<T>(v, product, to);
    }
};

void eigh_backward(Result out, const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                   const Tensor& vectors) {
    const Tensor gw = grad_values.defined() ? contiguous(grad_values) : grad_values, gv = dense(grad_vectors),
                 w = contiguous(values), v = dense(vectors);
    dispatch_inexact(out->dtype(), "linalg.eigh", [&]<class T> {
        const EighGrad<T> grad{*out, w, v, gw, gv};
        for (int64_t i = 0; i < batch_count(out); ++i) grad.of_matrix(i);
    });
}

// With thin U [m,k] and V^H [k,n].
template <class T>
struct SvdGrad {
    using R = real_of<T>;
    const Tensor &out, &u_full, &values, &vh_full, &grad_u, &grad_s, &grad_vh;
    const int64_t m = rows(out), n = cols(out), k = cols(values);
    const Scratch<T> of_u_memory{k * k}, of_v_memory{k * k}, product_memory{m * k + k * n};

    void of_matrix(int64_t index) const {
        const R* s = values.data_as<const R>() + index * k;
        const R* of_s = grad_s.defined() ? grad_s.data_as<const R>() + index * k : nullptr;
        if (coincide(s, k, coincidence_tolerance(out.dtype(), std::max(m, n)), true))
            return fill_matrix_with_nan(out, index);
        const Matrix<const T> u = matrix_at<T>(u_full, index).block(0, 0, m, k),
                              vh = matrix_at<T>(vh_full, index).block(0, 0, k, n);
        const Matrix<T> to = row_major(out.data_as<T>() + index * m * n, m, n),
                        left = row_major(product_memory.data(), m, k),
                        right = row_major(product_memory.data() + m * k, k, n);
        if (!grad_u.defined() && !grad_vh.defined()) {
            scale_columns<T>(u, of_s, left);
            return gemm<T>(T(1), left, vh, T(0), to);
        }
        // U^H gU and V^H gV
        const Matrix<T> inner = row_major(of_u_memory.data(), k, k), of_v = row_major(of_v_memory.data(), k, k);
        const Matrix<const T> gu = grad_u.defined() ? matrix_at<T>(grad_u, index).block(0, 0, m, k) : Matrix<const T>{},
                              gvh = grad_vh.defined() ? matrix_at<T>(grad_vh, index).block(0, 0, k, n)
                                                      : Matrix<const T>{};
        multiply_or_clear(gu.data, [&] { gemm<T>(T(1), Adjoint<T>(u).view(), gu, T(0), inner); }, inner);
        multiply_or_clear(gvh.data, [&] { gemm<T>(T(1), vh, Adjoint<T>(gvh).view(), T(0), of_v); }, of_v);
        // What is beside the ranges: (gU - U ku) / s V^H and U (gV - V kv)^H / s, of which one is 0.
        const bool beside_u = gu.data && m > k, beside_v = gvh.data && n > k;
        if (beside_u) scale(gu, s, false, left);
        if (beside_v) scale(gvh, s, true, right);
        const Scratch<T> ku_memory(beside_u ? k * k : 0), kv_memory(beside_v ? k * k : 0);
        const Matrix<T> ku = row_major(ku_memory.data(), k, k), kv = row_major(kv_memory.data(), k, k);
        if (beside_u) scale(inner, s, false, ku);
        if (beside_v)
            for (int64_t i = 0; i < k; ++i)
                for (int64_t j = 0; j < k; ++j) kv(i, j) = conjugate(of_v(j, i)) / s[i];
        for_each_pair(k, [&](int64_t i, int64_t j) {
            const T plus = (inner(i, j) + of_v(i, j)) - conjugate(inner(j, i) + of_v(j, i)),
                    minus = (inner(i, j) - of_v(i, j)) - conjugate(inner(j, i) - of_v(j, i));
            const T even = plus / (2 * (s[j] - s[i])), odd = minus / (2 * (s[j] + s[i]));
            inner(i, j) = even + odd;
            inner(j, i) = conjugate(even - odd);
        });
        for (int64_t i = 0; i < k; ++i) {
            T diagonal(0);
            if constexpr (is_complex_type<T>) diagonal = T(0, std::imag(inner(i, i) - of_v(i, i)) / (2 * s[i]));
            inner(i, i) = diagonal + (of_s ? of_s[i] : R(0));
        }
        // (U (inner - ku) + gU / s) V^H, or U ((inner - kv) V^H + gV^H / s): at most one of U and V is not square.
        if (beside_u) subtract(ku, inner);
        if (beside_v) subtract(kv, inner);
        if (m <= n) {
            gemm<T>(T(1), inner, vh, beside_v ? T(1) : T(0), right);
            gemm<T>(T(1), u, right, T(0), to);
        } else {
            gemm<T>(T(1), u, inner, beside_u ? T(1) : T(0), left);
            gemm<T>(T(1), left, vh, T(0), to);
        }
    }

private:
    template <class F>
    static void multiply_or_clear(const T* given, F&& multiply, Matrix<T> out) {
        if (given) return multiply();
        std::fill(out.data, out.data + out.rows * out.cols, T(0));
    }
    // Columns, or rows, over the singular values.
    static void scale(Matrix<const T> a, const R* s, bool of_rows, Matrix<T> out) {
        for (int64_t i = 0; i < a.rows; ++i)
            for (int64_t j = 0; j < a.cols; ++j) out(i, j) = a(i, j) / s[of_rows ? i : j];
    }
    static void subtract(Matrix<const T> a, Matrix<T> from) {
        for (int64_t i = 0; i < a.rows; ++i)
            for (int64_t j = 0; j < a.cols; ++j) from(i, j) -= a(i, j);
    }
};

void svd_backward(Result out, const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u,
                  const Tensor& s, const Tensor& vh) {
    const Tensor gu = dense(grad_u), gs = grad_s.defined() ? contiguous(grad_s) : grad_s, gvh = dense(grad_vh),
                 left = dense(u), values = contiguous(s), right = dense(vh);
    dispatch_inexact(out->dtype(), "linalg.svd", [&]<class T> {
        const SvdGrad<T> grad{*out, left, values, right, gu, gs, gvh};
        for (int64_t i = 0; i < batch_count(out); ++i) grad.of_matrix(i);
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&)> eigh_backward_kernel{
    "eigh_backward", eigh_backward};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                            const Tensor&)>
    svd_backward_kernel{"svd_backward", svd_backward};

}  // namespace wengert::kernels
