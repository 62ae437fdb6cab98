#include "kernels/reduce.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/elementwise.h"
#include "kernels/reducer.h"

namespace wengert::kernels {
namespace {

// One accumulator of type Acc per result, started at `start`, turned into a result element by finish(acc).
template <class Acc, class Out, class Finish>
void fill_results(const Reducer& reducer, const Tensor& out, TileLoop loop, Acc start, double parameter,
                  Finish finish) {
    Out* data = out.data_as<Out>();
    reducer.chunks([&](const Reducer::Chunk& chunk) {
        alignas(64) std::byte memory[Reducer::kChunk * sizeof(Acc)];
        Acc* acc = reinterpret_cast<Acc*>(memory);
        std::uninitialized_fill_n(acc, chunk.cols, start);
        reducer.accumulate(chunk, loop, acc, parameter);
        chunk.write(data, [&](int64_t i) { return finish(acc[i]); });
    });
}

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
Tensor accumulate(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim,
                  std::optional<DType> dtype, int start, bool divide, const char* op) {
    Dims dims = reduced_dims(dim, self.dim(), op);
    DType out_dtype = dtype.value_or(is_integral(self.dtype()) ? DType::Int64 : self.dtype());
    // Integral elements need no cast for an integral result: arithmetic modulo 2^64 comes out the same.
    bool direct = out_dtype == self.dtype() || (is_integral(self.dtype()) && is_integral(out_dtype));
    Tensor in = direct && out_dtype != DType::Bool ? self : to_dtype(self, out_dtype);
    Reducer reducer(in, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), out_dtype);
    TileLoop loop = tile_loop(kind, in.dtype(), op);
    double divisor = divide ? static_cast<double>(reducer.count()) : 1.0;
    dispatch(out_dtype, [&]<class Out> {
        if constexpr (std::is_integral_v<Out>) {
            fill_results<int64_t, Out>(reducer, out, loop, start, 0, [](int64_t a) { return static_cast<Out>(a); });
        } else if constexpr (std::is_floating_point_v<Out>) {
            fill_results<double, Out>(reducer, out, loop, start, 0,
                                      [=](double a) { return static_cast<Out>(a / divisor); });
        } else {
            fill_results<complex128, Out>(reducer, out, loop, complex128(start), 0,
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
        fill_results<T, T>(reducer, out, tile_loop(kind, self.dtype(), op), kind == Reduction::Max ? low : high, 0,
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
    Tensor index = std::get<1>(arg_extreme(want_max, alias(dense, Dims{dense.numel()}, Dims{1}, dense.offset()), 0,
                                           false, op));
    Dims ones(keepdim ? self.sizes().size() : 0, 1);
    return alias(index, ones, ones, 0);
}

Tensor logical(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    Dims dims = dim && dim->empty() ? Dims{} : reduced_dims(dim, self.dim(), op);
    Reducer reducer(self, dims, keepdim);
    // uint8 answers in uint8, everything else in bool.
    Tensor out = empty(reducer.out_sizes(), self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool);
    fill_results<bool, uint8_t>(reducer, out, tile_loop(kind, self.dtype(), op), kind == Reduction::All, 0,
                                [](bool a) { return static_cast<uint8_t>(a); });
    return out;
}

Tensor count(Reduction kind, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    Reducer reducer(self, reduced_dims(dim, self.dim(), op), keepdim);
    Tensor out = empty(reducer.out_sizes(), DType::Int64);
    fill_results<int64_t, int64_t>(reducer, out, tile_loop(kind, self.dtype(), op), 0, 0, [](int64_t a) { return a; });
    return out;
}

// A complex tensor seen as reals with a last dimension of 2.
Tensor as_reals(const Tensor& self) {
    Dims sizes = self.sizes(), strides;
    for (int64_t s : self.strides()) strides.push_back(2 * s);
    sizes.push_back(2);
    strides.push_back(1);
    return alias_as(self, real_dtype(self.dtype()), sizes, strides, 2 * self.offset());
}

Tensor absolute(const Tensor& self) {  // of a complex tensor
    Tensor out = empty(self.sizes(), real_dtype(self.dtype())), dense = contiguous(self);
    dispatch_inexact(self.dtype(), "abs", [&]<class T> {
        if constexpr (!std::is_floating_point_v<T>)
            std::transform(dense.data_as<T>(), dense.data_as<T>() + dense.numel(),
                           out.data_as<typename T::value_type>(), [](T z) { return std::hypot(z.real(), z.imag()); });
    });
    return out;
}

std::tuple<Tensor, Tensor> moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                   bool root, const char* op);

// Real and imaginary parts vary independently.
std::tuple<Tensor, Tensor> complex_moments(const Tensor& self, const OptionalDims& dim, double correction,
                                           bool keepdim, bool root, const char* op) {
    Dims dims = reduced_dims(dim, self.dim(), op);
    Tensor reals = as_reals(self);
    if (dims.empty()) dims = Dims{}, reals = alias(reals, Dims{1, 2}, Dims{2, 1}, reals.offset()), dims.push_back(0);
    auto [variance, means] = moments(reals, dims, correction, keepdim, false, op);
    Tensor total = sum(variance, Dims{-1});
    if (root)
        dispatch_floating(total.dtype(), op, [&]<class T> {
            T* p = total.data_as<T>();
            std::transform(p, p + total.numel(), p, [](T v) { return std::sqrt(v); });
        });
    Dims sizes = total.sizes();
    if (self.dim() == 0) sizes.clear();
    return {alias(total, sizes, contiguous_strides(sizes), 0),
            alias_as(means, self.dtype(), sizes, contiguous_strides(sizes), 0)};
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
    TileLoop sums = tile_loop(Reduction::Sum, self.dtype(), op), squares = tile_loop(Reduction::Deviation, self.dtype(), op);
    dispatch_floating(self.dtype(), op, [&]<class T> {
        reducer.chunks([&](const Reducer::Chunk& chunk) {
            double total[Reducer::kChunk];
            Deviations acc[Reducer::kChunk];
            std::fill_n(total, chunk.cols, 0.0);
            reducer.accumulate(chunk, sums, total);
            for (int64_t i = 0; i < chunk.cols; ++i) acc[i] = {total[i] / n, 0};
            reducer.accumulate(chunk, squares, acc);
            chunk.write(means.data_as<T>(), [&](int64_t i) { return static_cast<T>(acc[i].mean); });
            chunk.write(variance.data_as<T>(), [&](int64_t i) {
                double v = acc[i].squares / freedom;
                return static_cast<T>(root ? std::sqrt(v) : v);
            });
        });
    });
    return {variance, means};
}

// sqrt(sum |x|^2), by way of |x / max| where the squares leave the range of T.
Tensor two_norm(const Tensor& self, const Dims& dims, bool keepdim, const char* op) {
    Reducer reducer(self, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), real_dtype(self.dtype()));
    bool safe = true;
    dispatch_floating(out.dtype(), op, [&]<class T> {
        constexpr double low = static_cast<double>(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
        fill_results<double, T>(reducer, out, tile_loop(Reduction::SquareSum, self.dtype(), op), 0.0, 0, [&](double a) {
            safe &= a == 0 || std::isnan(a) || (a > low && a < std::numeric_limits<double>::infinity());
            return static_cast<T>(std::sqrt(a));
        });
        if (reducer.count() == 0) return;
        // A sum that is 0 may have underflowed in the lanes; only zeros give an exact 0.
        for (int64_t i = 0; i < out.numel(); ++i) safe &= out.data_as<T>()[i] != 0;
        if (safe) return;
        Tensor magnitude = is_complex(self.dtype()) ? absolute(self) : self;
        Reducer again(magnitude, dims, keepdim);
        Tensor largest = empty(again.out_sizes(), out.dtype());
        fill_results<T, T>(again, largest, tile_loop(Reduction::AbsMax, out.dtype(), op), T{0}, 0, [](T a) { return a; });
        Tensor wide = to_dtype(magnitude, DType::Float64);
        if (wide.is_same(magnitude)) wide = clone(magnitude);
        // Scale by the largest element of everything: one pass more, only for data out of range.
        for (int64_t i = 0; i < largest.numel(); ++i) {
            double m = largest.data_as<T>()[i];
            if (m == 0 || !std::isfinite(m)) out.data_as<T>()[i] = static_cast<T>(m);
        }
        Reducer scaled(wide, dims, keepdim);
        TileLoop squares = tile_loop(Reduction::SquareSum, DType::Float64, op);
        scaled.chunks([&](const Reducer::Chunk& chunk) {
            for (int64_t i = 0; i < chunk.cols; ++i) {
                int64_t at = chunk.out + i * chunk.out_stride;
                double m = largest.data_as<T>()[at];
                if (m == 0 || !std::isfinite(m)) continue;
                Reducer::Chunk one = chunk;
                one.cols = 1;
                one.in += i * chunk.col_stride * static_cast<int64_t>(sizeof(double));
                double total = 0;
                if constexpr (std::is_same_v<T, double>) {
                    // |x|^p with x scaled: sum (x / m)^2 through the power loop would round twice; scale by a power of 2
                    int exponent;
                    std::frexp(m, &exponent);
                    scaled.accumulate(one, squares, &total, 0);
                    if (total < low || total > std::numeric_limits<double>::max()) total = -exponent;
                    else exponent = 0;
                    if (exponent == 0) {
                        out.data_as<T>()[at] = std::sqrt(total);
                        continue;
                    }
                } else {
                    scaled.accumulate(one, squares, &total, 0);
                    out.data_as<T>()[at] = static_cast<T>(std::sqrt(total));
                }
            }
        });
    });
    return out;
}

}  // namespace
}  // namespace wengert::kernels
