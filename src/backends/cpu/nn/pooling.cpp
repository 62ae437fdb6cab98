#include "kernels/nn/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/pool_loops.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/pooling_windows.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(PoolTable, pool_table)

namespace {

template <class F>
void dispatch_ordered(DType dtype, const char* op, F&& f) {
    check(dtype != DType::Bool && !is_complex(dtype), ErrorKind::NotImplemented, "[", op, "] \"", op,
          "\" not implemented for '", dtype, "'; convert to a floating dtype first");
    dispatch(dtype, [&]<class T> {
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) f.template operator()<T>();
    });
}

int64_t windows_of_plane(const Windows& w) noexcept {
    return static_cast<int64_t>(w.dims[0].size() * w.dims[1].size() * w.dims[2].size());
}

// Calls f(plane, output position, z window, y window, x window), plane by plane in the order of the output.
template <class F>
void for_each_window(const Windows& w, F&& f) {
    const int64_t of_plane = windows_of_plane(w);
    parallel_for(w.planes, units_of(std::max(of_plane, w.input_plane())), [&](int64_t begin, int64_t end) {
        int64_t at = begin * of_plane;
        for (int64_t plane = begin; plane < end; ++plane)
            for (const Window& z : w.dims[0])
                for (const Window& y : w.dims[1])
                    for (const Window& x : w.dims[2]) f(plane, at++, z, y, x);
    });
}

// Whether all windows of a dimension have the same size and distance: no padding, no dilation.
bool is_uniform(const std::vector<Window>& windows) {
    for (size_t i = 0; i < windows.size(); ++i)
        if (windows[i].step != 1 || windows[i].last - windows[i].first != windows[0].last - windows[0].first ||
            windows[i].first !=
                windows[0].first + static_cast<int64_t>(i) * (windows[1 % windows.size()].first - windows[0].first))
            return false;
    return true;
}

// The maximum of one window and where it stands. NaN wins.
template <class T>
void max_of_window(const T* plane, const Windows& w, const Window& z, const Window& y, const Window& x, T& value,
                   int64_t& index) {
    value =
        std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    index = (z.first * w.input[1] + y.first) * w.input[2] + x.first;
    for (int64_t i = z.first; i < z.last; i += z.step)
        for (int64_t j = y.first; j < y.last; j += y.step) {
            int64_t row = (i * w.input[1] + j) * w.input[2];
            for (int64_t k = x.first; k < x.last; k += x.step) {
                T v = plane[row + k];
                if (v > value || v != v) {
                    value = v;
                    index = row + k;
                }
            }
        }
}

// A row of windows of equal size, z and y given.
template <class T>
void max_of_row(const T* plane, const Windows& w, const Window& z, const Window& y, std::vector<int64_t>& taps,
                T* value, int64_t* index) {
    const std::vector<Window>& xs = w.dims[2];
    int64_t first = (z.first * w.input[1] + y.first) * w.input[2] + xs[0].first;
    taps.clear();
    for (int64_t i = z.first; i < z.last; i += z.step)
        for (int64_t j = y.first; j < y.last; j += y.step)
            for (int64_t k = xs[0].first; k < xs[0].last; ++k)
                taps.push_back((i * w.input[1] + j) * w.input[2] + k - first);
    const PoolTable& table = pool_table();
    MaxRow<T> row{plane,
                  first,
                  static_cast<int64_t>(xs.size()),
                  xs.size() > 1 ? xs[1].first - xs[0].first : 1,
                  taps.data(),
                  static_cast<int64_t>(taps.size()),
                  value,
                  index};
    if constexpr (std::is_same_v<T, float>)
        table.max_f32(row);
    else
        table.max_f64(row);
}

std::tuple<Tensor, Tensor> max_pool(const char* op, const Tensor& self, const Windows& w) {
    Tensor input = contiguous(self);
    Tensor values = empty(w.output_sizes, self.dtype()), indices = empty(w.output_sizes, DType::Int64);
    if (values.numel() == 0) return {values, indices};
    dispatch_ordered(self.dtype(), op, [&]<class T> {
        const int64_t size = w.input_plane(), of_plane = windows_of_plane(w);
        bool uniform = std::is_floating_point_v<T> && is_uniform(w.dims[2]);
        auto row = static_cast<int64_t>(w.dims[2].size());
        parallel_for(w.planes, units_of(size), [&](int64_t begin, int64_t end) {
            std::vector<int64_t> taps;
            const T* from = input.data_as<T>() + begin * size;
            T* value = values.data_as<T>() + begin * of_plane;
            int64_t* index = indices.data_as<int64_t>() + begin * of_plane;
            for (int64_t plane = begin; plane < end; ++plane, from += size)
                for (const Window& z : w.dims[0])
                    for (const Window& y : w.dims[1]) {
                        if constexpr (std::is_floating_point_v<T>)
                            if (uniform) max_of_row(from, w, z, y, taps, value, index);
                        for (int64_t x = 0; !uniform && x < row; ++x)
                            max_of_window(from, w, z, y, w.dims[2][static_cast<size_t>(x)], value[x], index[x]);
                        value += row;
                        index += row;
                    }
        });
    });
    return {values, indices};
}

