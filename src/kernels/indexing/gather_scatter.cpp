// gather, scatter and take: one index per element (see indexing.h).
//
// Self is walked with stride 0 along `dim`; the index supplies the missing term.
#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/index_plan.h"
#include "kernels/indexing/indexing.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

struct Along {
    int64_t dim, size, stride;
    Tensor index;  // int64; dense but for the dimensions that were expanded
    Dims strides;  // of self, with 0 at dim
};

Along along(const Tensor& self, int64_t dim, const Tensor& index, const char* op) {
    Along a{wrap_dim(dim, self.dim(), op), 1, 0, {}, self.strides()};
    check(std::max<int64_t>(self.dim(), 1) == std::max<int64_t>(index.dim(), 1) || index.numel() == 0,
          ErrorKind::Runtime, "[", op, "] Index tensor must have the same number of dimensions as input tensor: got ",
          index.dim(), " and ", self.dim());
    Dims once = index.sizes();  // without repetitions
    for (size_t d = 0; d < once.size(); ++d)
        if (index.strides()[d] == 0) once[d] = std::min<int64_t>(once[d], 1);
    const Tensor distinct = dense_index(alias(index, once, index.strides(), index.offset()), op);
    a.index = expand(distinct, index.sizes());
    if (self.dim() > 0) {
        a.size = self.sizes()[a.dim];
        a.stride = self.strides()[a.dim];
        a.strides[a.dim] = 0;
    }
    a.strides.resize(index.sizes().size());
    const int64_t *p = distinct.data_as<int64_t>(), count = distinct.numel();
    bool fits = true;
    for (int64_t i = 0; i < count; ++i) fits &= (p[i] >= 0) & (p[i] < a.size);
    for (int64_t i = 0; !fits && i < count; ++i)
        if (p[i] < 0 || p[i] >= a.size) [[unlikely]]
            fail(ErrorKind::Index, "[", op, "] index ", p[i], " is out of bounds for dimension ", a.dim, " with size ",
                 a.size);
    for (int64_t d = 0; d < self.dim() && index.numel() > 0; ++d)
        check(d == a.dim || index.dim() == 0 || index.sizes()[d] <= self.sizes()[d], ErrorKind::Runtime, "[", op,
              "] Size does not match at dimension ", d, " expected index ", ShapeOf{index.sizes()},
              " to be no larger than self ", ShapeOf{self.sizes()}, " apart from dimension ", a.dim);
    return a;
}

void check_source(const Tensor& self, const Along& a, const Tensor& index, const Tensor& src, const char* op) {
    check(self.dtype() == src.dtype(), ErrorKind::Runtime, "[", op,
          "] Expected self.dtype to be equal to src.dtype, got ", self.dtype(), " and ", src.dtype());
    check(index.numel() == 0 || std::max<int64_t>(src.dim(), 1) == std::max<int64_t>(index.dim(), 1),
          ErrorKind::Runtime, "[", op, "] Index tensor must have the same number of dimensions as src tensor");
    for (int64_t d = 0; d < std::min(index.dim(), src.dim()) && index.numel() > 0; ++d)
        check(index.sizes()[d] <= src.sizes()[d], ErrorKind::Runtime, "[", op, "] Expected index ",
              ShapeOf{index.sizes()}, " to be no larger than self ", ShapeOf{self.sizes()}, " apart from dimension ",
              a.dim, " and to be no larger size than src ", ShapeOf{src.sizes()});
}

// Calls f(self element, src element) in the order of the index elements.
template <class T, class F>
void for_each_target(const Tensor& self, const Along& a, const T* src, IntSpan src_strides, F f) {
    const int64_t* index = a.index.data_as<int64_t>();
    Dims steps(src_strides);
    steps.resize(a.index.sizes().size());
    T* base = self.data_as<T>();
    StridedWalk<3>(a.index.sizes(), {a.strides, a.index.strides(), steps})
        .rows([&](const std::array<int64_t, 3>& at, int64_t n, const std::array<int64_t, 3>& step) {
            T* to = base + at[0];
            const int64_t* k = index + at[1];
            const T* s = src + at[2];
            for (int64_t i = 0; i < n; ++i) f(to[i * step[0] + k[i * step[1]] * a.stride], s[i * step[2]]);
        });
}

