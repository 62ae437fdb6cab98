// gather, scatter and take on the CPU (kernels/indexing/indexing.h).
//
// Self is walked with stride 0 along `dim`; the index supplies the missing term.
#include <limits>
#include <memory>
#include <utility>

#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/indexing/bounds.h"
#include "kernels/indexing/indexing_kernels.h"

namespace wengert::kernels {
namespace {

struct Along {
    int64_t dim, size = 1, stride = 0;
    const Tensor& index;
    Dims strides;  // of self, with 0 at dim

    // An error where an index is out of bounds.
    Along(const Tensor& self, int64_t dim, const Tensor& index, const char* op)
        : dim(dim), index(index), strides(self.strides()) {
        if (self.dim() > 0) {
            size = self.sizes()[dim];
            stride = self.strides()[dim];
            strides[dim] = 0;
        }
        strides.resize(index.sizes().size());
        int64_t count = 1;  // of those that lie in memory, without repetitions
        for (size_t d = 0; d < index.sizes().size(); ++d)
            count *= index.strides()[d] == 0 ? std::min<int64_t>(index.sizes()[d], 1) : index.sizes()[d];
        const int64_t* p = index.data_as<int64_t>();
        if (all_within(p, count, 0, size)) [[likely]]
            return;
        for (int64_t i = 0; i < count; ++i)
            if (p[i] < 0 || p[i] >= size)
                fail(ErrorKind::Index, "[", op, "] index ", p[i], " is out of bounds for dimension ", dim,
                     " with size ", size);
    }
};

// Calls f(self element, src element) along several lines of a last dimension at once: what one call leaves in a place the next
// that names it has to wait for, and of different lines none does.
template <class T, class F>
void for_each_target_of_lines(T* self, const int64_t stride, const int64_t* index, const T* src, IntSpan sizes,
                              const std::array<IntSpan, 3>& strides, F f) {
    const size_t last = sizes.size() - 1;
    const int64_t n = sizes[last], k_step = strides[1][last], s_step = strides[2][last];
    const bool dense = stride == 1 && k_step == 1 && s_step == 1;
    const auto along = [=]<size_t... L>(const std::array<int64_t, 3>* at, std::index_sequence<L...>) {
        const std::array<T*, sizeof...(L)> to{self + at[L][0]...};
        const std::array<const int64_t*, sizeof...(L)> k{index + at[L][1]...};
        const std::array<const T*, sizeof...(L)> s{src + at[L][2]...};
        if (dense)
            for (int64_t i = 0; i < n; ++i) (f(to[L][k[L][i]], s[L][i]), ...);
        else
            for (int64_t i = 0; i < n; ++i) (f(to[L][k[L][i * k_step] * stride], s[L][i * s_step]), ...);
    };
    constexpr size_t kTogether = 4;
    std::array<std::array<int64_t, 3>, kTogether> lines;
    size_t count = 0;
    StridedWalk<3>(sizes.first(last), {strides[0].first(last), strides[1].first(last), strides[2].first(last)})
        .elements([&](const std::array<int64_t, 3>& at) {
            lines[count++] = at;
            if (count < kTogether) return;
            along(lines.data(), std::make_index_sequence<kTogether>());
            count = 0;
        });
    for (size_t l = 0; l < count; ++l) along(&lines[l], std::index_sequence<0>());
}

// The same along short lines: all elements of some lines that are the first in theirs, then all that are the second, ...
template <class T, class F>
void for_each_target_of_short_lines(T* self, const int64_t stride, const int64_t* index, const T* src, IntSpan sizes,
                                    const std::array<IntSpan, 3>& strides, F f) {
    constexpr int64_t kTogether = 64;
    const size_t last = sizes.size() - 1;
    const int64_t n = sizes[last], along_index = strides[1][last], along_src = strides[2][last];
    StridedWalk<3>(sizes.first(last), {strides[0].first(last), strides[1].first(last), strides[2].first(last)})
        .rows([=](const std::array<int64_t, 3>& at, int64_t lines, const std::array<int64_t, 3>& step) {
            const auto [to_step, k_step, s_step] = step;
            for (int64_t first = 0; first < lines; first += kTogether) {
                T* to = self + at[0] + first * to_step;
                const int64_t* k = index + at[1] + first * k_step;
                const T* s = src + at[2] + first * s_step;
                const int64_t count = std::min(kTogether, lines - first);
                for (int64_t i = 0; i < n; ++i, k += along_index, s += along_src)
                    for (int64_t l = 0; l < count; ++l) f(to[l * to_step + k[l * k_step] * stride], s[l * s_step]);
            }
        });
}

// Calls f(self element, src element), for each place in the order of the index elements. Several lines at once cost a little
// where f does not read what is there.
template <class T, bool kReads = true, class F>
void for_each_target(const Tensor& self, const Along& a, const T* src, IntSpan src_strides, F f) {
    const int64_t* index = a.index.data_as<int64_t>();
    Dims steps(src_strides);
    steps.resize(a.index.sizes().size());
    T* base = self.data_as<T>();
    const std::array<IntSpan, 3> strides{a.strides, a.index.strides(), steps};
    constexpr int64_t kLong = 16;
    if (a.dim > 0 && a.dim + 1 == a.index.dim()) {
        if (a.index.sizes()[a.dim] < kLong)
            return for_each_target_of_short_lines(base, a.stride, index, src, a.index.sizes(), strides, f);
        if (kReads) return for_each_target_of_lines(base, a.stride, index, src, a.index.sizes(), strides, f);
    }
    StridedWalk<3>(a.index.sizes(), strides)
        .rows([&](const std::array<int64_t, 3>& at, int64_t n, const std::array<int64_t, 3>& step) {
            T* to = base + at[0];
            const int64_t* k = index + at[1];
            const T* s = src + at[2];
            const auto [to_step, k_step, s_step] = step;  // what is written may alias all that is not local
            const int64_t stride = a.stride;
            if (to_step == 0 && k_step == 1 && s_step == 1 && stride == 1) {
                for (int64_t i = 0; i < n; ++i) f(to[k[i]], s[i]);
            } else {
                for (int64_t i = 0; i < n; ++i, to += to_step, k += k_step, s += s_step) f(to[*k * stride], *s);
            }
        });
}

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

// Zero if `taken`, which is 0 or 1, else the value: without a branch, which no processor could foresee.
template <class T>
T unless(uint8_t taken, T value) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(value & (T{taken} - 1));
    else
        return {{unless(taken, value.words[0]), unless(taken, value.words[1])}};
}

// What of a scatter survives, in a part of the tensors in which all indices name elements of that part: the elements of the
// index are walked from the last to the first, so that the first that names a place is the one that lasts there.
template <class T>
struct Survivors {
    StridedWalk<4> backwards;     // over out, index, self and marks, from their last elements
    int64_t of_element, of_mark;  // from a place to the next

