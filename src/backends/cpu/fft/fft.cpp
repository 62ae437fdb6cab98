// Discrete Fourier transforms on the CPU, one dimension after the other. Read in this order: this file, plan.h, lines.cpp,
// real_lines.cpp, then the loops (loops.h, isa/fft/stages.h).
#include "kernels/fft.h"

#include <cmath>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/fft/lines.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(FftTable, fft_table)

namespace {

// The lines along dimension `dim` of two tensors, whose other sizes are equal.
template <class T>
FftLines<T> lines_along(int64_t dim, const Tensor& in, const Tensor& out) {
    const auto d = static_cast<size_t>(dim);
    const int64_t in_parts = is_complex(in.dtype()) ? 2 : 1, out_parts = is_complex(out.dtype()) ? 2 : 1;
    FftLines<T> lines{.in = in.data_as<T>(),
                      .out = out.data_as<T>(),
                      .in_point = in_parts * in.strides()[d],
                      .out_point = out_parts * out.strides()[d]};
    for (size_t i = 0; i < in.sizes().size(); ++i)
        if (i != d) lines.grid.add(in.sizes()[i], in_parts * in.strides()[i], out_parts * out.strides()[i]);
    lines.grid.arrange();
    return lines;
}

// So few lines leave most lanes empty.
template <class T>
bool few(const FftLines<T>& lines) {
    return 2 * lines.grid.count() <= fft_table().of<T>().lanes;
}

template <class T>
void complex_along(IntSpan dims, const Tensor& in, const Tensor& out, bool forward, T scale) {
    for (size_t i = 0; i < dims.size(); ++i) {
        const FftLines<T> lines = lines_along<T>(dims[i], i == 0 ? in : out, out);
        transform_lines(*fft_plan<T>(out.sizes()[static_cast<size_t>(dims[i])], few(lines)), lines, !forward,
                        i == 0 ? scale : T(1));
    }
}

template <class T>
void transform(const Tensor& out, const Tensor& self, const FftCall& call) {
    const Tensor& points = call.kind == FftKind::ComplexToReal ? out : self;
    double n = 1;
    for (int64_t d : call.dims) n *= static_cast<double>(points.sizes()[static_cast<size_t>(d)]);
    const T scale = static_cast<T>(call.scale == FftScale::One   ? 1
                                   : call.scale == FftScale::ByN ? 1 / n
                                                                 : 1 / std::sqrt(n));
    if (call.kind == FftKind::ComplexToComplex) return complex_along<T>(call.dims, self, out, call.forward, scale);

    const int64_t last = call.dims.back(), size = points.sizes()[static_cast<size_t>(last)];
    const IntSpan others = IntSpan(call.dims).first(call.dims.size() - 1);
    if (call.kind == FftKind::RealToComplex) {
        const FftLines<T> lines = lines_along<T>(last, self, out);
        transform_real_lines(*real_fft_plan<T>(size, few(lines)), lines, !call.onesided, scale);
        complex_along<T>(others, out, out, true, T(1));
    } else {
        const Tensor halves = others.empty() ? self : empty(self.sizes(), self.dtype());
        complex_along<T>(others, self, halves, false, T(1));
        const FftLines<T> lines = lines_along<T>(last, halves, out);
        transform_half_lines(*real_fft_plan<T>(size, few(lines)), lines, scale);
    }
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const FftCall&)> fft_kernel{
    "fft", [](Result out, const Tensor& self, const FftCall& call) {
        if (real_dtype(self.dtype()) == DType::Float64)
            transform<double>(out, self, call);
        else
            transform<float>(out, self, call);
    }};

}  // namespace wengert::kernels
