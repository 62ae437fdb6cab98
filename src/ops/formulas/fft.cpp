#include "generated/ops/formulas/fft.h"

#include <algorithm>

#include "generated/ops/arithmetic.h"
#include "generated/ops/complex.h"
#include "generated/ops/fft.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "kernels/fft.h"

namespace wengert::ops::formulas {

std::optional<Dims> these(IntSpan dims) { return Dims(dims); }

namespace {

using kernels::FftScale;

int64_t normalization_of(std::optional<std::string_view> norm, bool forward) {
    const std::string_view name = norm.value_or("backward");
    check(name == "backward" || name == "ortho" || name == "forward", ErrorKind::Runtime,
          "Invalid normalization mode: \"", name, "\"; use 'backward', 'ortho' or 'forward'");
    if (name == "ortho") return static_cast<int64_t>(FftScale::ByRootN);
    return static_cast<int64_t>((name == "forward") == forward ? FftScale::ByN : FftScale::One);
}

Tensor as_floating(const Tensor& self) {
    return is_integral(self.dtype()) ? ops::to_dtype(self, default_dtype()) : self;
}
Tensor as_real(const Tensor& self, const char* op) {
    check(!is_complex(self.dtype()), ErrorKind::Runtime, op, " expects a real input tensor, but got ", self.dtype());
    return as_floating(self);
}
Tensor as_complex(const Tensor& self) {
    return is_complex(self.dtype()) ? self : ops::to_dtype(self, complex_dtype(as_floating(self).dtype()));
}

// Cut, or padded with zeros, to `n` elements along `dim`.
Tensor resized(const Tensor& self, int64_t dim, int64_t n) {
    const int64_t size = self.size(dim);
    check(n >= 1, ErrorKind::Runtime, "Invalid number of data points (", n, ") specified");
    if (n == size) return self;
    if (n < size) return ops::slice(self, dim, 0, n);
    Dims sizes = self.sizes();
    sizes[static_cast<size_t>(dim)] = n - size;
    const Tensor parts[] = {self, zeros(sizes, self.dtype(), self.device())};
    return ops::cat(parts, dim);
}

// The dimensions of a transform and its numbers of points, 0 where a size is kept.
struct Grid {
    Dims dims, points;
};

Grid grid_of(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim) {
    Grid grid;
    check(!s || !dim || s->size() == dim->size(), ErrorKind::Runtime,
          "When given, dim and shape arguments must have the same length, got ", s ? s->size() : 0, " and ",
          dim ? dim->size() : 0);
    const int64_t n = self.dim(), last = s ? static_cast<int64_t>(s->size()) : n;
    check(last <= n, ErrorKind::Runtime, "Got shape with ", last, " values but input tensor only has ", n,
          " dimensions.");
    if (dim)
        for (int64_t d : *dim) grid.dims.push_back(wrap_dim(d, n, "fftn"));
    else
        for (int64_t d = n - last; d < n; ++d) grid.dims.push_back(d);
    Dims sorted = grid.dims;
    std::sort(sorted.begin(), sorted.end());
    check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), ErrorKind::Runtime,
          "FFT dims must be unique, got ", ShapeOf{grid.dims});
    for (size_t i = 0; i < grid.dims.size(); ++i) {
        const int64_t points = s ? (*s)[i] : -1;
        check(points == -1 || points >= 1, ErrorKind::Runtime, "Invalid number of data points (", points,
              ") specified");
        grid.points.push_back(points == -1 ? 0 : points);
    }
    return grid;
}

Tensor resized(Tensor self, const Grid& grid, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (grid.points[i]) self = resized(self, grid.dims[i], grid.points[i]);
    return self;
}

}  // namespace

// --- Transposes

// The frequencies that were left out had no influence on anything: zeros.
Tensor fft_r2c_grad(const Tensor& grad, IntSpan sizes, IntSpan dim, int64_t normalization, bool onesided) {
    const int64_t last = wrap_dim(dim.back(), grad.dim(), "fft");
    Tensor whole = onesided ? resized(grad, last, std::max<int64_t>(sizes[static_cast<size_t>(last)], 1)) : grad;
    return ops::real(ops::fft_c2c(whole, dim, normalization, false));
}

