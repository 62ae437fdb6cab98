// Masks, and tables of rows, on the CPU (kernels/indexing/indexing.h).
#include <algorithm>
#include <vector>

#include "backends/cpu/elementwise/strided.h"
#include "kernels/indexing/indexing_kernels.h"
#include "kernels/reductions/reduce.h"

namespace wengert::kernels {
namespace {

int64_t count(const Tensor& mask) { return *count_nonzero(mask).data_as<int64_t>(); }

// Writes the elements that the mask selects one after the other.
void select(std::byte* out, const Tensor& self, const Tensor& mask) {
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        T* to = reinterpret_cast<T*>(out);
        Dims strides = broadcast_strides(self, mask.sizes());
        StridedWalk<2>(mask.sizes(), {strides, mask.strides()})
            .rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                const T* p = self.data_as<T>() + at[0];
                const bool* m = mask.data_as<bool>() + at[1];
                for (int64_t i = 0; i < n; ++i)
                    if (m[i * step[1]]) *to++ = p[i * step[0]];
            });
    });
}

void scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
    const int64_t wanted = count(mask);
    check(wanted <= source.numel(), ErrorKind::Runtime,
          "masked_scatter: Number of elements of source < number of ones in mask: ", source.numel(), " < ", wanted);
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        const T* next = source.data_as<T>();
        StridedWalk<2>(self.sizes(), {self.strides(), mask.strides()})
            .rows([&](const std::array<int64_t, 2>& at, int64_t n, const std::array<int64_t, 2>& step) {
                T* p = self.data_as<T>() + at[0];
                const bool* m = mask.data_as<bool>() + at[1];
                for (int64_t i = 0; i < n; ++i)
                    if (m[i * step[1]]) p[i * step[0]] = *next++;
            });
    });
}

void add_rows(const Tensor& out, const Tensor& grad, const Tensor& index, int64_t padding_idx,
              bool scale_grad_by_freq) {
    const int64_t num_weights = out.sizes()[0], width = out.sizes()[1];
    const int64_t* k = index.data_as<int64_t>();
    std::vector<int64_t> count(scale_grad_by_freq ? num_weights : 0, 0);
    for (int64_t i = 0; i < index.numel(); ++i) {
        check(k[i] >= 0 && k[i] < num_weights, ErrorKind::Index, "index out of range in self: index ", k[i],
              " is out of bounds for dimension 0 with size ", num_weights);
        if (scale_grad_by_freq) ++count[k[i]];
    }
    dispatch_inexact(grad.dtype(), "embedding", [&]<class T> {
        const T* from = grad.data_as<T>();
        for (int64_t i = 0; i < index.numel(); ++i, from += width) {
            if (k[i] == padding_idx) continue;
            T* to = out.data_as<T>() + k[i] * width;
            const T scale = scale_grad_by_freq ? T(1) / static_cast<T>(count[k[i]]) : T(1);
            for (int64_t j = 0; j < width; ++j) to[j] += scale * from[j];
        }
    });
}

int64_t largest_class(const Tensor& index) {
    const int64_t* k = index.data_as<int64_t>();
    int64_t largest = -1;
    for (int64_t i = 0; i < index.numel(); ++i) {
        check(k[i] >= 0, ErrorKind::Runtime, "Class values must be non-negative, got ", k[i]);
        largest = std::max(largest, k[i]);
    }
    return largest;
}

}  // namespace

constinit DeviceKernel<int64_t(const Tensor&)> masked_select_count_kernel{"masked_select", count};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> masked_select_kernel{
    "masked_select", [](Result out, const Tensor& self, const Tensor& mask) { select(out->data(), self, mask); },
    Elements::Stored};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> masked_scatter_kernel{
    "masked_scatter_", [](Result self, const Tensor& mask, const Tensor& source) { scatter(self, mask, source); },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> masked_scatter_backward_kernel{
    "masked_scatter",
    [](Result out, const Tensor& grad, const Tensor& mask) {
        const int64_t used = count(mask);
        check(used <= out->numel(), ErrorKind::Runtime, "[masked_scatter] a source of shape ", ShapeOf{out->sizes()},
              " has too few elements for the ", used, " that the mask selects");
        select(out->data(), grad, mask);
    },
    HostWaits::ForErrors, Elements::Stored};

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t, bool)> embedding_dense_backward_kernel{
    "embedding",
    [](Result out, const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq) {
        add_rows(out, grad, indices, padding_idx, scale_grad_by_freq);
    },
    HostWaits::ForErrors};

constinit DeviceKernel<int64_t(const Tensor&)> largest_class_kernel{"one_hot", largest_class};
constinit DeviceKernel<void(const Tensor&, int64_t)> check_classes_kernel{
    "one_hot",
    [](const Tensor& index, int64_t num_classes) {
        const int64_t largest = largest_class(index);
        check(num_classes > largest, ErrorKind::Runtime, "Class values must be smaller than num_classes: got ", largest,
              " and ", num_classes);
    },
    HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&)> one_hot_kernel{
    "one_hot", [](Result out, const Tensor& index) {
        const int64_t num_classes = out->sizes().back(), *k = index.data_as<int64_t>();
        for (int64_t i = 0; i < index.numel(); ++i) out->data_as<int64_t>()[i * num_classes + k[i]] = 1;
    }};

}  // namespace wengert::kernels
