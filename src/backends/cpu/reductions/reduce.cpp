#include "kernels/reductions/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/reductions/reducer.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

template <class F>
decltype(auto) dispatch_real(DType d, F&& f) {  // bool included
    switch (d) {
        case DType::Bool:
            return f.template operator()<uint8_t>();
        case DType::UInt8:
            return f.template operator()<uint8_t>();
        case DType::Int8:
            return f.template operator()<int8_t>();
        case DType::Int16:
            return f.template operator()<int16_t>();
        case DType::Int32:
            return f.template operator()<int32_t>();
        case DType::Int64:
            return f.template operator()<int64_t>();
        case DType::Float32:
            return f.template operator()<float>();
        default:
            return f.template operator()<double>();
    }
}

// Sum, NanSum and Prod: wide accumulators by category. The result is divided by `divisor` before it is rounded.
Tensor accumulate(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype,
                  int start, bool divide, const char* op) {
    Dims dims = reduced_dims(dim, self.dim(), op);
    DType out_dtype = dtype.value_or(is_integral(self.dtype()) ? DType::Int64 : self.dtype());
    // Integral elements need no cast for an integral result: arithmetic modulo 2^64 comes out the same.
    bool direct = out_dtype == self.dtype() || (is_integral(self.dtype()) && is_integral(out_dtype));
    Tensor in = direct && out_dtype != DType::Bool ? self : to_dtype(self, out_dtype);
    Reducer reducer(in, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), out_dtype);
    TileLoop loop = tile_loop(kind, in.dtype(), op);
    double divisor = divide ? static_cast<double>(reducer.count()) : 1.0;
    auto merge = [kind]<class Acc>(Acc& acc, const Acc& other) {
        if constexpr (std::is_integral_v<Acc>) {  // modulo 2^64
            const auto a = static_cast<uint64_t>(acc), b = static_cast<uint64_t>(other);
            acc = static_cast<Acc>(kind == Reduction::Prod ? a * b : a + b);
        } else {
            acc = kind == Reduction::Prod ? acc * other : acc + other;
        }
    };
    dispatch(out_dtype, [&]<class Out> {
        if constexpr (std::is_integral_v<Out>) {
            fill_results<int64_t, Out>(reducer, out, loop, start, 0, merge,
                                       [](int64_t a) { return static_cast<Out>(a); });
        } else if constexpr (std::is_floating_point_v<Out>) {
            fill_results<double, Out>(reducer, out, loop, start, 0, merge,
                                      [=](double a) { return static_cast<Out>(a / divisor); });
        } else {
            fill_results<complex128, Out>(reducer, out, loop, complex128(start), 0, merge,
                                          [=](complex128 a) { return Out(a / divisor); });
        }
    });
    return out;
}

// The words PyTorch uses for reductions without an identity.
void check_nonempty(const Tensor& self, const Dims& dims, bool all_dims, const char* op) {
    if (self.numel() > 0) return;
    check(!all_dims, ErrorKind::Runtime, op, "(): Expected reduction dim to be specified for input.numel() == 0. ",
          "Specify the reduction dim with the 'dim' argument.");
    for (int64_t d : dims)
        check(self.sizes()[d] != 0, ErrorKind::Index, op, "(): Expected reduction dim ", d, " to have non-zero size.");
}

void check_real(const Tensor& self, const char* op) {
    check(!is_complex(self.dtype()), ErrorKind::Runtime, op, "(): does not support complex input; reduce abs(self)");
}

Tensor extreme(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    check_real(self, op);
    Dims dims = reduced_dims(dim, self.dim(), op);
    check_nonempty(self, dims, !dim || dim->empty(), op);
    Reducer reducer(self, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), self.dtype());
    dispatch_real(self.dtype(), [&]<class T> {
        constexpr bool inexact = std::is_floating_point_v<T>;
        T low = inexact ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
        T high = inexact ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
        TileLoop loop = tile_loop(kind, self.dtype(), op);
        fill_results<T, T>(reducer, out, loop, kind == Reduction::Max ? low : high, 0, ByLoop{loop},
                           [](T a) { return a; });
    });
    return out;
}

