// What the tests over all elementwise kernels of the table share: the kernels, and operands for them.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#include "backends/cpu/dispatch.h"

namespace wengert::kernels::fixtures {

inline constexpr int64_t kElements = 20'011;

inline Tensor random_tensor(DType dtype, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(0.1, 0.9);
    Tensor t = empty(Dims{kElements}, dtype);
    for (int64_t i = 0; i < kElements; ++i) {
        if (dtype == DType::Bool)
            t.data_as<bool>()[i] = random() % 2 == 0;
        else if (dtype == DType::Float32)
            t.data_as<float>()[i] = static_cast<float>(values(random));
        else
            t.data_as<double>()[i] = values(random);
    }
    return t;
}

inline Tensor constant_tensor(DType dtype, unsigned seed) {
    return alias(random_tensor(dtype, seed), Dims{kElements}, Dims{0}, 0);
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
    const Tensor x = contiguous(a), y = contiguous(b);
    return std::memcmp(x.data(), y.data(), static_cast<size_t>(x.numel() * item_size(x.dtype()))) == 0;
}

// Calls f(kernel, dtype) for all that compute float32 or float64 and return what they compute in.
template <class F>
void for_each_kernel(F&& f) {
    for (const Kernel* kernel : all_kernels())
        for (DType dtype : {DType::Float32, DType::Float64}) {
            if (!kernel->loops[static_cast<int>(dtype)] || result_dtype(*kernel, dtype) != dtype) continue;
            CAPTURE(std::string(kernel->name));
            f(*kernel, dtype);
        }
}

inline DType dtype_of_input(const Kernel& kernel, int i, DType dtype) {
    return (kernel.condition_mask >> i) & 1 ? DType::Bool : dtype;
}

}  // namespace wengert::kernels::fixtures
