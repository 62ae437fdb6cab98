// From a function of scalars to a function that a device runs: what backends/cpu/isa/loops.h is for the CPU.
//
// The generator writes device_<unit>.cu for each unit of loops (`python -m codegen --device`): the functors that the CPU's
// loops are made of, and for each kernel and compute dtype a function `tanh_float32`. It is launched with any number of
// threads on a Launch, which says where the operands lie; thread i computes the elements i, i + threads, ...
//
// Functions of special/ are too long to stand in every unit. They are compiled once, from the sources of the CPU, and so is
// arithmetic_error.cu; the device's linker puts them beside the units that call them.
//
// What the compiler is told: prelude.cuh. Nobody has run the result on a device yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backends/cpu/scalar_math.h"

namespace wengert::kernels::device {

using namespace wengert::scalar;

// As StridedIteration leaves them: sorted and coalesced. What has more is launched in parts.
inline constexpr int kMaxDims = 12;

// Arrays: the inputs, and the output behind them. It may be exactly one of the inputs.
template <int Arrays>
struct Launch {
    alignas(16) char numbers[Arrays][16];  // of operands that are numbers: their `data` is null
    char* data[Arrays];
    int64_t steps[kMaxDims][Arrays];  // bytes; 0 where an operand is repeated
    int64_t sizes[kMaxDims];          // from the innermost
    int64_t dims;                     // at least one
    int64_t elements;
};

template <class T, int Arrays>
inline T input(const Launch<Arrays>& launch, int array, int64_t offset) {
    const char* data = launch.data[array];
    return *reinterpret_cast<const T*>(data ? data + offset : launch.numbers[array]);
}

template <class F, class Out, class... In, size_t... I>
inline void compute(const Launch<sizeof...(In) + 1>& launch, int64_t element, std::index_sequence<I...>) {
    constexpr int arrays = sizeof...(In) + 1;
    int64_t offsets[arrays] = {};
    for (int d = 0; d < launch.dims; ++d) {
        const bool last = d + 1 == launch.dims;  // a division less: all of a launch that is one row
        const int64_t rest = last ? 0 : element / launch.sizes[d], index = element - rest * launch.sizes[d];
        for (int a = 0; a < arrays; ++a) offsets[a] += index * launch.steps[d][a];
        element = rest;
    }
    *reinterpret_cast<Out*>(launch.data[arrays - 1] + offsets[arrays - 1]) =
        static_cast<Out>(F{}(input<In>(launch, I, offsets[I])...));
}

// run<F, Out(In...)>(launch): what a generated function does.
template <class Signature>
struct Elements;
template <class Out, class... In>
struct Elements<Out(In...)> {
    template <class F>
    static void run(const Launch<sizeof...(In) + 1>& launch) {
        const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, threads = int64_t{gridDim.x} * blockDim.x;
        for (int64_t i = first; i < launch.elements; i += threads)
            compute<F, Out, In...>(launch, i, std::index_sequence_for<In...>());
    }
};
template <class F, class Signature, int Arrays>
inline void run(const Launch<Arrays>& launch) {
    Elements<Signature>::template run<F>(launch);
}

}  // namespace wengert::kernels::device
