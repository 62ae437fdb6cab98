#include "backends/cpu/linalg/reflections.h"

#include <algorithm>

#include "backends/cpu/linalg/adjoint.h"

namespace wengert::kernels::linalg {

namespace {

constexpr int64_t kWidth = 32;  // reflections of a block

// Reflections that are applied as one.
template <class T>
class Block {
public:
    // Columns of `a`, R above vectors, and their factors.
    Block(Matrix<const T> a, const T* tau)
        : memory_(a.rows * a.cols),
          triangle_(a.cols * a.cols),
          v_(column_major(memory_.data(), a.rows, a.cols, a.rows)) {
        for (int64_t j = 0; j < a.cols; ++j) {
            T* column = &v_(0, j);
            std::fill(column, column + j, T(0));
            column[j] = T(1);
            std::copy(&a(j + 1, j), &a(0, j) + a.rows, column + j + 1);
        }
        const int64_t w = a.cols;
        Scratch<T> inner(w * w);
        const Matrix<T> g = row_major(inner.data(), w, w), t = row_major(triangle_.data(), w, w);
        gemm<T>(T(1), Adjoint<T>(v_).view(), v_, T(0), g);
        for (int64_t j = 0; j < w; ++j)
            for (int64_t i = 0; i < w; ++i) {
                T sum(0);
                for (int64_t p = i; p < j; ++p) sum += t(i, p) * g(p, j);
                t(i, j) = i < j ? -tau[j] * sum : i == j ? tau[j] : T(0);
            }
    }
    // c := (I - V T V^H) c, or its adjoint
    void apply(bool adjoint, Matrix<T> c) const {
        if (c.cols == 0) return;
        const int64_t w = v_.cols;
        Scratch<T> memory(2 * w * c.cols);
        const Matrix<T> inner = row_major(memory.data(), w, c.cols),
                        turned = row_major(memory.data() + w * c.cols, w, c.cols);
        const Matrix<const T> t = row_major<const T>(triangle_.data(), w, w);
        gemm<T>(T(1), Adjoint<T>(v_).view(), c, T(0), inner);
        gemm<T>(T(1), adjoint ? Adjoint<T>(t).view() : t, inner, T(0), turned);
        gemm<T>(T(-1), v_, turned, T(1), c);
    }

private:
    const Scratch<T> memory_, triangle_;
    const Matrix<T> v_;
};

}  // namespace

template <class T>
Reflections<T>::Reflections(int64_t m, int64_t n)
    : m_(m),
      routines_(routines_for<T>(std::max(m, n))),
      work_size_(static_cast<int>(32 * std::max<int64_t>(n, 1))),
      work_(work_size_) {}

template <class T>
bool Reflections<T>::in_blocks(int64_t cols) const {
    return m_ * cols >= 4096 && cols <= 400;  // LAPACK is as fast on wider ones
}

template <class T>
void Reflections<T>::run_geqrf(int64_t m, int64_t n, T* a, T* tau) const {
    const int height = static_cast<int>(m), width = static_cast<int>(n), ld = static_cast<int>(m_);
    int info = 0;
    routines_.geqrf(&height, &width, a, &ld, tau, work_, &work_size_, &info);
}
template <class T>
void Reflections<T>::run_orgqr(int64_t cols, int64_t k, T* a, const T* tau) const {
    const int m = static_cast<int>(m_), width = static_cast<int>(cols), count = static_cast<int>(k);
    int info = 0;
    routines_.orgqr(&m, &width, &count, a, &m, tau, work_, &work_size_, &info);
}

template <class T>
void Reflections<T>::run_ormqr(int64_t k, const T* a, const T* tau, Matrix<T> c) const {
    const int m = static_cast<int>(m_), width = static_cast<int>(c.cols), count = static_cast<int>(k);
    const int size = 32 * std::max(width, 1);
    const Scratch<T> columns(m_ * c.cols), work(size);
    const Matrix<T> copy = column_major(columns.data(), m_, c.cols, m_);
    const auto move = [](const Matrix<T>& from, const Matrix<T>& to) {
        for (int64_t j = 0; j < to.cols; ++j)
            for (int64_t i = 0; i < to.rows; ++i) to(i, j) = from(i, j);
    };
    move(c, copy);
    int info = 0;
    routines_.ormqr("L", is_complex_type<T> ? "C" : "T", &m, &width, &count, a, &m, tau, columns, &m, work, &size,
                    &info);
    move(copy, c);
}

template <class T>
void Reflections<T>::factor(int64_t n, T* data, T* tau) const {
    const int64_t k = std::min(m_, n);
    if (k == 0) return;
    if (!in_blocks(n)) return run_geqrf(m_, n, data, tau);
    const Matrix<T> a = column_major(data, m_, n, m_);
    for (int64_t j = 0; j < k; j += kWidth) {
        const int64_t w = std::min(kWidth, k - j), next = j + w;
        run_geqrf(m_ - j, w, &a(j, j), tau + j);
        if (next < n) Block<T>(a.block(j, j, m_ - j, w), tau + j).apply(true, a.block(j, next, m_ - j, n - next));
    }
}

template <class T>
void Reflections<T>::form(int64_t cols, int64_t k, T* data, const T* tau) const {
    if (m_ == 0) return;
    if (!in_blocks(cols)) return run_orgqr(cols, k, data, tau);
    const Matrix<T> q = column_major(data, m_, cols, m_);
    const auto set_identity = [&](int64_t from, int64_t to) {
        for (int64_t j = from; j < to; ++j) {
            std::fill(&q(0, j), &q(0, j) + m_, T(0));
            q(j, j) = T(1);
        }
    };
    set_identity(k, cols);
    for (int64_t next = k, w; next > 0; next -= w) {
        w = next % kWidth ? next % kWidth : kWidth;
        const int64_t j = next - w;
        const Block<T> block(q.block(j, j, m_ - j, w), tau + j);
        set_identity(j, next);
        block.apply(false, q.block(j, j, m_ - j, cols - j));
    }
}

template <class T>
void Reflections<T>::apply_adjoint(int64_t k, const T* data, const T* tau, Matrix<T> c) const {
    if (!in_blocks(c.cols)) return run_ormqr(k, data, tau, c);
    const Matrix<const T> a = column_major(data, m_, k, m_);
    for (int64_t j = 0; j < k; j += kWidth) {
        const int64_t w = std::min(kWidth, k - j);
        Block<T>(a.block(j, j, m_ - j, w), tau + j).apply(true, c.block(j, 0, m_ - j, c.cols));
    }
}

template class Reflections<float>;
template class Reflections<double>;
template class Reflections<complex64>;
template class Reflections<complex128>;

}  // namespace wengert::kernels::linalg
