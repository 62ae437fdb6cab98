// gather, scatter and take on the CPU (kernels/indexing/indexing.h).
#include <limits>

#include "backends/cpu/indexing/targets.h"
#include "kernels/indexing/indexing_kernels.h"

namespace wengert::kernels {
namespace {

void gather(const Tensor& out, const Tensor& self, const Along& a) {
    const int64_t* k0 = a.index.data_as<int64_t>();
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        StridedWalk<3>(out.sizes(), {out.strides(), a.index.strides(), a.strides})
            .rows_in_parallel([&](const std::array<int64_t, 3>& at, int64_t n, const std::array<int64_t, 3>& step) {
                T* to = out.data_as<T>() + at[0];
                const int64_t* k = k0 + at[1];
                const T* from = self.data_as<T>() + at[2];
                const auto [to_step, k_step, from_step] = step;
                const int64_t stride = a.stride;
                if (to_step == 1 && k_step == 1 && from_step == 0 && stride == 1) {
                    for (int64_t i = 0; i < n; ++i) to[i] = from[k[i]];
                } else {
                    for (int64_t i = 0; i < n; ++i, to += to_step, k += k_step, from += from_step)
                        *to = from[*k * stride];
                }
            });
    });
}

// Elements that replace what is there, moved by their size.
void put(const Tensor& self, const Along& a, const void* src, IntSpan src_strides) {
    dispatch_size(item_size(self.dtype()), [&]<class Word> {
        for_each_target<Word, false>(self, a, static_cast<const Word*>(src), src_strides,
                                     [](Word& to, const Word& s) { to = s; });
    });
}

void put_number(const Tensor& self, const Along& a, const Scalar& number) {
    alignas(16) char element[16];
    dispatch_stored(self.dtype(), [&]<class T> { new (element) T(number.to<T>()); });
    put(self, a, element, Dims(a.index.sizes().size(), 0));
}

template <class T>
void add(const Tensor& self, const Along& a, const T* src, IntSpan src_strides) {
    for_each_target<T>(self, a, src, src_strides, [](T& to, const T& s) { to = static_cast<T>(to + s); });
}

template <class T>
void divide(const Tensor& self, const Tensor& count) {
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

// How many elements each place of `self` is the mean of.
Tensor count_targets(const Tensor& self, int64_t dim, const Tensor& index, bool include_self) {
    Tensor count = full(self.sizes(), include_self, DType::Int64);
    const int64_t one = 1;
    add(count, Along(count, dim, index, "scatter_reduce"), &one, Dims(index.sizes().size(), 0));
    return count;
}

// What changes nothing when it is reduced with others.
Scalar identity_of(ScatterReduce reduce, DType dtype) {
    if (reduce == ScatterReduce::Prod) return 1;
    const bool max = reduce == ScatterReduce::Amax;
    if (!max && reduce != ScatterReduce::Amin) return 0;
    Scalar identity;
    dispatch(dtype, [&]<class T> {
        if constexpr (!wengert::is_complex(dtype_of<T>)) {
            using L = std::numeric_limits<T>;
            if constexpr (L::has_infinity)
                identity = max ? -L::infinity() : L::infinity();
            else
                identity = max ? L::lowest() : L::max();
        }
    });
    return identity;
}

void scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& from, ScatterReduce reduce,
                    bool include_self) {
    const Along a(self, dim, index, "scatter_reduce");
    if (!include_self) put_number(self, a, identity_of(reduce, self.dtype()));
    dispatch(self.dtype(), [&]<class T> {
        const T* s = from.data_as<T>();
        if (reduce == ScatterReduce::Sum) add(self, a, s, from.strides());
        if (reduce == ScatterReduce::Prod)
            for_each_target<T>(self, a, s, from.strides(), [](T& to, const T& x) { to = static_cast<T>(to * x); });
        if (reduce == ScatterReduce::Mean) {
            add(self, a, s, from.strides());
            divide<T>(self, count_targets(self, dim, a.index, include_self));
        }
        if constexpr (!wengert::is_complex(dtype_of<T>)) {
            if (reduce == ScatterReduce::Amax)
                for_each_target<T>(self, a, s, from.strides(),
                                   [](T& to, const T& x) { to = x > to || x != x ? x : to; });
            if (reduce == ScatterReduce::Amin)
                for_each_target<T>(self, a, s, from.strides(),
                                   [](T& to, const T& x) { to = x < to || x != x ? x : to; });
        }
    });
}