ValuesIndices arg_extreme(bool want_max, const Tensor& self, int64_t dim, bool keepdim, const char* op) {
    check_real(self, op);
    dim = wrap_dim(dim, self.dim(), op);
    Dims dims = self.dim() == 0 ? Dims{} : Dims{dim};
    check_nonempty(self, dims, false, op);
    Reducer reducer(self, dims, keepdim);
    Tensor values = empty(reducer.out_sizes(), self.dtype());
    Tensor indices = empty(reducer.out_sizes(), DType::Int64);
    const ReduceTable& table = reduce_table();
    ArgLoop loop = (want_max ? table.arg_max : table.arg_min)[static_cast<int>(self.dtype())];
    dispatch_real(self.dtype(), [&]<class T> {
        reducer.chunks([&](const Reducer::Chunk& chunk) {
            T best[Reducer::kChunk];
            int64_t at[Reducer::kChunk];
            loop(chunk.in, reducer.tile(chunk), best, at);
            chunk.write(values.data_as<T>(), [&](int64_t i) { return best[i]; });
            chunk.write(indices.data_as<int64_t>(), [&](int64_t i) { return at[i]; });
        });
    });
    return {values, indices};
}

Tensor arg_only(bool want_max, const Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* op) {
    check_real(self, op);
    check(self.dtype() != DType::Bool, ErrorKind::Runtime, op, "(): does not support bool input");
    if (dim) return std::get<1>(arg_extreme(want_max, self, *dim, keepdim, op));
    check(self.numel() > 0, ErrorKind::Index, op, "(): Expected reduction dim to be specified for input.numel() == 0.");
    Tensor dense = contiguous(self);
    Tensor index =
        std::get<1>(arg_extreme(want_max, alias(dense, Dims{dense.numel()}, Dims{1}, dense.offset()), 0, false, op));
    Dims ones(keepdim ? self.sizes().size() : 0, 1);
    return alias(index, ones, ones, 0);
}

Tensor logical(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    Dims dims = dim && dim->empty() ? Dims{} : reduced_dims(dim, self.dim(), op);
    Reducer reducer(self, dims, keepdim);
    // uint8 answers in uint8, everything else in bool.
    Tensor out = empty(reducer.out_sizes(), self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool);
    auto merge = [kind](bool& acc, bool other) { acc = kind == Reduction::All ? acc && other : acc || other; };
    fill_results<bool, uint8_t>(reducer, out, tile_loop(kind, self.dtype(), op), kind == Reduction::All, 0, merge,
                                [](bool a) { return static_cast<uint8_t>(a); });
    return out;
}

Tensor count(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    Reducer reducer(self, reduced_dims(dim, self.dim(), op), keepdim);
    Tensor out = empty(reducer.out_sizes(), DType::Int64);
    fill_results<int64_t, int64_t>(reducer, out, tile_loop(kind, self.dtype(), op), 0, 0, Added(),
                                   [](int64_t a) { return a; });
    return out;
}

std::tuple<Tensor, Tensor> moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                   bool root, const char* op);

// Real and imaginary parts vary independently.
std::tuple<Tensor, Tensor> complex_moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                           bool root, const char* op) {
    Dims dims = reduced_dims(dim, self.dim(), op);
    Tensor reals = view_as_real(self);
    if (dims.empty()) dims = Dims{}, reals = alias(reals, Dims{1, 2}, Dims{2, 1}, reals.offset()), dims.push_back(0);
    auto [parts, means] = moments(reals, dims, correction, keepdim, root, op);  // [..., 2]
    Dims sizes(IntSpan(parts.sizes()).first(parts.sizes().size() - 1));
    Tensor total = empty(sizes, parts.dtype());
    dispatch_floating(total.dtype(), op, [&]<class T> {
        const T* p = parts.data_as<T>();
        for (int64_t i = 0; i < total.numel(); ++i, p += 2)
            total.data_as<T>()[i] = root ? std::hypot(p[0], p[1]) : p[0] + p[1];
    });
    if (self.dim() == 0) sizes.clear();
    return {alias(total, sizes, contiguous_strides(sizes), 0),
            alias_as(means, self.dtype(), sizes, contiguous_strides(sizes), 0)};
}

