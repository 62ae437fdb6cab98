// Reading and writing the block that an IndexPlan describes, and finding what is not zero (kernels/indexing/indexing.h).
#include <cstring>

#include "backends/cpu/indexing/index_runs.h"
#include "kernels/indexing/indexing_kernels.h"
#include "kernels/reductions/reduce.h"

namespace wengert::kernels {
namespace {

template <class T>
[[gnu::always_inline]] inline void copy_run(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t n) {
    if (n == 1) {
        *to = *from;
    } else if (to_stride == 1 && from_stride == 1 && n >= 8) {
        std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
        for (int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
    }
}

// out = the block
void read_block(const Tensor& self, const IndexRuns& block, const Tensor& out) {
    if (out.numel() == 0) return;
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        T* to = out.data_as<T>();
        const T* from = self.data_as<T>();
        block.runs_in_parallel(out.strides(), [=](int64_t self_at, int64_t out_at, int64_t n, int64_t self_stride,
                                                  int64_t out_stride) __attribute__((always_inline)) {
            copy_run(to + out_at, out_stride, from + self_at, self_stride, n);
        });
    });
}

// Zeros where not the last element of the index wrote. `out` is the block, contiguous; `lasts` lie in `before` of its parts.
void clear_overwritten(const Tensor& out, int64_t before, const std::vector<uint8_t>& lasts) {
    const auto n = static_cast<int64_t>(lasts.size());
    const int64_t run = out.numel() / (before * n);
    dispatch_size(item_size(out.dtype()), [&]<class T> {
        T* part = out.data_as<T>();
        for (int64_t b = 0; b < before; ++b, part += n * run) {
            const uint8_t* last = lasts.data();
            if (run == 1)
                for (int64_t i = 0; i < n; ++i) part[i] = last[i] ? part[i] : T{};
            else
                for (int64_t i = 0; i < n; ++i)
                    if (!last[i]) std::fill_n(part + i * run, run, T{});
        }
    });
}

// the block = values
void write_block(const Tensor& self, const IndexRuns& block, const Tensor& values) {
    if (!block.has_elements()) return;
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        T* to = self.data_as<T>();
        const T* from = values.data_as<T>();
        block.runs(values.strides(), [=](int64_t self_at, int64_t at, int64_t n, int64_t self_stride, int64_t stride) {
            copy_run(to + self_at, self_stride, from + at, stride, n);
        });
    });
}

// the block += alpha * values
void add_block(const Tensor& self, const IndexRuns& block, const Tensor& values, const Scalar& alpha) {
    if (!block.has_elements()) return;
    dispatch(self.dtype(), [&]<class T> {
        T* to = self.data_as<T>();
        const T* from = values.data_as<T>();
        const T factor = alpha.to<T>();
        const bool plain = factor == T(1);
        block.runs(values.strides(), [=](int64_t self_at, int64_t at, int64_t n, int64_t self_stride, int64_t stride) {
            T* __restrict d = to + self_at;
            const T* __restrict s = from + at;
            if (plain && self_stride == 1 && stride == 1) {
                for (int64_t i = 0; i < n; ++i) d[i] = static_cast<T>(d[i] + s[i]);
            } else if (plain) {
                for (int64_t i = 0; i < n; ++i) d[i * self_stride] = static_cast<T>(d[i * self_stride] + s[i * stride]);
            } else {
                for (int64_t i = 0; i < n; ++i)
                    d[i * self_stride] = static_cast<T>(d[i * self_stride] + factor * s[i * stride]);
            }
        });
    });
}

// The positions of the elements that are not zero, in order.
void write_positions(const Tensor& self, int64_t* row) {
    const int64_t ndim = self.dim();
    const int64_t last = self.sizes()[ndim - 1], step = self.strides()[ndim - 1];
    Dims at(ndim - 1, 0);
    dispatch(self.dtype(), [&]<class T> {
        const T* p = self.data_as<T>();
        for (;;) {
            for (int64_t i = 0; i < last; ++i) {
                if (p[i * step] == T{}) continue;
                std::copy(at.begin(), at.end(), row);
                row[ndim - 1] = i;
                row += ndim;
            }
            int64_t d = ndim - 2;
            for (; d >= 0; --d) {
                p += self.strides()[d];
                if (++at[d] < self.sizes()[d]) break;
                p -= self.strides()[d] * self.sizes()[d];
                at[d] = 0;
            }
            if (d < 0) return;
        }
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const IndexPlan&, TensorSpan)> index_kernel{
    "index",
    [](Result out, const Tensor& self, const IndexPlan& plan, TensorSpan indices) {
        read_block(self, IndexRuns(self, plan, indices), out);
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<void(Result, const Tensor&, const IndexPlan&, TensorSpan)> index_survivors_kernel{
    "index_survivors",
    [](Result out, const Tensor& self, const IndexPlan& plan, TensorSpan indices) {
        const IndexRuns block(self, plan, indices);
        if (out->numel() == 0) return;
        read_block(self, block, out);
        clear_overwritten(out, numel_of(plan.before_sizes), block.lasts(self.numel()));
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<void(Result, const Tensor&, const IndexPlan&, TensorSpan)> index_put_kernel{
    "index_put_",
    [](Result self, const Tensor& values, const IndexPlan& plan, TensorSpan indices) {
        write_block(self, IndexRuns(self, plan, indices), values);
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<void(Result, const Tensor&, const Scalar&, const IndexPlan&, TensorSpan)> index_add_kernel{
    "index_add_",
    [](Result self, const Tensor& values, const Scalar& alpha, const IndexPlan& plan, TensorSpan indices) {
        add_block(self, IndexRuns(self, plan, indices), values, alpha);
    },
    HostWaits::ForErrors};

constinit DeviceKernel<int64_t(const Tensor&)> nonzero_count_kernel{
    "nonzero", [](const Tensor& self) { return *count_nonzero(self).data_as<int64_t>(); }};
constinit DeviceKernel<void(Result, const Tensor&)> nonzero_kernel{
    "nonzero", [](Result out, const Tensor& self) { write_positions(self, out->data_as<int64_t>()); }};

}  // namespace wengert::kernels
