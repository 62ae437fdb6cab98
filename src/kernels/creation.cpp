#include "kernels/creation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/creation_kernels.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/representable.h"

namespace wengert::kernels {
namespace {

Category highest_kind(std::initializer_list<Scalar> numbers) {
    Category kind = Category::Bool;
    for (const Scalar& s : numbers) kind = std::max(kind, s.kind());
    return kind;
}

DType dtype_for(const TensorOptions& options, std::initializer_list<Scalar> numbers, bool integral_allowed) {
    if (options.dtype) return *options.dtype;
    Category kind = highest_kind(numbers);
    if (kind == Category::Complex) return complex_dtype(default_dtype());
    return kind == Category::Floating || !integral_allowed ? default_dtype() : DType::Int64;
}

int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step, bool integral) {
    if (integral) {
        // The way from a to b may be longer than an int64 can say.
        const auto a = start.to<__int128>(), b = end.to<__int128>(), s = step.to<__int128>();
        check(s != 0, ErrorKind::Runtime, "[arange] step must be nonzero");
        check((s > 0 && b >= a) || (s < 0 && b <= a), ErrorKind::Runtime,
              "[arange] upper bound and lower bound inconsistent with step sign: ", start.to<double>(), ", ",
              end.to<double>(), " and ", step.to<double>());
        const __int128 length = (b - a) / s + ((b - a) % s != 0);
        check(length <= INT64_MAX, ErrorKind::Runtime,
              "[arange] invalid size, possible overflow: ", static_cast<double>(length));
        return static_cast<int64_t>(length);
    }
    double a = start.to<double>(), b = end.to<double>(), s = step.to<double>();
    check(s != 0, ErrorKind::Runtime, "[arange] step must be nonzero");
    check(std::isfinite(a) && std::isfinite(b), ErrorKind::Runtime, "[arange] unsupported range: ", a, " -> ", b);
    check((s > 0 && b >= a) || (s < 0 && b <= a), ErrorKind::Runtime,
          "[arange] upper bound and lower bound inconsistent with step sign: ", a, ", ", b, " and ", s);
    double length = std::ceil((b - a) / s);
    check(length >= 0 && length < 9.2e18, ErrorKind::Runtime, "[arange] invalid size, possible overflow: ", length);
    return static_cast<int64_t>(length);
}

Tensor evenly_spaced(const DeviceKernel<void(Result, const Scalar&, const Scalar&, double)>& kernel,
                     const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options,
                     const char* op) {
    check(steps >= 0, ErrorKind::Runtime, "[", op, "] number of steps must be non-negative, got ", steps);
    const DType dtype = dtype_for(options, {start, end}, false);
    check(wengert::is_complex(dtype) || highest_kind({start, end}) != Category::Complex, ErrorKind::Runtime, "[", op,
          "] complex bounds can't be safely cast to passed dtype ", dtype);
    Tensor out = wengert::empty(Dims{steps}, dtype, options.device_or_default());
    kernel(out, start, end, base);
    return out;
}

// How many elements of rows 0, 1, ... `row` of a matrix with `col` columns stand on or under the diagonal `offset`, which
// is between -row and col. Only rows from `*first` on have any.
int64_t elements_under(int64_t row, int64_t col, int64_t offset, int64_t* first, const char* op) {
    *first = std::clamp<int64_t>(-offset, 0, row);
    if (col == 0) *first = row;
    const int64_t whole = std::clamp<int64_t>(col - offset - 1, *first, row);  // the first row that is full
    const __int128 growing = static_cast<__int128>(whole - *first) *
                             (static_cast<__int128>(*first) + whole + 2 * static_cast<__int128>(offset) + 1) / 2;
    const __int128 count = growing + static_cast<__int128>(row - whole) * col;
    check(count < (int64_t{1} << 59), ErrorKind::Runtime, "[", op, "] a triangle of ", row, " rows and ", col,
          " columns has more elements than a tensor can have");
    return static_cast<int64_t>(count);
}

void check_triangle(int64_t row, int64_t col, const char* op) {
    check(row >= 0 && col >= 0, ErrorKind::Runtime, "[", op, "] row and col must be non-negative, got ", row, " and ",
          col);
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
    check(highest_kind({start, end, step}) != Category::Complex, ErrorKind::Runtime,
          "[arange] complex ranges have no order");
    const DType out_dtype = dtype_for(options, {start, end, step}, true);
    for (const Scalar& number : {start, end, step}) check_representable(number, out_dtype);
    // An integral dtype truncates its bounds first.
    const bool integral = is_integral(out_dtype) || (highest_kind({start, end, step}) <= Category::Integral &&
                                                     !start.is_wide() && !end.is_wide() && !step.is_wide());
    Tensor out = wengert::empty(Dims{range_length(start, end, step, integral)}, out_dtype, options.device_or_default());
    arange_kernel(out, start, step, integral);
    return out;
}

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
    check(highest_kind({start, end, step}) != Category::Complex, ErrorKind::Runtime,
          "[range] complex ranges have no order");
    const double first = start.to<double>(), by = step.to<double>();
    check(by != 0, ErrorKind::Runtime, "[range] step must be nonzero");
    const double count = std::floor((end.to<double>() - first) / by) + 1;
    check(count >= 1 && count < 9.2e18, ErrorKind::Runtime,
          "[range] upper bound and lower bound inconsistent with step sign: ", first, ", ", end.to<double>(), " and ",
          by);
    Tensor out = wengert::empty(Dims{static_cast<int64_t>(count)}, options.dtype_or(default_dtype()),
                                options.device_or_default());
    range_kernel(out, first, by);
    return out;
}