// Whether the first two passes may have gone wrong: squares out of range, or distances from the mean no greater than its
// own rounding, as of numbers that all are equal.
template <class T>
bool is_doubtful(const Centered& c, double n) {
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
    const double units =
        64 * static_cast<double>(std::numeric_limits<T>::epsilon()) + n * std::numeric_limits<double>::epsilon();
    const double rounding = units * std::abs(c.center);
    return !(c.total > low && c.total > n * rounding * rounding && c.total < std::numeric_limits<double>::infinity());
}

// Both passes again, in double, from the first element and on a scale of their own. The variance is that of the scaled
// elements.
struct CarefulMoments {
    double mean, variance, scale;
};
template <class T>
std::vector<CarefulMoments> careful_moments(const Reducer& reducer, const Reducer::Chunk& chunk, double freedom,
                                            DType dtype, const char* op) {
    const double n = static_cast<double>(reducer.count());
    std::vector<T> largest(static_cast<size_t>(chunk.cols), T{0});
    std::vector<Spread> spread(largest.size());
    const TileLoop maxima = tile_loop(Reduction::AbsMax, dtype, op);
    reducer.accumulate(chunk, maxima, largest.data(), 0, ByLoop{maxima});
    for (int64_t i = 0; i < chunk.cols; ++i) {
        int exponent = 0;
        if (std::isfinite(largest[i])) std::frexp(largest[i], &exponent);
        const double scale = std::ldexp(1.0, std::min(-exponent, 1022));
        spread[i] = {scale, static_cast<double>(reinterpret_cast<const T*>(chunk.in)[i * chunk.col_stride]) * scale, 0,
                     0};
    }
    reducer.accumulate(chunk, tile_loop(Reduction::Spread, dtype, op), spread.data(), 0, Added());
    std::vector<CarefulMoments> out;
    for (const Spread& s : spread)
        out.push_back({(s.origin + s.sum / n) / s.scale, (s.squares - s.sum * (s.sum / n)) / freedom, s.scale});
    return out;
}

std::tuple<Tensor, Tensor> moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                   bool root, const char* op) {
    check(is_differentiable(self.dtype()), ErrorKind::Runtime, "[", op,
          "] std and var only support floating point and complex dtypes, got ", self.dtype());
    if (is_complex(self.dtype())) return complex_moments(self, dim, correction, keepdim, root, op);
    Reducer reducer(self, reduced_dims(dim, self.dim(), op), keepdim);
    double n = static_cast<double>(reducer.count()), freedom = std::max(0.0, n - correction);
    if (n - correction <= 0 && numel_of(reducer.out_sizes()) > 0)
        warn(WarningKind::User, std::string(op) +
                                    "(): degrees of freedom is <= 0. Correction should be strictly less than the "
                                    "reduction factor (input numel divided by output numel).");
    Tensor variance = empty(reducer.out_sizes(), self.dtype()), means = empty(reducer.out_sizes(), self.dtype());
    TileLoop sums = tile_loop(Reduction::Sum, self.dtype(), op),
             squares = tile_loop(Reduction::Deviation, self.dtype(), op);
    dispatch_floating(self.dtype(), op, [&]<class T> {
        reducer.chunks([&](const Reducer::Chunk& chunk) {
            double total[Reducer::kChunk];
            Centered acc[Reducer::kChunk];
            std::fill_n(total, chunk.cols, 0.0);
            reducer.accumulate(chunk, sums, total, 0, Added());
            for (int64_t i = 0; i < chunk.cols; ++i) acc[i] = {total[i] / n, 0};
            reducer.accumulate(chunk, squares, acc, 0, Added());
            bool doubtful = false;
            for (int64_t i = 0; i < chunk.cols; ++i) doubtful |= is_doubtful<T>(acc[i], n);
            chunk.write(means.data_as<T>(), [&](int64_t i) { return static_cast<T>(acc[i].center); });
            chunk.write(variance.data_as<T>(), [&](int64_t i) {
                double v = acc[i].total / freedom;
                return static_cast<T>(root ? std::sqrt(v) : v);
            });
            if (!doubtful || reducer.count() == 0) return;
            const std::vector<CarefulMoments> again = careful_moments<T>(reducer, chunk, freedom, self.dtype(), op);
            for (int64_t i = 0; i < chunk.cols; ++i) {
                const CarefulMoments& c = again[i];
                if (!is_doubtful<T>(acc[i], n) || !std::isfinite(c.variance)) continue;
                const int64_t at = chunk.out + i * chunk.out_stride;
                const double v = std::max(c.variance, 0.0);
                means.data_as<T>()[at] = static_cast<T>(c.mean);
                variance.data_as<T>()[at] = static_cast<T>(root ? std::sqrt(v) / c.scale : v / c.scale / c.scale);
            }
        });
    });
    return {variance, means};
}

}  // namespace

