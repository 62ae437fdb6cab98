// index, index_put and the index_* functions: all of them read or write the block that an IndexPlan describes.
#include "kernels/indexing/indexing.h"

#include <cstring>

#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/index_plan.h"
#include "kernels/reductions/reduce.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

template <class T>
void copy_run(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t n) {
    if (n == 1) {
        *to = *from;
    } else if (to_stride == 1 && from_stride == 1 && n >= 8) {
        std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
        for (int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
    }
}

// out = the block
void read_block(const Tensor& self, const IndexPlan& plan, const Tensor& out) {
    if (out.numel() == 0) return;
    Dims strides = contiguous_strides(plan.result_sizes());
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        T* to = out.data_as<T>();
        const T* from = self.data_as<T>();
        plan.runs_in_parallel(strides,
                              [=](int64_t self_at, int64_t out_at, int64_t n, int64_t self_stride, int64_t out_stride) {
                                  copy_run(to + out_at, out_stride, from + self_at, self_stride, n);
                              });
    });
}

// the block = values; strides: of values, broadcast to the block
void write_block(const Tensor& self, const IndexPlan& plan, const Tensor& values, IntSpan strides) {
    if (numel_of(plan.result_sizes()) == 0) return;
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        T* to = self.data_as<T>();
        const T* from = values.data_as<T>();
        plan.runs(strides, [=](int64_t self_at, int64_t at, int64_t n, int64_t self_stride, int64_t stride) {
            copy_run(to + self_at, self_stride, from + at, stride, n);
        });
    });
}

