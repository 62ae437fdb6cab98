#include "kernels/creation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/elementwise/elementwise.h"
#include "tensor/memory/fill_elements.h"
#include "tensor/representable.h"

namespace wengert::kernels {
namespace {

Category highest_kind(std::initializer_list<Scalar> numbers) {
    Category kind = Category::Bool;
    for (const Scalar& s : numbers) kind = std::max(kind, s.kind());
    return kind;
}

DType dtype_for(std::optional<DType> dtype, std::initializer_list<Scalar> numbers, bool integral_allowed) {
    if (dtype) return *dtype;
    Category kind = highest_kind(numbers);
    if (kind == Category::Complex) return complex_dtype(default_dtype());
    return kind == Category::Floating || !integral_allowed ? default_dtype() : DType::Int64;
}

int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step, bool integral) {
    if (integral) {
        int64_t a = start.to<int64_t>(), b = end.to<int64_t>(), s = step.to<int64_t>();
        check(s != 0, ErrorKind::Runtime, "[arange] step must be nonzero");
        check((s > 0 && b >= a) || (s < 0 && b <= a), ErrorKind::Runtime,
              "[arange] upper bound and lower bound inconsistent with step sign: ", a, ", ", b, " and ", s);
        // The way from a to b may be longer than an int64 can say.
        auto way = [](int64_t from, int64_t to) { return static_cast<uint64_t>(to) - static_cast<uint64_t>(from); };
        const uint64_t distance = s > 0 ? way(a, b) : way(b, a), step = s > 0 ? way(0, s) : way(s, 0);
        const uint64_t length = distance / step + (distance % step != 0);
        check(std::in_range<int64_t>(length), ErrorKind::Runtime, "[arange] invalid size, possible overflow: ", length);
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

// Fills out[i] = f(position, from the start or from the end), symmetric, so that both ends are exact.
template <class T, class Number, class F>
void fill_linear(const Tensor& out, Number start, Number end, F f) {
    const int64_t n = out.numel();
    T* p = out.data_as<T>();
    const Number step = n > 1 ? (end - start) / static_cast<double>(n - 1) : Number(0);
    for (int64_t i = 0; i < n; ++i) {
        Number x =
            i < n / 2 || n == 1 ? start + step * static_cast<double>(i) : end - step * static_cast<double>(n - 1 - i);
        p[i] = static_cast<T>(f(x));
    }
}

template <class F>
Tensor linear(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype, const char* op, F f) {
    check(steps >= 0, ErrorKind::Runtime, "[", op, "] number of steps must be non-negative, got ", steps);
    Tensor out = empty(Dims{steps}, dtype_for(dtype, {start, end}, false));
    check(is_complex(out.dtype()) || highest_kind({start, end}) != Category::Complex, ErrorKind::Runtime, "[", op,
          "] complex bounds can't be safely cast to passed dtype ", out.dtype());
    dispatch(out.dtype(), [&]<class T> {
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
            fill_linear<T>(out, start.to<complex128>(), end.to<complex128>(), f);
        else
            fill_linear<T>(out, start.to<double>(), end.to<double>(), f);
    });
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

// Rows `begin` to `end` of the triangle, each from column first(row) to last(row).
Tensor triangle_indices(int64_t count, int64_t begin, int64_t end, std::optional<DType> dtype, auto first, auto last) {
    Tensor out = empty(Dims{2, count}, DType::Int64);
    int64_t* rows = out.data_as<int64_t>();
    int64_t* cols = rows + count;
    for (int64_t r = begin; r < end; ++r)
        for (int64_t c = first(r); c < last(r); ++c) {
            *rows++ = r;
            *cols++ = c;
        }
    return dtype ? to_dtype(out, *dtype) : out;
}

void check_triangle(int64_t row, int64_t col, const char* op) {
    check(row >= 0 && col >= 0, ErrorKind::Runtime, "[", op, "] row and col must be non-negative, got ", row, " and ",
          col);
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype) {
    check(highest_kind({start, end, step}) != Category::Complex, ErrorKind::Runtime,
          "[arange] complex ranges have no order");
    const DType out_dtype = dtype_for(dtype, {start, end, step}, true);
    for (const Scalar& number : {start, end, step}) check_representable(number, out_dtype);
    // An integral dtype truncates its bounds first.
    const bool integral = is_integral(out_dtype) || highest_kind({start, end, step}) <= Category::Integral;
    Tensor out = empty(Dims{range_length(start, end, step, integral)}, out_dtype);
    dispatch(out.dtype(), [&]<class T> {
        T* p = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i)
            p[i] = integral ? static_cast<T>(start.to<int64_t>() + i * step.to<int64_t>())
                            : static_cast<T>(start.to<double>() + static_cast<double>(i) * step.to<double>());
    });
    return out;
}

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype) {
    check(highest_kind({start, end, step}) != Category::Complex, ErrorKind::Runtime,
          "[range] complex ranges have no order");
    const double first = start.to<double>(), by = step.to<double>();
    check(by != 0, ErrorKind::Runtime, "[range] step must be nonzero");
    const double count = std::floor((end.to<double>() - first) / by) + 1;
    check(count >= 1 && count < 9.2e18, ErrorKind::Runtime,
          "[range] upper bound and lower bound inconsistent with step sign: ", first, ", ", end.to<double>(), " and ",
          by);
    Tensor out = wengert::empty(Dims{static_cast<int64_t>(count)}, dtype_or(dtype, default_dtype()));
    dispatch(out.dtype(), [&]<class T> {
        T* p = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i) p[i] = Scalar(first + by * static_cast<double>(i)).to<T>();
    });
    return out;
}

Tensor fft_frequencies(int64_t n, double d, bool half, std::optional<DType> dtype) {
    check(n >= 0, ErrorKind::Runtime, "[fftfreq] n must be non-negative, got ", n);
    const double step = 1 / (static_cast<double>(n) * d);
    Tensor out = wengert::empty(Dims{half ? n / 2 + 1 : n}, dtype_or(dtype, default_dtype()));
    dispatch(out.dtype(), [&]<class T> {
        T* p = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i) {
            const int64_t place = half || i < (n + 1) / 2 ? i : i - n;
            p[i] = Scalar(static_cast<double>(place) * step).to<T>();
        }
    });
    return out;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype) {
    return linear(start, end, steps, dtype, "linspace", [](auto x) { return x; });
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, std::optional<DType> dtype) {
    return linear(start, end, steps, dtype, "logspace", [=](auto x) { return std::pow(decltype(x)(base), x); });
}