Tensor apart_from(const Tensor& src, const Tensor& self) { return src.storage() == self.storage() ? clone(src) : src; }

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) {
    Along a = along(self, dim, index, "gather");
    Tensor out = empty(index.sizes(), self.dtype());
    const int64_t* k0 = a.index.data_as<int64_t>();
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        StridedWalk<3>(index.sizes(), {out.strides(), a.index.strides(), a.strides})
            .rows_in_parallel([&](const std::array<int64_t, 3>& at, int64_t n, const std::array<int64_t, 3>& step) {
                T* to = out.data_as<T>() + at[0];
                const int64_t* k = k0 + at[1];
                const T* from = self.data_as<T>() + at[2];
                if (step[0] == 1 && step[1] == 1 && step[2] == 0 && a.stride == 1) {
                    for (int64_t i = 0; i < n; ++i) to[i] = from[k[i]];
                } else {
                    for (int64_t i = 0; i < n; ++i) to[i * step[0]] = from[i * step[2] + k[i * step[1]] * a.stride];
                }
            });
    });
    return out;
}

Tensor gather_backward(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index) {
    Tensor out = zeros(sizes, grad.dtype());
    scatter_add_(out, dim, index, grad);
    return out;
}

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    Along a = along(self, dim, index, "scatter");
    check_source(self, a, index, src, "scatter");
    Tensor from = apart_from(src, self);
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        for_each_target<T>(self, a, from.data_as<T>(), from.strides(), [](T& to, const T& s) { to = s; });
    });
}

void scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    Along a = along(self, dim, index, "scatter");
    dispatch(self.dtype(), [&]<class T> {
        const T number = value.to<T>();
        for_each_target<T>(self, a, &number, Dims(index.sizes().size(), 0), [](T& to, const T& s) { to = s; });
    });
}

void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    Along a = along(self, dim, index, "scatter_add");
    check_source(self, a, index, src, "scatter_add");
    Tensor from = apart_from(src, self);
    dispatch(self.dtype(), [&]<class T> {
        for_each_target<T>(self, a, from.data_as<T>(), from.strides(),
                           [](T& to, const T& s) { to = static_cast<T>(to + s); });
    });
}

namespace {

template <class T>
void scatter_mean(const Tensor& self, const Along& a, const Tensor& src, bool include_self) {
    Tensor count = full(self.sizes(), include_self, DType::Int64), ones = full(src.sizes(), 1, DType::Int64);
    scatter_add_(count, a.dim, a.index, ones);
    for_each_target<T>(self, a, src.data_as<T>(), src.strides(),
                       [](T& to, const T& s) { to = static_cast<T>(to + s); });
    StridedWalk<2>(self.sizes(), {self.strides(), count.strides()}).elements([&](const std::array<int64_t, 2>& at) {
        int64_t n = count.data_as<int64_t>()[at[1]];
        if (n <= 1) return;
        T& x = self.data_as<T>()[at[0]];
        if constexpr (std::is_integral_v<T>) {  // rounds towards minus infinity
            int64_t total = x, quotient = total / n;
            x = static_cast<T>(quotient - (total % n < 0));
        } else {
            x /= static_cast<T>(n);
        }
    });
}

}  // namespace

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                     bool include_self) {
    const bool is_sum = reduce == "sum", is_prod = reduce == "prod", is_mean = reduce == "mean",
               is_max = reduce == "amax", is_min = reduce == "amin";
    check(is_sum || is_prod || is_mean || is_max || is_min, ErrorKind::Runtime,
          "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
    Along a = along(self, dim, index, "scatter_reduce");
    check_source(self, a, index, src, "scatter_reduce");
    check(!is_complex(self.dtype()) || is_sum || is_prod || is_mean, ErrorKind::Runtime,
          "[scatter_reduce] amax and amin need ordered numbers, got ", self.dtype());
    Tensor from = apart_from(src, self);
    dispatch(self.dtype(), [&]<class T> {
        const T* s = from.data_as<T>();
        if (!include_self) {
            T start = T(is_prod ? 1 : 0);
            if constexpr (!std::is_same_v<T, complex64> && !std::is_same_v<T, complex128>) {
                using L = std::numeric_limits<T>;
                if (is_max) start = L::has_infinity ? static_cast<T>(-L::infinity()) : L::lowest();
                if (is_min) start = L::has_infinity ? L::infinity() : L::max();
            }
            for_each_target<T>(self, a, s, from.strides(), [=](T& to, const T&) { to = start; });
        }
        if (is_mean) return scatter_mean<T>(self, a, from, include_self);
        if (is_sum)
            for_each_target<T>(self, a, s, from.strides(), [](T& to, const T& x) { to = static_cast<T>(to + x); });
        if (is_prod)
            for_each_target<T>(self, a, s, from.strides(), [](T& to, const T& x) { to = static_cast<T>(to * x); });
        if constexpr (!std::is_same_v<T, complex64> && !std::is_same_v<T, complex128>) {
            if (is_max)
                for_each_target<T>(self, a, s, from.strides(),
                                   [](T& to, const T& x) { to = x > to || x != x ? x : to; });
            if (is_min)
                for_each_target<T>(self, a, s, from.strides(),
                                   [](T& to, const T& x) { to = x < to || x != x ? x : to; });
        }
    });
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    Tensor out = clone(self);
    scatter_(out, dim, index, src);
    return out;
}
Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    Tensor out = clone(self);
    scatter_value_(out, dim, index, value);
    return out;
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    Tensor out = clone(self);
    scatter_add_(out, dim, index, src);
    return out;
}
Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self) {
    Tensor out = clone(self);
    scatter_reduce_(out, dim, index, src, reduce, include_self);
    return out;
}

