// Gradients of views on the CPU (kernels/shape/backward.cpp).
#include "backends/cpu/elementwise/strided.h"
#include "kernels/shape/shape_kernels.h"

namespace wengert::kernels {
namespace {

// dst[...] += src[...]; dst may overlap itself, so elements are added one after the other.
void add_strided(const Tensor& dst, const Tensor& src) {
    dispatch(dst.dtype(), [&]<class T> {
        StridedWalk<2>(dst.sizes(), {dst.strides(), src.strides()})
            .rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                T* d = dst.data_as<T>() + at[0];
                const T* s = src.data_as<T>() + at[1];
                for (int64_t i = 0; i < n; ++i) d[i * step[0]] = static_cast<T>(d[i * step[0]] + s[i * step[1]]);
            });
    });
}

void divide_strided(const Tensor& dst, const Tensor& src) {
    dispatch_inexact(dst.dtype(), "as_strided", [&]<class T> {
        StridedWalk<2>(dst.sizes(), {dst.strides(), src.strides()}).elements([&](const std::array<int64_t, 2>& at) {
            dst.data_as<T>()[at[0]] /= src.data_as<T>()[at[1]];
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&)> add_strided_kernel{
    "add_strided", [](Result dst, const Tensor& src) { add_strided(dst, src); }};
constinit DeviceKernel<void(Result, const Tensor&)> divide_strided_kernel{
    "divide_strided", [](Result dst, const Tensor& src) { divide_strided(dst, src); }};

}  // namespace wengert::kernels
