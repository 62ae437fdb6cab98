// Masks, and tables of rows (see indexing.h).
#include <algorithm>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/index_plan.h"
#include "kernels/indexing/indexing.h"
#include "kernels/reductions/reduce.h"
#include "kernels/shape/shape.h"
#include "tensor/representable.h"

namespace wengert::kernels {
namespace {

// Strides of `mask` seen in the shape of `self`.
Dims mask_strides(const Tensor& self, const Tensor& mask, const char* op) {
    check(mask.dtype() == DType::Bool, ErrorKind::Runtime, op, " only supports boolean masks, but got mask with dtype ",
          mask.dtype());
    broadcast_shapes(self.sizes(), mask.sizes(), op);  // the usual words if they do not fit at all
    check(is_broadcastable_to(mask.sizes(), self.sizes()), ErrorKind::Runtime, "[", op, "] output with shape ",
          ShapeOf{self.sizes()}, " doesn't match the broadcast shape of the mask ", ShapeOf{mask.sizes()});
    return broadcast_strides(mask, self.sizes());
}

Tensor broadcast_clone(const Tensor& self, const Tensor& mask, const char* op) {
    Dims shape = broadcast_shapes(self.sizes(), mask.sizes(), op);
    if (shape == self.sizes()) return clone(self);
    Tensor out = empty(shape, self.dtype());
    copy_into(out, self);
    return out;
}

template <class T>
void fill_where(const Tensor& self, const Tensor& mask, const Dims& strides, T value) {
    StridedWalk<2>(self.sizes(), {self.strides(), strides})
        .rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
            T* p = self.data_as<T>() + at[0];
            const bool* m = mask.data_as<bool>() + at[1];
            if (step[0] == 1 && step[1] == 1) {
                for (int64_t i = 0; i < n; ++i) p[i] = m[i] ? value : p[i];
            } else {
                for (int64_t i = 0; i < n; ++i)
                    if (m[i * step[1]]) p[i * step[0]] = value;
            }
        });
}

}  // namespace

Tensor masked_select(const Tensor& self, const Tensor& mask) {
    check(mask.dtype() == DType::Bool, ErrorKind::Runtime, "masked_select: expected BoolTensor for mask, got ",
          mask.dtype());
    Dims shape = broadcast_shapes(self.sizes(), mask.sizes(), "masked_select");
    Tensor seen = expand(mask, shape);
    Tensor out = empty(Dims{count_nonzero(seen).data_as<int64_t>()[0]}, self.dtype());
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        T* to = out.data_as<T>();
        Dims strides = broadcast_strides(self, shape);
        StridedWalk<2>(shape, {strides, seen.strides()})
            .rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                const T* p = self.data_as<T>() + at[0];
                const bool* m = seen.data_as<bool>() + at[1];
                for (int64_t i = 0; i < n; ++i)
                    if (m[i * step[1]]) *to++ = p[i * step[0]];
            });
    });
    return out;
}

void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
    check(self.dtype() == source.dtype(), ErrorKind::Runtime,
          "masked_scatter: expected self and source to have same dtypes but got ", self.dtype(), " and ",
          source.dtype());
    Dims strides = mask_strides(self, mask, "masked_scatter");
    int64_t wanted = count_nonzero(expand(mask, self.sizes())).data_as<int64_t>()[0];
    check(wanted <= source.numel(), ErrorKind::Runtime,
          "masked_scatter: Number of elements of source < number of ones in mask: ", source.numel(), " < ", wanted);
    Tensor from = contiguous(source.storage() == self.storage() ? clone(source) : source);
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        const T* next = from.data_as<T>();
        StridedWalk<2>(self.sizes(), {self.strides(), strides})
            .rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                T* p = self.data_as<T>() + at[0];
                const bool* m = mask.data_as<bool>() + at[1];
                for (int64_t i = 0; i < n; ++i)
                    if (m[i * step[1]]) p[i * step[0]] = *next++;
            });
    });
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
    Tensor out = broadcast_clone(self, mask, "masked_scatter");
    masked_scatter_(out, mask, source);
    return out;
}

Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntSpan sizes) {
    Tensor used = masked_select(grad, expand(mask, grad.sizes())), out = zeros(sizes, grad.dtype());
    check(used.numel() <= out.numel(), ErrorKind::Runtime, "[masked_scatter] a source of shape ", ShapeOf{sizes},
          " has too few elements for the ", used.numel(), " that the mask selects");
    std::copy_n(used.data(), used.numel() * item_size(grad.dtype()), out.data());
    return out;
}