// The number an average divides by.
int64_t divisor_of(const Window& z, const Window& y, const Window& x, bool count_padding,
                   std::optional<int64_t> divisor) {
    if (divisor) return *divisor;
    if (count_padding) return z.padded * y.padded * x.padded;
    return (z.last - z.first) * (y.last - y.first) * (x.last - x.first);
}

Tensor avg_pool(const char* op, const Tensor& self, const Windows& w, bool count_padding,
                std::optional<int64_t> divisor) {
    Tensor input = contiguous(self), out = empty(w.output_sizes, self.dtype());
    dispatch_ordered(self.dtype(), op, [&]<class T> {
        const T* from = input.data_as<T>();
        T* to = out.data_as<T>();
        int64_t size = w.input_plane();
        for_each_window(w, [&](int64_t plane, int64_t at, const Window& z, const Window& y, const Window& x) {
            const T* data = from + plane * size;
            T sum = 0;
            for (int64_t i = z.first; i < z.last; ++i)
                for (int64_t j = y.first; j < y.last; ++j) {
                    const T* row = data + (i * w.input[1] + j) * w.input[2];
                    for (int64_t k = x.first; k < x.last; ++k) sum = static_cast<T>(sum + row[k]);
                }
            int64_t n = divisor_of(z, y, x, count_padding, divisor);
            to[at] = n == 0 ? T(0) : static_cast<T>(sum / static_cast<T>(n));
        });
    });
    return out;
}

Tensor avg_pool_backward(const char* op, const Tensor& grad, IntSpan input_sizes, const Windows& w, bool count_padding,
                         std::optional<int64_t> divisor) {
    check(grad.sizes() == w.output_sizes, ErrorKind::Runtime, "[", op, "] expected a gradient of shape ",
          ShapeOf{w.output_sizes}, ", got ", ShapeOf{grad.sizes()});
    Tensor cotangent = contiguous(grad), out = zeros(input_sizes, grad.dtype());
    dispatch_ordered(grad.dtype(), op, [&]<class T> {
        const T* from = cotangent.data_as<T>();
        T* to = out.data_as<T>();
        int64_t size = w.input_plane();
        for_each_window(w, [&](int64_t plane, int64_t at, const Window& z, const Window& y, const Window& x) {
            int64_t n = divisor_of(z, y, x, count_padding, divisor);
            if (n == 0) return;
            T share = static_cast<T>(from[at] / static_cast<T>(n));
            for (int64_t i = z.first; i < z.last; ++i)
                for (int64_t j = y.first; j < y.last; ++j) {
                    T* row = to + plane * size + (i * w.input[1] + j) * w.input[2];
                    for (int64_t k = x.first; k < x.last; ++k) row[k] = static_cast<T>(row[k] + share);
                }
        });
    });
    return out;
}

int64_t plane_size(IntSpan sizes, int64_t n) { return numel_of(sizes.last(static_cast<size_t>(n))); }

// Both have n spatial dimensions and the same planes before them.
void check_planes(const char* op, IntSpan a, IntSpan b, int64_t n) {
    const auto spatial = static_cast<size_t>(n);
    check(n >= 1 && n <= 3 && a.size() >= spatial && a.size() == b.size() &&
              std::ranges::equal(a.first(a.size() - spatial), b.first(b.size() - spatial)),
          ErrorKind::Runtime, "[", op, "] shapes ", ShapeOf{a}, " and ", ShapeOf{b}, " must agree in all but ", n,
          " spatial dimensions");
}

void check_indices(const char* op, const Tensor& t, const Tensor& indices) {
    check(indices.dtype() == DType::Int64, ErrorKind::Runtime, "[", op, "] indices must be int64, got ",
          indices.dtype());
    check(t.sizes() == indices.sizes(), ErrorKind::Runtime, "[", op, "] values of shape ", ShapeOf{t.sizes()},
          " and indices of shape ", ShapeOf{indices.sizes()}, " must have the same shape");
}

