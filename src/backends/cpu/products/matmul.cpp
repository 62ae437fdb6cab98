// Matrix products of tensors on the CPU (kernels/products/matmul.h), on top of gemm.h.
#include <complex>

#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/products/gemm.h"
#include "backends/cpu/products/tiny_products.h"
#include "kernels/products/matmul_kernels.h"

namespace wengert::kernels {
namespace {

// Calls f<T> for the dtypes that products are defined for.
template <class F>
void dispatch_product(DType dtype, F&& f) {
    dispatch(dtype, [&]<class T> {
        if constexpr (!std::is_same_v<T, bool>) f.template operator()<T>();
    });
}

template <class T>
Matrix<T> matrix(const Tensor& t) {
    return {t.data_as<T>(), t.sizes()[0], t.sizes()[1], t.strides()[0], t.strides()[1]};
}

void multiply(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
    dispatch_product(out.dtype(), [&]<class T> {
        gemm<T>(alpha.to<T>(), matrix<T>(a), matrix<T>(b), beta.to<T>(), matrix<T>(out));
    });
}

// --- Batches

// How the loops for tiny matrices see an element; void where there are none.
template <class T>
struct TinyElement {
    using type = std::conditional_t<std::is_floating_point_v<T>, T, void>;
};
template <class R>
struct TinyElement<std::complex<R>> {
    using type = ComplexPair<R>;
};

template <class E>
const TinyLoops<E>& tiny_loops() {
    if constexpr (std::is_same_v<E, float>) return tiny_products.f32;
    if constexpr (std::is_same_v<E, double>) return tiny_products.f64;
    if constexpr (std::is_same_v<E, ComplexPair<float>>) return tiny_products.c64;
    if constexpr (std::is_same_v<E, ComplexPair<double>>) return tiny_products.c128;
}

// False where the matrices are not tiny, or there are too few of them.
template <class T>
bool multiply_tiny(const StridedWalk<3>& batches, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c, T beta,
                   T alpha) {
    using E = typename TinyElement<T>::type;
    if constexpr (std::is_void_v<E>) {
        return false;
    } else {
        constexpr int64_t kFew = 4;
        if (b.rows < 1 || b.rows > kTinyMatrix || b.cols < 1 || b.cols > kTinyMatrix || c.rows > kTinyRows ||
            batches.numel() < kFew)
            return false;
        const TinyLoop<E> loop = tiny_loops<E>()[b.rows - 1][b.cols - 1];
        const auto element = [](const T& x) { return reinterpret_cast<const E&>(x); };
        const auto operand = [](const Matrix<T>& m, int64_t offset, int64_t step) {
            return typename TinyProducts<E>::Operand{reinterpret_cast<E*>(m.data + offset), m.row_stride, m.col_stride,
                                                     step};
        };
        batches.rows_in_parallel([&](const std::array<int64_t, 3>& at, int64_t n, const std::array<int64_t, 3>& step) {
            loop({n, c.rows, element(alpha), element(beta), operand(a, at[0], step[0]), operand(b, at[1], step[1]),
                  operand(c, at[2], step[2])});
        });
        return true;
    }
}

void multiply_batch(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
    const size_t batch_dims = out.sizes().size() - 2;
    const StridedWalk<3> batches(IntSpan(out.sizes()).first(batch_dims),
                                 {IntSpan(a.strides()).first(batch_dims), IntSpan(b.strides()).first(batch_dims),
                                  IntSpan(out.strides()).first(batch_dims)});
    auto last_two = []<class T>(const Tensor& t, T* data) {
        size_t n = t.sizes().size();
        return Matrix<T>{data, t.sizes()[n - 2], t.sizes()[n - 1], t.strides()[n - 2], t.strides()[n - 1]};
    };
    dispatch_product(out.dtype(), [&]<class T> {
        const T factor = alpha.to<T>(), kept = beta.to<T>();
        const Matrix<T> ma = last_two(a, a.data_as<T>()), mb = last_two(b, b.data_as<T>()),
                        mc = last_two(out, out.data_as<T>());
        if (multiply_tiny(batches, ma, mb, mc, kept, factor)) return;
        const auto some = [&](int64_t begin, int64_t end) {
            batches.elements_of(begin, end, [&](const std::array<int64_t, 3>& at) {
                Matrix<T> each_a = ma, each_b = mb, each_c = mc;
                each_a.data += at[0];
                each_b.data += at[1];
                each_c.data += at[2];
                gemm<T>(factor, each_a, each_b, kept, each_c);
            });
        };
        const int64_t work = mc.rows * mc.cols * ma.cols;
        if (work >= kFillsThreads)
            some(0, batches.numel());
        else
            parallel_for(batches.numel(), units_of(work), some);
    });
}

void multiply_vectors(const Tensor& out, const Tensor& a, const Tensor& b, bool conjugate) {
    dispatch_product(a.dtype(), [&]<class T> {
        T& result = *out.data_as<T>();
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
            const T *x = a.data_as<T>(), *y = b.data_as<T>();
            result = 0;
            for (int64_t i = 0; i < a.numel(); ++i, x += a.strides()[0], y += b.strides()[0])
                result += (conjugate ? std::conj(*x) : *x) * *y;
        } else {
            result = dot<T>(a.numel(), a.data_as<T>(), a.strides()[0], b.data_as<T>(), b.strides()[0]);
        }
    });
}

}  // namespace

using Product = void(Result, const Tensor&, const Tensor&, const Scalar&, const Scalar&);

constinit DeviceKernel<Product> matrix_product_kernel{
    "matmul", [](Result out, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
        multiply(out, a, b, beta, alpha);
    }};
constinit DeviceKernel<Product> batched_product_kernel{
    "bmm", [](Result out, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
        multiply_batch(out, a, b, beta, alpha);
    }};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> dot_kernel{
    "dot",
    [](Result out, const Tensor& a, const Tensor& b, bool conjugate) { multiply_vectors(out, a, b, conjugate); }};

}  // namespace wengert::kernels