Tensor masked_select_backward(const Tensor& grad, IntSpan sizes, const Tensor& mask) {
    Dims shape = broadcast_shapes(sizes, mask.sizes(), "masked_select");
    Tensor out = zeros(shape, grad.dtype());
    masked_scatter_(out, mask, grad);
    return sum_to_size(out, sizes);
}

// --- Tables of rows

Tensor embedding(const Tensor& weight, const Tensor& indices) {
    check(weight.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D, got shape ", ShapeOf{weight.sizes()});
    check(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, ErrorKind::Runtime,
          "[embedding] Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
          "but got ",
          indices.dtype());
    Tensor rows = index_select(weight, 0, reshape(indices, Dims{-1}));
    Dims sizes = indices.sizes();
    sizes.push_back(weight.sizes()[1]);
    return alias(rows, sizes, contiguous_strides(sizes), 0);
}

Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                bool scale_grad_by_freq) {
    const int64_t width = grad.sizes().back();
    Tensor index = dense_index(indices, "embedding_dense_backward"), dense = contiguous(grad);
    Tensor out = zeros(Dims{num_weights, width}, grad.dtype());
    const int64_t* k = index.data_as<int64_t>();
    std::vector<int64_t> count(scale_grad_by_freq ? num_weights : 0, 0);
    for (int64_t i = 0; i < index.numel(); ++i) {
        check(k[i] >= 0 && k[i] < num_weights, ErrorKind::Index, "index out of range in self: index ", k[i],
              " is out of bounds for dimension 0 with size ", num_weights);
        if (scale_grad_by_freq) ++count[k[i]];
    }
    dispatch_inexact(grad.dtype(), "embedding", [&]<class T> {
        const T* from = dense.data_as<T>();
        for (int64_t i = 0; i < index.numel(); ++i, from += width) {
            if (k[i] == padding_idx) continue;
            T* to = out.data_as<T>() + k[i] * width;
            const T scale = scale_grad_by_freq ? T(1) / static_cast<T>(count[k[i]]) : T(1);
            for (int64_t j = 0; j < width; ++j) to[j] += scale * from[j];
        }
    });
    return out;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
    check(self.dtype() == DType::Int64, ErrorKind::Runtime,
          "one_hot is only applicable to index tensor of type LongTensor, got ", self.dtype());
    check(self.numel() > 0 || num_classes > 0, ErrorKind::Runtime,
          "Can not infer total number of classes from empty tensor.");
    Tensor index = contiguous(self);
    const int64_t* k = index.data_as<int64_t>();
    int64_t largest = -1;
    for (int64_t i = 0; i < index.numel(); ++i) {
        check(k[i] >= 0, ErrorKind::Runtime, "Class values must be non-negative, got ", k[i]);
        largest = std::max(largest, k[i]);
    }
    if (num_classes == -1) num_classes = largest + 1;
    check(num_classes > largest, ErrorKind::Runtime, "Class values must be smaller than num_classes: got ", largest,
          " and ", num_classes);
    Dims sizes = self.sizes();
    sizes.push_back(num_classes);
    Tensor out = zeros(sizes, DType::Int64);
    for (int64_t i = 0; i < index.numel(); ++i) out.data_as<int64_t>()[i * num_classes + k[i]] = 1;
    return out;
}

}  // namespace wengert::kernels