Tensor sum(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    return accumulate(Reduction::Sum, self, dim, keepdim, dtype, 0, false, "sum");
}

Tensor nansum(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    if (is_integral(self.dtype())) return sum(self, dim, keepdim, dtype);
    check(!is_complex(self.dtype()), ErrorKind::Runtime, "nansum on CPU does not support complex inputs");
    return accumulate(Reduction::NanSum, self, dim, keepdim, dtype, 0, false, "nansum");
}

Tensor mean(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    check(is_differentiable(dtype.value_or(self.dtype())), ErrorKind::Runtime, "mean(): could not infer output dtype. ",
          dtype ? "Optional" : "Input",
          " dtype must be either a floating point or complex dtype. Got: ", dtype.value_or(self.dtype()));
    return accumulate(Reduction::Sum, self, dim, keepdim, dtype.value_or(self.dtype()), 0, true, "mean");
}

Tensor prod(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    return accumulate(Reduction::Prod, self, dim, keepdim, dtype, 1, false, "prod");
}

Tensor count_nonzero(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return count(Reduction::CountNonzero, self, dim, keepdim, "count_nonzero");
}

Tensor all(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return logical(Reduction::All, self, dim, keepdim, "all");
}

Tensor any(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return logical(Reduction::Any, self, dim, keepdim, "any");
}

Tensor amax(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return extreme(Reduction::Max, self, dim, keepdim, "amax");
}

Tensor amin(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return extreme(Reduction::Min, self, dim, keepdim, "amin");
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    OptionalDims dims;
    if (dim) dims = Dims{*dim};
    check(dim || self.numel() > 0, ErrorKind::Runtime,
          "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
    return {extreme(Reduction::Min, self, dims, keepdim, "aminmax"),
            extreme(Reduction::Max, self, dims, keepdim, "aminmax")};
}

Tensor max(const Tensor& self) { return extreme(Reduction::Max, self, {}, false, "max"); }
Tensor min(const Tensor& self) { return extreme(Reduction::Min, self, {}, false, "min"); }
ValuesIndices max_dim(const Tensor& self, int64_t dim, bool keepdim) {
    return arg_extreme(true, self, dim, keepdim, "max");
}
ValuesIndices min_dim(const Tensor& self, int64_t dim, bool keepdim) {
    return arg_extreme(false, self, dim, keepdim, "min");
}
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    return arg_only(true, self, dim, keepdim, "argmax");
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    return arg_only(false, self, dim, keepdim, "argmin");
}

Tensor var(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return std::get<0>(moments(self, dim, correction, keepdim, false, "var"));
}
Tensor std(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return std::get<0>(moments(self, dim, correction, keepdim, true, "std"));
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return moments(self, dim, correction, keepdim, false, "var_mean");
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return moments(self, dim, correction, keepdim, true, "std_mean");
}

}  // namespace wengert::kernels