// the block += alpha * values
void add_block(const Tensor& self, const IndexPlan& plan, const Tensor& values, IntSpan strides, const Scalar& alpha) {
    if (numel_of(plan.result_sizes()) == 0) return;
    dispatch(self.dtype(), [&]<class T> {
        T* to = self.data_as<T>();
        const T* from = values.data_as<T>();
        const T factor = alpha.to<T>();
        const bool plain = factor == T(1);
        plan.runs(strides, [=](int64_t self_at, int64_t at, int64_t n, int64_t self_stride, int64_t stride) {
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

// Values that share memory with self would change while they are read.
Tensor apart_from(const Tensor& values, const Tensor& self) {
    return values.storage() == self.storage() ? clone(values) : values;
}

void check_same_dtype(const Tensor& self, const Tensor& source, const char* op) {
    check(self.dtype() == source.dtype(), ErrorKind::Runtime, op,
          "(): self and source expected to have the same dtype, but got (self) ", self.dtype(), " and (source) ",
          source.dtype());
}

}  // namespace

Tensor index(const Tensor& self, TensorSpan indices) {
    Tensor seen = self;
    IndexPlan plan = plan_index(seen, indices);
    Tensor out = empty(plan.result_sizes(), self.dtype());
    read_block(seen, plan, out);
    return out;
}

void index_put_(const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate) {
    check(self.dtype() == values.dtype(), ErrorKind::Runtime,
          "Index put requires the source and destination dtypes match, got ", self.dtype(), " for the destination and ",
          values.dtype(), " for the source.");
    Tensor seen = self;
    IndexPlan plan = plan_index(seen, indices);
    Dims sizes = plan.result_sizes();
    Tensor source = values;
    while (source.dim() > static_cast<int64_t>(sizes.size()) && source.sizes()[0] == 1) source = select(source, 0, 0);
    check(is_broadcastable_to(source.sizes(), sizes), ErrorKind::Runtime, "shape mismatch: value tensor of shape ",
          ShapeOf{values.sizes()}, " cannot be broadcast to indexing result of shape ", ShapeOf{sizes});
    source = apart_from(source, self);
    Dims strides = broadcast_strides(source, sizes);
    accumulate ? add_block(seen, plan, source, strides, 1) : write_block(seen, plan, source, strides);
}

Tensor index_put(const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate) {
    Tensor out = clone(self);
    index_put_(out, indices, values, accumulate);
    return out;
}

Tensor index_backward(const Tensor& grad, IntSpan sizes, TensorSpan indices) {
    Tensor out = zeros(sizes, grad.dtype());
    index_put_(out, indices, grad, true);
    return out;
}

Tensor nonzero(const Tensor& self) {
    const int64_t n = count_nonzero(self).data_as<int64_t>()[0], ndim = self.dim();
    Tensor out = empty(Dims{n, ndim}, DType::Int64);
    if (n == 0 || ndim == 0) return out;
    int64_t* row = out.data_as<int64_t>();
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
    return out;
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
    check(size >= 0, ErrorKind::Runtime, "nonzero_static: 'size' must be an non-negative integer, got ", size);
    const Tensor found = nonzero(self);
    Tensor out = full(Dims{size, self.dim()}, fill_value, DType::Int64);
    const int64_t n = std::min(size, found.size(0));
    copy_into(slice(out, 0, 0, n), slice(found, 0, 0, n));
    return out;
}

TensorList nonzero_numpy(const Tensor& self) {
    return unbind(nonzero(self.dim() == 0 ? alias(self, Dims{1}, Dims{1}, self.offset()) : self), 1);
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
    IndexPlan plan = plan_index_select(self, dim, index, false, "index_select");
    check(self.dim() > 0 || index.numel() == 1, ErrorKind::Runtime,
          "index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
    Tensor out = empty(self.dim() == 0 ? Dims{} : plan.result_sizes(), self.dtype());
    read_block(self, plan, out);
    return out;
}

Tensor index_select_backward(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index) {
    Tensor out = zeros(sizes, grad.dtype());
    index_add_(out, dim, index, grad);
    return out;
}

namespace {

// What index_add_ and index_copy_ check of their source; returns the plan.
IndexPlan plan_source(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const char* op) {
    check_same_dtype(self, source, op);
    IndexPlan plan = plan_index_select(self, dim, index, true, op);
    dim = wrap_dim(dim, self.dim(), op);
    const int64_t have = source.dim() == 0 ? 1 : source.dim() > dim ? source.sizes()[dim] : -1;
    check(have == index.numel(), ErrorKind::Index, op, "(): Number of indices (", index.numel(),
          ") should be equal to source.size(dim): (", have, "), for dim: ", dim);
    check(source.dim() == 0 || self.dim() == 0 || same_shape(source, empty(plan.result_sizes(), DType::Bool)),
          ErrorKind::Runtime, op,
          "(): source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
          ShapeOf{self.sizes()}, " source.shape = ", ShapeOf{source.sizes()});
    return plan;
}

Dims source_strides(const Tensor& self, const Tensor& source, const IndexPlan& plan) {
    if (self.dim() == 0 || source.dim() == 0) return Dims(plan.result_sizes().size(), 0);
    return source.strides();
}

}  // namespace

void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
    IndexPlan plan = plan_source(self, dim, index, source, "index_add_");
    Tensor from = apart_from(source, self);
    add_block(self, plan, from, source_strides(self, from, plan), alpha);
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    IndexPlan plan = plan_source(self, dim, index, source, "index_copy_");
    Tensor from = apart_from(source, self);
    write_block(self, plan, from, source_strides(self, from, plan));
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    check(!value.is_complex() || is_complex(self.dtype()), ErrorKind::Runtime,
          "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    index_fill_(self, dim, index, scalar_tensor(value, self.dtype()));
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    check(value.dim() == 0, ErrorKind::Runtime,
          "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
          " dimension(s).");
    IndexPlan plan = plan_index_select(self, dim, index, true, "index_fill_");
    const Tensor number = apart_from(to_dtype(value, self.dtype()), self);
    write_block(self, plan, number, Dims(plan.result_sizes().size(), 0));
}

void fill_with_(const Tensor& self, const Tensor& value) {
    check(value.dim() == 0, ErrorKind::Runtime, "fill_ only supports 0-dimension value tensor but got tensor with ",
          value.dim(), " dimensions.");
    copy_into(self, value);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
    Tensor out = clone(self);
    index_add_(out, dim, index, source, alpha);
    return out;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    Tensor out = clone(self);
    index_copy_(out, dim, index, source);
    return out;
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    Tensor out = clone(self);
    index_fill_(out, dim, index, value);
    return out;
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    Tensor out = clone(self);
    index_fill_(out, dim, index, value);
    return out;
}

}  // namespace wengert::kernels