// Each frequency inside of the half stands for two.
Tensor fft_c2r_grad(const Tensor& grad, IntSpan dim, int64_t normalization, DType dtype) {
    const int64_t last = wrap_dim(dim.back(), grad.dim(), "fft"), n = grad.size(last);
    Tensor half = ops::fft_r2c(grad, dim, normalization, true);
    Dims shape(static_cast<size_t>(grad.dim()), 1);
    shape[static_cast<size_t>(last)] = n / 2 + 1;
    Tensor times = full(shape, 2, real_dtype(dtype), grad.device());
    for (int64_t k : {int64_t{0}, n / 2})
        if (k == 0 || n % 2 == 0) ops::fill_(ops::select(times, last, k), 1);
    return ops::mul(half, times);
}

// --- One dimension

Tensor complex_line(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                    bool forward) {
    dim = wrap_dim(dim, self.dim(), "fft");
    check(self.dim() > 0, ErrorKind::Index, "[fft] Dimension specified as ", dim, " but tensor has no dimensions");
    const Tensor t = as_floating(self);
    const Tensor points = resized(t, dim, n.value_or(t.size(dim)));
    const int64_t scale = normalization_of(norm, forward);
    if (!is_complex(t.dtype()) && forward) return ops::fft_r2c(points, Dims{dim}, scale, false);
    if (!is_complex(t.dtype())) return ops::conj(ops::fft_r2c(points, Dims{dim}, scale, false));
    return ops::fft_c2c(points, Dims{dim}, scale, forward);
}

Tensor half_line(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                 bool forward) {
    const Tensor t = as_real(self, forward ? "rfft" : "ihfft");
    check(t.dim() > 0, ErrorKind::Index, "[rfft] Dimension specified as ", dim, " but tensor has no dimensions");
    dim = wrap_dim(dim, t.dim(), "rfft");
    Tensor half =
        ops::fft_r2c(resized(t, dim, n.value_or(t.size(dim))), Dims{dim}, normalization_of(norm, forward), true);
    return forward ? half : ops::conj(half);
}

Tensor real_line(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                 bool forward) {
    const Tensor t = as_complex(self);
    check(t.dim() > 0, ErrorKind::Index, "[irfft] Dimension specified as ", dim, " but tensor has no dimensions");
    dim = wrap_dim(dim, t.dim(), "irfft");
    const int64_t last = n.value_or(2 * (t.size(dim) - 1));
    check(last >= 1, ErrorKind::Runtime, "Invalid number of data points (", last, ") specified");
    Tensor half = resized(t, dim, last / 2 + 1);
    return ops::fft_c2r(forward ? ops::conj(half) : half, Dims{dim}, normalization_of(norm, forward), last);
}

// --- Several

Tensor complex_grid(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim,
                    std::optional<std::string_view> norm, bool forward) {
    const Grid grid = grid_of(self, s, dim);
    return ops::fft_c2c(resized(as_complex(self), grid, grid.dims.size()), grid.dims, normalization_of(norm, forward),
                        forward);
}

Tensor half_grid(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim,
                 std::optional<std::string_view> norm, bool forward) {
    const Tensor t = as_real(self, forward ? "rfftn" : "ihfftn");
    const Grid grid = grid_of(t, s, dim);
    check(!grid.dims.empty(), ErrorKind::Runtime, "rfftn must transform at least one axis");
    Tensor half = ops::fft_r2c(resized(t, grid, grid.dims.size()), grid.dims, normalization_of(norm, forward), true);
    return forward ? half : ops::conj(half);
}

Tensor real_grid(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim,
                 std::optional<std::string_view> norm, bool forward) {
    const Tensor t = as_complex(self);
    const Grid grid = grid_of(t, s, dim);
    check(!grid.dims.empty(), ErrorKind::Runtime, "irfftn must transform at least one axis");
    const size_t others = grid.dims.size() - 1;
    const int64_t last = grid.points[others] ? grid.points[others] : 2 * (t.size(grid.dims[others]) - 1);
    check(last >= 1, ErrorKind::Runtime, "Invalid number of data points (", last, ") specified");
    Tensor half = resized(resized(t, grid, others), grid.dims[others], last / 2 + 1);
    return ops::fft_c2r(forward ? ops::conj(half) : half, grid.dims, normalization_of(norm, forward), last);
}

Tensor halves_exchanged(const Tensor& self, const std::optional<Dims>& dim, bool inverse) {
    Dims dims, shifts;
    if (dim)
        for (int64_t d : *dim) dims.push_back(wrap_dim(d, self.dim(), "fftshift"));
    else
        for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
    for (int64_t d : dims) shifts.push_back((self.size(d) + (inverse ? 1 : 0)) / 2);
    return dims.empty() ? ops::clone(self) : ops::roll(self, shifts, dims);
}

}  // namespace wengert::ops::formulas