    void gather(T* to, const int64_t* at, const T* from, uint8_t* taken) const {
        backwards.rows([=, this](const std::array<int64_t, 4>& start, int64_t n, const std::array<int64_t, 4>& step) {
            T* result = to + start[0];
            const int64_t *k = at + start[1], stride = of_element, mark_stride = of_mark;
            const T* element = from + start[2];
            uint8_t* mark = taken + start[3];
            const auto [result_step, k_step, element_step, mark_step] = step;
            const auto take = [](T& result, const T& element, uint8_t& mark) {
                result = unless(mark, element);
                mark = 1;
            };
            if (result_step == -1 && k_step == -1 && element_step == 0 && mark_step == 0 && stride == 1 &&
                mark_stride == 1) {
                for (int64_t i = 0; i > -n; --i) take(result[i], element[k[i]], mark[k[i]]);
            } else {
                for (int64_t i = 0; i < n; ++i, k += k_step, result += result_step)
                    take(*result, element[i * element_step + *k * stride], mark[i * mark_step + *k * mark_stride]);
            }
        });
    }
};

// Part by part of the dimensions before `dim` where these are large, so that the marks stay in the cache.
void gather_survivors(const Tensor& out, const Tensor& self, const Along& a, int64_t dim) {
    const IntSpan sizes = out.sizes();
    Dims marks = contiguous_strides(self.sizes());
    const int64_t of_mark = self.dim() == 0 ? 0 : std::exchange(marks[static_cast<size_t>(dim)], 0);
    marks.resize(sizes.size());
    constexpr int64_t kLargePart = 1 << 10;
    size_t before = std::min(static_cast<size_t>(dim), sizes.size());
    if (numel_of(sizes.subspan(before)) < kLargePart) before = 0;
    int64_t places = 1;
    for (size_t d = before; d < self.sizes().size(); ++d) places *= self.sizes()[d];
    const auto lead = [before](const Dims& all) { return IntSpan(all).first(before); };
    const StridedWalk<3> parts(sizes.first(before), {lead(out.strides()), lead(a.index.strides()), lead(a.strides)});
    const std::array<const Dims*, 4> strides{&out.strides(), &a.index.strides(), &a.strides, &marks};
    std::array<Dims, 4> back;
    std::array<int64_t, 4> last{};
    for (size_t k = 0; k < 4; ++k)
        for (size_t d = before; d < sizes.size(); ++d) {
            const int64_t stride = (*strides[k])[d];
            back[k].push_back(-stride);
            last[k] += (sizes[d] - 1) * stride;
        }
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        const Survivors<T> survivors{{sizes.subspan(before), {back[0], back[1], back[2], back[3]}}, a.stride, of_mark};
        T* to = out.data_as<T>() + last[0];
        const int64_t* index = a.index.data_as<int64_t>() + last[1];
        const T* from = self.data_as<T>() + last[2];
        parallel_for(parts.numel(), 1, [&](int64_t begin, int64_t end) {
            const std::unique_ptr<uint8_t[]> taken(new uint8_t[static_cast<size_t>(places)]);
            parts.elements_of(begin, end, [&](const std::array<int64_t, 3>& at) {
                std::fill_n(taken.get(), places, uint8_t{0});
                survivors.gather(to + at[0], index + at[1], from + at[2], taken.get() + last[3]);
            });
        });
    });
}