void check_flat(const Tensor& index, int64_t numel, const char* op) {
    const int64_t* p = index.data_as<int64_t>();
    if (all_within(p, index.numel(), -numel, numel)) [[likely]]
        return;
    for (int64_t i = 0; i < index.numel(); ++i)
        if (p[i] < -numel || p[i] >= numel)
            fail(ErrorKind::Index, op, "(): out of range: tried to access index ", p[i], " on a tensor of ", numel,
                 " elements.");
}

void take(const Tensor& out, const Tensor& self, const Tensor& index) {
    const int64_t numel = self.numel();
    check_flat(index, numel, "take");
    const int64_t* k = index.data_as<int64_t>();
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        const T* from = self.data_as<T>();
        T* to = out.data_as<T>();
        for (int64_t i = 0, n = out.numel(); i < n; ++i) to[i] = from[k[i] + (k[i] >> 63 & numel)];
    });
}

}  // namespace

using Scatter = void(Result, int64_t, const Tensor&, const Tensor&);

constinit DeviceKernel<void(Result, const Tensor&, int64_t, const Tensor&)> gather_kernel{
    "gather",
    [](Result out, const Tensor& self, int64_t dim, const Tensor& index) {
        gather(out, self, Along(self, dim, index, "gather"));
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<Scatter> scatter_kernel{"scatter_",
                                               [](Result self, int64_t dim, const Tensor& index, const Tensor& src) {
                                                   put(self, Along(self, dim, index, "scatter"), src.data(),
                                                       src.strides());
                                               },
                                               HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<Scatter> scatter_add_kernel{
    "scatter_add_",
    [](Result self, int64_t dim, const Tensor& index, const Tensor& src) {
        const Along a(self, dim, index, "scatter_add");
        dispatch(src.dtype(), [&]<class T> { add(self, a, src.data_as<T>(), src.strides()); });
    },
    HostWaits::ForErrors};

constinit DeviceKernel<void(Result, int64_t, const Tensor&, const Scalar&)> scatter_value_kernel{
    "scatter_",
    [](Result self, int64_t dim, const Tensor& index, const Scalar& value) {
        put_number(self, Along(self, dim, index, "scatter"), value);
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<void(Result, int64_t, const Tensor&, const Tensor&, ScatterReduce, bool)> scatter_reduce_kernel{
    "scatter_reduce_",
    [](Result self, int64_t dim, const Tensor& index, const Tensor& src, ScatterReduce reduce, bool include_self) {
        scatter_reduce(self, dim, index, src, reduce, include_self);
    },
    HostWaits::ForErrors};

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> take_kernel{
    "take", [](Result out, const Tensor& self, const Tensor& index) { take(out, self, index); }, HostWaits::ForErrors,
    Elements::Stored};

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> put_kernel{
    "put_",
    [](Result self, const Tensor& index, const Tensor& source, bool accumulate) {
        const int64_t numel = self->numel();
        check_flat(index, numel, "put_");
        const int64_t* k = index.data_as<int64_t>();
        const auto each = [&]<class T>(auto write) {
            const T* from = source.data_as<T>();
            T* to = self->data_as<T>();
            for (int64_t i = 0, n = index.numel(); i < n; ++i) write(to[k[i] + (k[i] >> 63 & numel)], from[i]);
        };
        if (accumulate)
            dispatch(self->dtype(), [&]<class T> {
                each.template operator()<T>([](T& to, const T& s) { to = static_cast<T>(to + s); });
            });
        else
            dispatch_size(item_size(self->dtype()),
                          [&]<class T> { each.template operator()<T>([](T& to, const T& s) { to = s; }); });
    },
    HostWaits::ForErrors};

}  // namespace wengert::kernels