Tensor eye(int64_t n, std::optional<int64_t> m, std::optional<DType> dtype) {
    const int64_t columns = m.value_or(n);
    check(n >= 0, ErrorKind::Runtime, "[eye] n must be greater or equal to 0, got ", n);
    check(columns >= 0, ErrorKind::Runtime, "[eye] m must be greater or equal to 0, got ", columns);
    Tensor out = zeros(Dims{n, columns}, dtype.value_or(default_dtype()));
    dispatch(out.dtype(), [&]<class T> {
        for (int64_t i = 0; i < std::min(n, columns); ++i) out.data_as<T>()[i * (columns + 1)] = T(1);
    });
    return out;
}

// --- Of a shape
Tensor zeros(IntSpan sizes, std::optional<DType> dtype) {
    return wengert::zeros(sizes, dtype_or(dtype, default_dtype()));
}
Tensor ones(IntSpan sizes, std::optional<DType> dtype) {
    return wengert::full(sizes, 1, dtype_or(dtype, default_dtype()));
}
Tensor empty(IntSpan sizes, std::optional<DType> dtype) {
    return wengert::empty(sizes, dtype_or(dtype, default_dtype()));
}
Tensor full(IntSpan sizes, const Scalar& value, std::optional<DType> dtype) {
    return wengert::full(sizes, value, dtype_or(dtype, scalar_dtype(value)));
}
Tensor scalar_tensor(const Scalar& value, std::optional<DType> dtype) {
    return wengert::scalar_tensor(value, dtype_or(dtype, default_dtype()));
}

Tensor empty_strided(IntSpan sizes, IntSpan strides, std::optional<DType> dtype) {
    check(sizes.size() == strides.size(), ErrorKind::Runtime,
          "mismatch in length of strides and shape: ", ShapeOf{sizes}, " and ", ShapeOf{strides});
    for (int64_t s : strides) check(s >= 0, ErrorKind::Runtime, "as_strided: Negative strides are not supported");
    return wengert::empty_strided(sizes, strides, dtype_or(dtype, default_dtype()));
}

Tensor empty_like(const Tensor& self, std::optional<DType> dtype) {
    return wengert::empty_like(self, dtype_or(dtype, self.dtype()));
}

Tensor full_like(const Tensor& self, const Scalar& value, std::optional<DType> dtype) {
    Tensor out = empty_like(self, dtype.value_or(self.dtype()));  // dense, whatever its strides
    check_representable(value, out.dtype());
    dispatch(out.dtype(), [&]<class T> { fill_elements(out.data_as<T>(), out.numel(), value.to<T>()); });
    return out;
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype) {
    check_triangle(row, col, "tril_indices");
    offset = std::clamp(offset, -row, col);
    int64_t begin = 0;
    const int64_t count = elements_under(row, col, offset, &begin, "tril_indices");
    return triangle_indices(
        count, begin, row, dtype, [](int64_t) { return int64_t{0}; },
        [=](int64_t r) { return std::clamp<int64_t>(r + offset + 1, 0, col); });
}

// What is not under the diagonal before: the triangle under the other one of the matrix turned round.
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype) {
    check_triangle(row, col, "triu_indices");
    offset = std::clamp(offset, -row, col);
    int64_t turned = 0;
    const int64_t count = elements_under(row, col, col - row - offset, &turned, "triu_indices");
    return triangle_indices(
        count, 0, row - turned, dtype, [=](int64_t r) { return std::clamp<int64_t>(r + offset, 0, col); },
        [=](int64_t) { return col; });
}

}  // namespace wengert::kernels
