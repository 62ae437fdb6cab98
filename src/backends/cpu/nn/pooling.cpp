// Pooling on the CPU (kernels/nn/pooling.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/indexing/bounds.h"
#include "backends/cpu/nn/pool_loops.h"
#include "kernels/nn/pooling_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(PoolTable, pool_table)

namespace {

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
    const Window& first = windows[0];
    const int64_t size = first.last - first.first, distance = windows.size() > 1 ? windows[1].first - first.first : 0;
    int64_t at = first.first;
    for (const Window& w : windows) {
        if (w.step != 1 || w.last - w.first != size || w.first != at) return false;
        at += distance;
    }
    return true;
}

// The maximum of one window and where it stands. NaN wins.
template <class T>
void max_of_window(const T* plane, const Windows& w, const Window& z, const Window& y, const Window& x, T& value,
                   int64_t* to) {
    value =
        std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    int64_t index = (z.first * w.input[1] + y.first) * w.input[2] + x.first;
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
    if (to) *to = index;
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

// Rows of dense windows of any size, z and y given.
template <class T>
void max_of_spans(const T* plane, const Windows& w, const Window& z, const Window& y, const std::vector<Span>& spans,
                  T* value, int64_t* index) {
    const int64_t of_y = w.input[2], of_z = w.input[1] * of_y;
    const MaxSpans<T> row{plane,
                          z.first * of_z + y.first * of_y,
                          z.last - z.first,
                          y.last - y.first,
                          of_z,
                          of_y,
                          spans.data(),
                          static_cast<int64_t>(spans.size()),
                          value,
                          index};
    if constexpr (std::is_same_v<T, float>)
        pool_table().spans_f32(row);
    else
        pool_table().spans_f64(row);
}

std::vector<Span> spans_of(const std::vector<Window>& windows) {
    std::vector<Span> spans;
    spans.reserve(windows.size());
    for (const Window& w : windows) spans.push_back({w.first, w.last});
    return spans;
}

enum class MaxLoop : uint8_t { Rows, Spans, Windows };

// Of floating elements: windows of one size one after the other, if they are many, or dense ones.
MaxLoop max_loop(const Windows& w) {
    constexpr size_t kMany = 8;
    const auto is_dense = [](const std::vector<Window>& windows) {
        return std::ranges::all_of(windows, [](const Window& x) { return x.step == 1 && x.first < x.last; });
    };
    const bool uniform = is_uniform(w.dims[2]);
    if (uniform && w.dims[2].size() >= kMany) return MaxLoop::Rows;
    if (std::ranges::all_of(w.dims, is_dense)) return MaxLoop::Spans;
    return uniform ? MaxLoop::Rows : MaxLoop::Windows;
}

void max_pool(Result values, Result indices, const Tensor& in, const Windows& w) {
    dispatch_ordered(in.dtype(), "max_pool", [&]<class T> {
        const int64_t size = w.input_plane(), of_plane = windows_of_plane(w);
        const auto row = static_cast<int64_t>(w.dims[2].size());
        const MaxLoop loop = std::is_floating_point_v<T> ? max_loop(w) : MaxLoop::Windows;
        const std::vector<Span> spans = loop == MaxLoop::Spans ? spans_of(w.dims[2]) : std::vector<Span>();
        parallel_for(w.planes, units_of(size), [&](int64_t begin, int64_t end) {
            std::vector<int64_t> taps;
            const T* from = in.data_as<T>() + begin * size;
            T* value = values->data_as<T>() + begin * of_plane;
            int64_t* index = indices->defined() ? indices->data_as<int64_t>() + begin * of_plane : nullptr;
            for (int64_t plane = begin; plane < end; ++plane, from += size)
                for (const Window& z : w.dims[0])
                    for (const Window& y : w.dims[1]) {
                        const bool sees_none = z.first >= z.last || y.first >= y.last;  // dilation may miss all
                        if constexpr (std::is_floating_point_v<T>) {
                            if (loop == MaxLoop::Rows && !sees_none) max_of_row(from, w, z, y, taps, value, index);
                            if (loop == MaxLoop::Spans) max_of_spans(from, w, z, y, spans, value, index);
                        }
                        if (loop == MaxLoop::Windows || (loop == MaxLoop::Rows && sees_none))
                            for (int64_t x = 0; x < row; ++x)
                                max_of_window(from, w, z, y, w.dims[2][static_cast<size_t>(x)], value[x],
                                              index ? index + x : nullptr);
                        value += row;
                        if (index) index += row;
                    }
        });
    });
}

// The number an average divides by.
int64_t divisor_of(const Window& z, const Window& y, const Window& x, bool count_padding,
                   std::optional<int64_t> divisor) {
    if (divisor) return *divisor;
    if (count_padding) return z.padded * y.padded * x.padded;
    return (z.last - z.first) * (y.last - y.first) * (x.last - x.first);
}

// Long rows of a window. A loop of constant length has a vector form.
constexpr int64_t kAtOnce = 16;

bool any_wide(const Windows& w) {
    return std::ranges::any_of(w.dims[2], [](const Window& x) { return x.last - x.first >= kAtOnce; });
}

template <class T>
[[gnu::noinline]] T sum_of_many(const T* row, int64_t n) {
    T lanes[kAtOnce] = {}, sum = 0;
    for (; n >= kAtOnce; n -= kAtOnce, row += kAtOnce)
        for (int64_t k = 0; k < kAtOnce; ++k) lanes[k] = static_cast<T>(lanes[k] + row[k]);
    for (const T lane : lanes) sum = static_cast<T>(sum + lane);
    for (int64_t k = 0; k < n; ++k) sum = static_cast<T>(sum + row[k]);
    return sum;
}

template <class T>
[[gnu::noinline]] void add_to_many(T* row, int64_t n, T share) {
    for (; n >= kAtOnce; n -= kAtOnce, row += kAtOnce)
        for (int64_t k = 0; k < kAtOnce; ++k) row[k] = static_cast<T>(row[k] + share);
    for (int64_t k = 0; k < n; ++k) row[k] = static_cast<T>(row[k] + share);
}

template <class T>
[[gnu::always_inline]] inline void add_to_few(T* row, int64_t n, T share) {
    constexpr int64_t kFew = 4;
    for (; n >= kFew; n -= kFew, row += kFew)
        for (int64_t k = 0; k < kFew; ++k) row[k] = static_cast<T>(row[k] + share);
    for (int64_t k = 0; k < n; ++k) row[k] = static_cast<T>(row[k] + share);
}

void avg_pool(Result out, const Tensor& in, const Windows& w, bool count_padding, std::optional<int64_t> divisor) {
    dispatch_ordered(in.dtype(), "avg_pool", [&]<class T> {
        const T* from = in.data_as<T>();
        T* to = out->data_as<T>();
        int64_t size = w.input_plane();
        const auto mean_of = [&]<bool wide>(int64_t plane, int64_t at, const Window& z, const Window& y,
                                            const Window& x) {
            const T* data = from + plane * size;
            T sum = 0;
            for (int64_t i = z.first; i < z.last; ++i)
                for (int64_t j = y.first; j < y.last; ++j) {
                    const T* row = data + (i * w.input[1] + j) * w.input[2];
                    if (wide && x.last - x.first >= kAtOnce)
                        sum = static_cast<T>(sum + sum_of_many(row + x.first, x.last - x.first));
                    else
                        for (int64_t k = x.first; k < x.last; ++k) sum = static_cast<T>(sum + row[k]);
                }
            int64_t n = divisor_of(z, y, x, count_padding, divisor);
            to[at] = n == 0 ? T(0) : static_cast<T>(sum / static_cast<T>(n));
        };
        if (any_wide(w))
            for_each_window(w, [&](const auto&... window) { mean_of.template operator()<true>(window...); });
        else
            for_each_window(w, [&](const auto&... window) { mean_of.template operator()<false>(window...); });
    });
}

void avg_pool_backward(Result out, const Tensor& grad, const Windows& w, bool count_padding,
                       std::optional<int64_t> divisor) {
    dispatch_ordered(grad.dtype(), "avg_pool_backward", [&]<class T> {
        const T* from = grad.data_as<T>();
        T* to = out->data_as<T>();
        int64_t size = w.input_plane();
        const auto share_out = [&]<bool wide>(int64_t plane, int64_t at, const Window& z, const Window& y,
                                              const Window& x) {
            int64_t n = divisor_of(z, y, x, count_padding, divisor);
            if (n == 0) return;
            T share = static_cast<T>(from[at] / static_cast<T>(n));
            for (int64_t i = z.first; i < z.last; ++i)
                for (int64_t j = y.first; j < y.last; ++j) {
                    T* row = to + plane * size + (i * w.input[1] + j) * w.input[2];
                    if (wide && x.last - x.first >= kAtOnce)
                        add_to_many(row + x.first, x.last - x.first, share);
                    else
                        add_to_few(row + x.first, x.last - x.first, share);
                }
        };
        if (any_wide(w))
            for_each_window(w, [&](const auto&... window) { share_out.template operator()<true>(window...); });
        else
            for_each_window(w, [&](const auto&... window) { share_out.template operator()<false>(window...); });
    });
}

int64_t plane_size(IntSpan sizes, int64_t n) { return numel_of(sizes.last(static_cast<size_t>(n))); }

// All indices, dense, lie in a plane of `size` elements.
void check_places(const char* op, const Tensor& indices, int64_t size) {
    const int64_t *index = indices.data_as<int64_t>(), count = indices.numel();
    if (all_within(index, count, 0, size)) return;
    for (int64_t i = 0; i < count; ++i)
        check(index[i] >= 0 && index[i] < size, ErrorKind::Index, "[", op, "] index ", index[i],
              " is out of bounds for a plane of ", size, " elements");
}

void max_pool_backward(Result out, const Tensor& grad, const Tensor& indices, int64_t n) {
    const int64_t size = plane_size(out->sizes(), n), per_plane = plane_size(grad.sizes(), n);
    check_places("max_pool_backward", indices, size);
    dispatch(grad.dtype(), [&]<class T> {
        parallel_for(grad.numel() / per_plane, units_of(size), [&](int64_t begin, int64_t end) {
            for (int64_t plane = begin; plane < end; ++plane) {
                const int64_t* index = indices.data_as<int64_t>() + plane * per_plane;
                const T* x = grad.data_as<T>() + plane * per_plane;
                T* to = out->data_as<T>() + plane * size;
                for (int64_t i = 0; i < per_plane; ++i) to[index[i]] = static_cast<T>(to[index[i]] + x[i]);
            }
        });
    });
}

void max_pool_gather(Result out, const Tensor& in, const Tensor& indices, int64_t n) {
    const int64_t size = plane_size(in.sizes(), n), per_plane = plane_size(indices.sizes(), n);
    check_places("max_pool_gather", indices, size);
    dispatch(in.dtype(), [&]<class T> {
        parallel_for(out->numel() / per_plane, units_of(per_plane), [&](int64_t begin, int64_t end) {
            for (int64_t plane = begin; plane < end; ++plane) {
                const int64_t* index = indices.data_as<int64_t>() + plane * per_plane;
                const T* x = in.data_as<T>() + plane * size;
                T* to = out->data_as<T>() + plane * per_plane;
                for (int64_t i = 0; i < per_plane; ++i) to[i] = x[index[i]];
            }
        });
    });
}

}  // namespace

using Average = void(Result, const Tensor&, const Windows&, bool, std::optional<int64_t>);
using AtIndices = void(Result, const Tensor&, const Tensor&, int64_t);

constinit DeviceKernel<void(Result, Result, const Tensor&, const Windows&)> max_pool_kernel{"max_pool", max_pool};
constinit DeviceKernel<Average> avg_pool_kernel{"avg_pool", avg_pool};
constinit DeviceKernel<Average> avg_pool_backward_kernel{"avg_pool_backward", avg_pool_backward};
constinit DeviceKernel<AtIndices> max_pool_backward_kernel{"max_pool_backward", max_pool_backward,
                                                           HostWaits::ForErrors};
constinit DeviceKernel<AtIndices> max_pool_gather_kernel{"max_pool_gather", max_pool_gather, HostWaits::ForErrors};

}  // namespace wengert::kernels