template <class T>
void scatter_mean(const Tensor& self, int64_t dim, const Along& a, const Tensor& src, bool include_self) {
    Tensor count = full(self.sizes(), include_self, DType::Int64);
    const int64_t one = 1;
    for_each_target<int64_t>(count, Along(count, dim, a.index, "scatter_reduce"), &one, Dims(a.index.sizes().size(), 0),
                             [](int64_t& n, const int64_t& more) { n += more; });
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

void scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& from, ScatterReduce reduce,
                    bool include_self) {
    const Along a(self, dim, index, "scatter_reduce");
    dispatch(self.dtype(), [&]<class T> {
        const T* s = from.data_as<T>();
        if (!include_self) {
            T start = T(reduce == ScatterReduce::Prod ? 1 : 0);
            if constexpr (!std::is_same_v<T, complex64> && !std::is_same_v<T, complex128>) {
                using L = std::numeric_limits<T>;
                if (reduce == ScatterReduce::Amax)
                    start = L::has_infinity ? static_cast<T>(-L::infinity()) : L::lowest();
                if (reduce == ScatterReduce::Amin) start = L::has_infinity ? L::infinity() : L::max();
            }
            for_each_target<T, false>(self, a, s, from.strides(), [=](T& to, const T&) { to = start; });
        }
        if (reduce == ScatterReduce::Mean) return scatter_mean<T>(self, dim, a, from, include_self);
        if (reduce == ScatterReduce::Sum)
            for_each_target<T>(self, a, s, from.strides(), [](T& to, const T& x) { to = static_cast<T>(to + x); });
        if (reduce == ScatterReduce::Prod)
            for_each_target<T>(self, a, s, from.strides(), [](T& to, const T& x) { to = static_cast<T>(to * x); });
        if constexpr (!std::is_same_v<T, complex64> && !std::is_same_v<T, complex128>) {
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

constinit DeviceKernel<void(Result, const Tensor&, int64_t, const Tensor&)> gather_survivors_kernel{
    "gather_survivors",
    [](Result out, const Tensor& self, int64_t dim, const Tensor& index) {
        const Along a(self, dim, index, "scatter");
        gather_survivors(out, self, a, dim);
    },
    HostWaits::ForErrors};

constinit DeviceKernel<Scatter> scatter_kernel{
    "scatter_",
    [](Result self, int64_t dim, const Tensor& index, const Tensor& src) {
        const Along a(self, dim, index, "scatter");
        dispatch_size(item_size(src.dtype()), [&]<class T> {
            for_each_target<T, false>(self, a, src.data_as<T>(), src.strides(), [](T& to, const T& s) { to = s; });
        });
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<Scatter> scatter_add_kernel{
    "scatter_add_",
    [](Result self, int64_t dim, const Tensor& index, const Tensor& src) {
        const Along a(self, dim, index, "scatter_add");
        dispatch(src.dtype(), [&]<class T> {
            for_each_target<T>(self, a, src.data_as<T>(), src.strides(),
                               [](T& to, const T& s) { to = static_cast<T>(to + s); });
        });
    },
    HostWaits::ForErrors};

constinit DeviceKernel<void(Result, int64_t, const Tensor&, const Scalar&)> scatter_value_kernel{
    "scatter_",
    [](Result self, int64_t dim, const Tensor& index, const Scalar& value) {
        const Along a(self, dim, index, "scatter");
        dispatch_stored(self->dtype(), [&]<class T> {
            const T number = value.to<T>();
            for_each_target<T, false>(self, a, &number, Dims(index.sizes().size(), 0),
                                      [](T& to, const T& s) { to = s; });
        });
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