// All indices, dense, lie in a plane of `size` elements.
void check_places(const char* op, const Tensor& indices, int64_t size) {
    const int64_t *index = indices.data_as<int64_t>(), count = indices.numel();
    bool fits = true;
    for (int64_t i = 0; i < count; ++i) fits &= (index[i] >= 0) & (index[i] < size);
    for (int64_t i = 0; !fits && i < count; ++i)
        check(index[i] >= 0 && index[i] < size, ErrorKind::Index, "[", op, "] index ", index[i],
              " is out of bounds for a plane of ", size, " elements");
}

constexpr int64_t kNoDilation[] = {1};

}  // namespace

std::tuple<Tensor, Tensor> max_pool(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding,
                                    IntSpan dilation, bool ceil_mode) {
    return max_pool("max_pool", self,
                    pooling_windows("max_pool", self.sizes(), n, kernel_size, stride, padding, dilation, ceil_mode));
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self, IntSpan output_size) {
    return max_pool("adaptive_max_pool", self, adaptive_windows("adaptive_max_pool", self.sizes(), output_size));
}

Tensor max_pool_backward(const Tensor& grad, const Tensor& indices, IntSpan input_sizes, int64_t n) {
    check_indices("max_pool_backward", grad, indices);
    check_planes("max_pool_backward", grad.sizes(), input_sizes, n);
    Tensor from = contiguous(grad), at = contiguous(indices), out = zeros(input_sizes, grad.dtype());
    int64_t size = plane_size(input_sizes, n), per_plane = plane_size(grad.sizes(), n);
    check_places("max_pool_backward", at, size);
    dispatch(grad.dtype(), [&]<class T> {
        const int64_t planes = per_plane > 0 ? grad.numel() / per_plane : 0;
        parallel_for(planes, units_of(size), [&](int64_t begin, int64_t end) {
            for (int64_t plane = begin; plane < end; ++plane) {
                const int64_t* index = at.data_as<int64_t>() + plane * per_plane;
                const T* x = from.data_as<T>() + plane * per_plane;
                T* to = out.data_as<T>() + plane * size;
                for (int64_t i = 0; i < per_plane; ++i) to[index[i]] = static_cast<T>(to[index[i]] + x[i]);
            }
        });
    });
    return out;
}

Tensor max_pool_gather(const Tensor& self, const Tensor& indices, int64_t n) {
    check_planes("max_pool_gather", self.sizes(), indices.sizes(), n);
    Tensor from = contiguous(self), at = contiguous(indices), out = empty(indices.sizes(), self.dtype());
    check(indices.dtype() == DType::Int64, ErrorKind::Runtime, "[max_pool_gather] indices must be int64, got ",
          indices.dtype());
    int64_t size = plane_size(self.sizes(), n), per_plane = plane_size(indices.sizes(), n);
    check_places("max_pool_gather", at, size);
    dispatch(self.dtype(), [&]<class T> {
        const int64_t planes = per_plane > 0 ? out.numel() / per_plane : 0;
        parallel_for(planes, units_of(per_plane), [&](int64_t begin, int64_t end) {
            for (int64_t plane = begin; plane < end; ++plane) {
                const int64_t* index = at.data_as<int64_t>() + plane * per_plane;
                const T* x = from.data_as<T>() + plane * size;
                T* to = out.data_as<T>() + plane * per_plane;
                for (int64_t i = 0; i < per_plane; ++i) to[i] = x[index[i]];
            }
        });
    });
    return out;
}

Tensor avg_pool(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override) {
    check(divisor_override != 0, ErrorKind::Runtime, "[avg_pool] divisor must be not zero");
    Windows w = pooling_windows("avg_pool", self.sizes(), n, kernel_size, stride, padding, kNoDilation, ceil_mode);
    return avg_pool("avg_pool", self, w, count_include_pad, divisor_override);
}

Tensor avg_pool_backward(const Tensor& grad, IntSpan input_sizes, int64_t n, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
    Windows w = pooling_windows("avg_pool", input_sizes, n, kernel_size, stride, padding, kNoDilation, ceil_mode);
    return avg_pool_backward("avg_pool_backward", grad, input_sizes, w, count_include_pad, divisor_override);
}

Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size) {
    return avg_pool("adaptive_avg_pool", self, adaptive_windows("adaptive_avg_pool", self.sizes(), output_size), false,
                    {});
}

Tensor adaptive_avg_pool_backward(const Tensor& grad, IntSpan input_sizes, int64_t n) {
    check(0 <= n && n <= grad.dim(), ErrorKind::Runtime, "[adaptive_avg_pool] a gradient of ", grad.dim(),
          " dimensions has no ", n, " of space");
    Windows w = adaptive_windows("adaptive_avg_pool", input_sizes, IntSpan(grad.sizes()).last(static_cast<size_t>(n)));
    return avg_pool_backward("adaptive_avg_pool_backward", grad, input_sizes, w, false, {});
}

}  // namespace wengert::kernels