// --- Flat positions

namespace {

void check_flat_index(const Tensor& index, int64_t numel, const char* op) {
    check(index.dtype() == DType::Int64, ErrorKind::Runtime, op, "(): Expected a long tensor for index, but got ",
          index.dtype());
    check(numel > 0 || index.numel() == 0, ErrorKind::Index, op, "(): tried to take from an empty tensor");
    Tensor dense = contiguous(index);
    const int64_t* p = dense.data_as<int64_t>();
    bool fits = true;
    for (int64_t i = 0; i < dense.numel(); ++i) fits &= (p[i] >= -numel) & (p[i] < numel);
    for (int64_t i = 0; !fits && i < dense.numel(); ++i)
        if (p[i] < -numel || p[i] >= numel) [[unlikely]]
            fail(ErrorKind::Index, op, "(): out of range: tried to access index ", p[i], " on a tensor of ", numel,
                 " elements.");
}

// Dense, and counted from the front.
Tensor flat_index(const Tensor& index, int64_t numel, const char* op) {
    check_flat_index(index, numel, op);
    Tensor dense = contiguous(index), out = empty(dense.sizes(), DType::Int64);
    const int64_t* p = dense.data_as<int64_t>();
    int64_t* to = out.data_as<int64_t>();
    for (int64_t i = 0; i < out.numel(); ++i) to[i] = p[i] < 0 ? p[i] + numel : p[i];
    return alias(out, Dims{out.numel()}, Dims{1}, out.offset());
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
    const int64_t numel = self.numel();
    check_flat_index(index, numel, "take");
    Tensor dense = contiguous(self), places = contiguous(index), out = empty(index.sizes(), self.dtype());
    const int64_t* k = places.data_as<int64_t>();
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        const T* from = dense.data_as<T>();
        T* to = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i) to[i] = from[k[i] < 0 ? k[i] + numel : k[i]];
    });
    return out;
}

Tensor take_backward(const Tensor& grad, IntSpan sizes, const Tensor& index) {
    Tensor out = zeros(sizes, grad.dtype());
    put_(out, index, grad, true);
    return out;
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
    check(index.numel() == source.numel(), ErrorKind::Runtime,
          "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
          source.numel(), ", index.numel() = ", index.numel());
    Tensor flat = flat_index(index, self.numel(), "put_"), from = contiguous(apart_from(source, self));
    from = alias(from, Dims{from.numel()}, Dims{1}, from.offset());
    Tensor to = contiguous(self);
    Tensor line = alias(to, Dims{to.numel()}, Dims{1}, to.offset());
    accumulate ? scatter_add_(line, 0, flat, from) : scatter_(line, 0, flat, from);
    if (!to.is_same(self)) copy_into(self, to);
}

}  // namespace wengert::kernels
