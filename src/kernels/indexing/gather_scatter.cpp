// gather, scatter and take: one index per element (see indexing.h).
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/indexing/indexing_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

struct Along {
    int64_t dim;
    Tensor index;  // int64; dense but for the dimensions that were expanded
};

Along along(const Tensor& self, int64_t dim, const Tensor& index, const char* op) {
    Along a{wrap_dim(dim, self.dim(), op), {}};
    check(std::max<int64_t>(self.dim(), 1) == std::max<int64_t>(index.dim(), 1) || index.numel() == 0,
          ErrorKind::Runtime, "[", op, "] Index tensor must have the same number of dimensions as input tensor: got ",
          index.dim(), " and ", self.dim());
    Dims once = index.sizes();  // without repetitions
    for (size_t d = 0; d < once.size(); ++d)
        if (index.strides()[d] == 0) once[d] = std::min<int64_t>(once[d], 1);
    a.index = expand(dense_index(alias(index, once, index.strides(), index.offset()), op), index.sizes());
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

Tensor apart_from(const Tensor& src, const Tensor& self) { return src.storage() == self.storage() ? clone(src) : src; }

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) {
    const Along a = along(self, dim, index, "gather");
    Tensor out = empty(index.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) gather_kernel(out, self, a.dim, a.index);
    return out;
}

Tensor gather_survivors(const Tensor& self, int64_t dim, const Tensor& index) {
    const Along a = along(self, dim, index, "scatter");
    Tensor out = empty(index.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) gather_survivors_kernel(out, self, a.dim, a.index);
    return out;
}

Tensor gather_backward(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index) {
    Tensor out = zeros(sizes, grad.dtype(), grad.device());
    scatter_add_(out, dim, index, grad);
    return out;
}

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    const Along a = along(self, dim, index, "scatter");
    check_source(self, a, index, src, "scatter");
    if (index.numel() > 0) scatter_kernel(self, a.dim, apart_from(a.index, self), apart_from(src, self));
}

void scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    const Along a = along(self, dim, index, "scatter");
    if (index.numel() > 0) scatter_value_kernel(self, a.dim, apart_from(a.index, self), value);
}

void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    const Along a = along(self, dim, index, "scatter_add");
    check_source(self, a, index, src, "scatter_add");
    if (index.numel() > 0) scatter_add_kernel(self, a.dim, apart_from(a.index, self), apart_from(src, self));
}

namespace {

ScatterReduce reduction(std::string_view name) {
    if (name == "sum") return ScatterReduce::Sum;
    if (name == "prod") return ScatterReduce::Prod;
    if (name == "mean") return ScatterReduce::Mean;
    if (name == "amax") return ScatterReduce::Amax;
    check(name == "amin", ErrorKind::Runtime, "reduce argument must be either sum, prod, mean, amax or amin, got ",
          name);
    return ScatterReduce::Amin;
}

}  // namespace

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                     bool include_self) {
    const ScatterReduce how = reduction(reduce);
    const Along a = along(self, dim, index, "scatter_reduce");
    check_source(self, a, index, src, "scatter_reduce");
    check(!is_complex(self.dtype()) || how < ScatterReduce::Amax, ErrorKind::Runtime,
          "[scatter_reduce] amax and amin need ordered numbers, got ", self.dtype());
    if (index.numel() > 0)
        scatter_reduce_kernel(self, a.dim, apart_from(a.index, self), apart_from(src, self), how, include_self);
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
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
    check_flat_index(index, self.numel(), "take");
    Tensor out = empty(index.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) take_kernel(out, contiguous(self), contiguous(index));
    return out;
}

Tensor take_backward(const Tensor& grad, IntSpan sizes, const Tensor& index) {
    Tensor out = zeros(sizes, grad.dtype(), grad.device());
    put_(out, index, grad, true);
    return out;
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
    check(index.numel() == source.numel(), ErrorKind::Runtime,
          "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
          source.numel(), ", index.numel() = ", index.numel());
    check_flat_index(index, self.numel(), "put_");
    check(self.dtype() == source.dtype(), ErrorKind::Runtime,
          "put_(): Expected self.dtype to be equal to source.dtype, got ", self.dtype(), " and ", source.dtype());
    if (index.numel() == 0) return;
    const Tensor to = contiguous(self);
    put_kernel(to, contiguous(apart_from(index, self)), contiguous(apart_from(source, self)), accumulate);
    if (!to.is_same(self)) copy_into(self, to);
}

}  // namespace wengert::kernels
