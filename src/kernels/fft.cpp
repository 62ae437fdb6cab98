#include "kernels/fft.h"

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {
namespace {

// `last` is the size of the last transformed dimension of a real result.
Tensor transform(const char* op, const Tensor& self, DType dtype, IntSpan dim, FftCall call, int64_t last = 0) {
    Dims& dims = call.dims;
    for (int64_t d : dim) {
        dims.push_back(wrap_dim(d, self.dim(), op));
        for (size_t i = 0; i + 1 < dims.size(); ++i)
            check(dims[i] != dims.back(), ErrorKind::Runtime, "[", op, "] FFT dims must be unique, got ", ShapeOf{dim});
    }
    for (int64_t d : dims)
        check(self.sizes()[static_cast<size_t>(d)] > 0, ErrorKind::Runtime, "[", op,
              "] Invalid number of data points (0) specified in shape ", ShapeOf{self.sizes()});
    check(call.scale >= FftScale::One && call.scale <= FftScale::ByN, ErrorKind::Runtime, "[", op,
          "] unknown normalization ", static_cast<int64_t>(call.scale));
    Dims sizes = self.sizes();
    int64_t& size = sizes[static_cast<size_t>(dims.back())];
    if (call.kind == FftKind::ComplexToReal) size = last;
    if (call.kind == FftKind::RealToComplex && call.onesided) size = size / 2 + 1;
    Tensor out = empty(sizes, dtype, self.device());
    fft_kernel(out, self, call);
    return out;
}

}  // namespace

Tensor fft_c2c(const Tensor& self, IntSpan dim, int64_t normalization, bool forward) {
    check(is_complex(self.dtype()), ErrorKind::Runtime, "[fft_c2c] expects a complex tensor, got ", self.dtype());
    if (dim.empty() || self.numel() == 0) return clone(self);
    return transform("fft_c2c", self, self.dtype(), dim,
                     {.kind = FftKind::ComplexToComplex,
                      .dims = {},
                      .scale = static_cast<FftScale>(normalization),
                      .forward = forward,
                      .onesided = false});
}

Tensor fft_r2c(const Tensor& self, IntSpan dim, int64_t normalization, bool onesided) {
    check(is_floating(self.dtype()), ErrorKind::Runtime, "[fft_r2c] expects a real floating point tensor, got ",
          self.dtype());
    check(!dim.empty(), ErrorKind::Runtime, "[fft_r2c] at least one dimension must be transformed");
    const DType dtype = complex_dtype(self.dtype());
    if (self.numel() == 0) {
        Dims sizes = self.sizes();
        int64_t& last = sizes[static_cast<size_t>(wrap_dim(dim.back(), self.dim(), "fft_r2c"))];
        if (onesided) last = last / 2 + 1;
        return empty(sizes, dtype, self.device());
    }
    return transform("fft_r2c", self, dtype, dim,
                     {.kind = FftKind::RealToComplex,
                      .dims = {},
                      .scale = static_cast<FftScale>(normalization),
                      .forward = true,
                      .onesided = onesided});
}

Tensor fft_c2r(const Tensor& self, IntSpan dim, int64_t normalization, int64_t last_dim_size) {
    check(is_complex(self.dtype()), ErrorKind::Runtime, "[fft_c2r] expects a complex tensor, got ", self.dtype());
    check(!dim.empty(), ErrorKind::Runtime, "[fft_c2r] at least one dimension must be transformed");
    const auto last = static_cast<size_t>(wrap_dim(dim.back(), self.dim(), "fft_c2r"));
    check(last_dim_size >= 1, ErrorKind::Runtime, "[fft_c2r] Invalid number of data points (", last_dim_size,
          ") specified");
    check(self.sizes()[last] == last_dim_size / 2 + 1, ErrorKind::Runtime, "[fft_c2r] ", last_dim_size, " points need ",
          last_dim_size / 2 + 1, " frequencies, got shape ", ShapeOf{self.sizes()});
    const DType dtype = real_dtype(self.dtype());
    if (self.numel() == 0) {
        Dims sizes = self.sizes();
        sizes[last] = last_dim_size;
        return empty(sizes, dtype, self.device());
    }
    return transform("fft_c2r", self, dtype, dim,
                     {.kind = FftKind::ComplexToReal,
                      .dims = {},
                      .scale = static_cast<FftScale>(normalization),
                      .forward = false,
                      .onesided = true},
                     last_dim_size);
}

}  // namespace wengert::kernels
