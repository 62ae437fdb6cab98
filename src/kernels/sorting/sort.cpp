#include "kernels/sorting/sort.h"

#include "kernels/sorting/lines.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

// Results of k elements for each line.
struct Selected {
    Tensor values, indices;

    Selected(const Tensor& self, int64_t dim, int64_t k, bool with_values) {
        Dims sizes = self.sizes();
        if (self.dim() > 0) sizes[dim] = k;
        if (with_values) values = empty(sizes, self.dtype(), self.device());
        indices = empty(sizes, DType::Int64, self.device());
    }
};

Selected sorted(const Tensor& self, int64_t dim, bool descending, bool with_values, const char* op) {
    dim = wrap_dim(dim, self.dim(), op);
    check_ordered(self.dtype(), op);
    Selected out(self, dim, line_size(self, dim), with_values);
    if (out.indices.numel() > 0) sort_kernel(out.values, out.indices, self, dim, descending);
    return out;
}

}  // namespace

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending, bool) {
    Selected out = sorted(self, dim, descending, true, "sort");
    return {std::move(out.values), std::move(out.indices)};
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending, bool) {
    return sorted(self, dim, descending, false, "argsort").indices;
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
    dim = wrap_dim(dim, self.dim(), "topk");
    const int64_t n = line_size(self, dim);
    check(k >= 0 && k <= n, ErrorKind::Runtime, "[topk] selected index k out of range: k is ", k,
          ", the dimension has size ", n);
    check_ordered(self.dtype(), "topk");
    const Selected out(self, dim, k, true);
    if (out.indices.numel() > 0) topk_kernel(out.values, out.indices, self, dim, k, largest);
    return {out.values, out.indices};
}

std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
    dim = wrap_dim(dim, self.dim(), "kthvalue");
    const int64_t n = line_size(self, dim);
    check(n > 0, ErrorKind::Index, "kthvalue(): Expected reduction dim ", dim, " to have non-zero size.");
    check(k >= 1 && k <= n, ErrorKind::Runtime, "kthvalue(): selected number k out of range for dimension ", dim,
          ": k is ", k, ", its size is ", n);
    check_ordered(self.dtype(), "kthvalue");
    const Selected out(self, dim, 1, true);
    if (out.indices.numel() > 0) kthvalue_kernel(out.values, out.indices, self, dim, k);
    if (keepdim || self.dim() == 0) return {out.values, out.indices};
    Dims sizes = self.sizes();
    sizes.erase(dim);
    Dims strides = contiguous_strides(sizes);
    return {alias(out.values, sizes, strides, 0), alias(out.indices, sizes, strides, 0)};
}

}  // namespace wengert::kernels
