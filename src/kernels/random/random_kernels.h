// What a device implements of random numbers (kernels/device_kernel.h). Results are contiguous. A generator belongs to the host,
// which waits until it has been advanced.
#pragma once

#include "kernels/device_kernel.h"
#include "kernels/random/generator.h"

namespace wengert::kernels {

enum class Distribution : uint8_t { Uniform, Normal, LogNormal, Exponential, Cauchy, Geometric, Bernoulli };

// Independent draws; the two numbers are the parameters of the distribution.
extern DeviceKernel<void(Result, Distribution, double, double, Generator*)> random_kernel;
extern DeviceKernel<void(Result, int64_t, uint64_t, Generator*)>
    random_integers_kernel;  // low, and how many from there
extern DeviceKernel<void(Result, Generator*)> random_permutations_kernel;
extern DeviceKernel<void(Result, Generator*)> bernoulli_of_kernel;  // in place of the probabilities
extern DeviceKernel<void(const Tensor&)> check_probabilities_kernel, check_deviations_kernel;
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> shift_normal_kernel;  // x = mean + std x
// (out, float64 weights [rows, categories], rows, samples, replacement, generator)
extern DeviceKernel<void(Result, const Tensor&, int64_t, int64_t, bool, Generator*)> multinomial_kernel;

}  // namespace wengert::kernels