Tensor fft_frequencies(int64_t n, double d, bool half, const TensorOptions& options) {
    check(n >= 0, ErrorKind::Runtime, "[fftfreq] n must be non-negative, got ", n);
    Tensor out =
        wengert::empty(Dims{half ? n / 2 + 1 : n}, options.dtype_or(default_dtype()), options.device_or_default());
    fft_frequencies_kernel(out, n, 1 / (static_cast<double>(n) * d), half);
    return out;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
    return evenly_spaced(linspace_kernel, start, end, steps, 0, options, "linspace");
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) {
    return evenly_spaced(logspace_kernel, start, end, steps, base, options, "logspace");
}

Tensor eye(int64_t n, std::optional<int64_t> m, const TensorOptions& options) {
    const int64_t columns = m.value_or(n);
    check(n >= 0, ErrorKind::Runtime, "[eye] n must be greater or equal to 0, got ", n);
    check(columns >= 0, ErrorKind::Runtime, "[eye] m must be greater or equal to 0, got ", columns);
    Tensor out = zeros(Dims{n, columns}, options);
    const int64_t shorter = std::min(n, columns);
    if (shorter > 0) fill_(alias(out, Dims{shorter}, Dims{columns + 1}, 0), 1);
    return out;
}

// --- Of a shape
Tensor zeros(IntSpan sizes, const TensorOptions& options) {
    return wengert::zeros(sizes, options.dtype_or(default_dtype()), options.device_or_default());
}
Tensor ones(IntSpan sizes, const TensorOptions& options) {
    return wengert::full(sizes, 1, options.dtype_or(default_dtype()), options.device_or_default());
}
Tensor empty(IntSpan sizes, const TensorOptions& options) {
    return wengert::empty(sizes, options.dtype_or(default_dtype()), options.device_or_default());
}
Tensor full(IntSpan sizes, const Scalar& value, const TensorOptions& options) {
    return wengert::full(sizes, value, options.dtype_or(scalar_dtype(value)), options.device_or_default());
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
    return wengert::full({}, value, options.dtype_or(default_dtype()), options.device_or_default());
}

Tensor empty_strided(IntSpan sizes, IntSpan strides, const TensorOptions& options) {
    check(sizes.size() == strides.size(), ErrorKind::Runtime,
          "mismatch in length of strides and shape: ", ShapeOf{sizes}, " and ", ShapeOf{strides});
    for (int64_t s : strides) check(s >= 0, ErrorKind::Runtime, "as_strided: Negative strides are not supported");
    return wengert::empty_strided(sizes, strides, options.dtype_or(default_dtype()), options.device_or_default());
}

Tensor empty_like(const Tensor& self, const TensorOptions& options) {
    const TensorOptions chosen = as_of(options, self);
    if (*chosen.device == self.device()) return wengert::empty_like(self, *chosen.dtype);
    if (!self.is_contiguous() && self.is_non_overlapping_and_dense())
        return wengert::empty_strided(self.sizes(), self.strides(), *chosen.dtype, *chosen.device);
    return wengert::empty(self.sizes(), *chosen.dtype, *chosen.device);
}

Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options) {
    check_representable(value, options.dtype_or(self.dtype()));
    Tensor out = empty_like(self, options);
    fill_(out, value);
    return out;
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
    check_triangle(row, col, "tril_indices");
    offset = std::clamp(offset, -row, col);
    int64_t begin = 0;
    const int64_t count = elements_under(row, col, offset, &begin, "tril_indices");
    Tensor out = wengert::empty(Dims{2, count}, DType::Int64, options.device_or_default());
    triangle_indices_kernel(out, begin, row, col, offset, false);
    return to_dtype(out, options.dtype_or(DType::Int64));
}

// What is not under the diagonal before: the triangle under the other one of the matrix turned round.
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
    check_triangle(row, col, "triu_indices");
    offset = std::clamp(offset, -row, col);
    int64_t turned = 0;
    const int64_t count = elements_under(row, col, col - row - offset, &turned, "triu_indices");
    Tensor out = wengert::empty(Dims{2, count}, DType::Int64, options.device_or_default());
    triangle_indices_kernel(out, 0, row - turned, col, offset, true);
    return to_dtype(out, options.dtype_or(DType::Int64));
}

// --- Windows
namespace {

template <class... Numbers>
Tensor window(const DeviceKernel<void(Result, bool, Numbers...)>& kernel, int64_t length, bool periodic,
              const TensorOptions& options, Numbers... numbers) {
    check(length >= 0, ErrorKind::Runtime, "window_length must be non-negative, got ", length);
    const DType dtype = options.dtype_or(default_dtype());
    check(is_floating(dtype), ErrorKind::Runtime, "window functions expect a floating point dtype, but got ", dtype);
    Tensor out = wengert::empty(Dims{length}, dtype, options.device_or_default());
    kernel(out, periodic, numbers...);
    return out;
}

}  // namespace

Tensor cosine_window(int64_t length, bool periodic, double a, double b, double c, const TensorOptions& options) {
    return window(cosine_window_kernel, length, periodic, options, a, b, c);
}
Tensor bartlett_window(int64_t length, bool periodic, const TensorOptions& options) {
    return window(bartlett_window_kernel, length, periodic, options);
}
Tensor kaiser_window(int64_t length, bool periodic, double beta, const TensorOptions& options) {
    return window(kaiser_window_kernel, length, periodic, options, beta);
}

}  // namespace wengert::kernels
