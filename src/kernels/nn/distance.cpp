#include "kernels/nn/distance.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/linalg/common.h"
#include "kernels/nn/distance_kernels.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

void check_norm(const char* op, double p) {
    check(p >= 0, ErrorKind::Runtime, "[", op, "] ", op, " only supports non-negative p values, got ", p);
}

struct Pair {
    Tensor x1, x2;  // contiguous, batches broadcast
};
Pair rows_of(const Tensor& x1, const Tensor& x2) {
    for (auto [t, name] : {std::pair(&x1, "X1"), std::pair(&x2, "X2")}) {
        check(is_floating(t->dtype()), ErrorKind::Runtime, "[cdist] cdist only supports floating-point dtypes, ", name,
              " got: ", type_name(*t));
        check(t->dim() >= 2, ErrorKind::Runtime, "[cdist] cdist only supports at least 2D tensors, ", name,
              " got: ", t->dim(), "D");
    }
    check(x1.dtype() == x2.dtype(), ErrorKind::Runtime, "[cdist] expected scalar type ", type_name(x1), " but found ",
          type_name(x2));
    check(cols(x1) == cols(x2), ErrorKind::Runtime,
          "[cdist] X1 and X2 must have the same number of columns. X1: ", cols(x1), " X2: ", cols(x2));
    Dims batch = common_batch(x1, x2, "cdist");
    return {row_major_copy(x1, batch), row_major_copy(x2, batch)};
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
    check_norm("cdist", p);
    auto [a, b] = rows_of(x1, x2);
    Tensor out = empty(joined(batch_sizes(a), {rows(a), rows(b)}), a.dtype(), a.device());
    if (out.numel() > 0) cdist_kernel(out, a, b, p);
    return out;
}

std::tuple<Tensor, Tensor> cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                                          const Tensor& cdist) {
    auto [a, b] = rows_of(x1, x2);
    Tensor ga = zeros(a.sizes(), a.dtype(), a.device()), gb = zeros(b.sizes(), b.dtype(), b.device());
    if (ga.numel() > 0 && gb.numel() > 0) cdist_backward_kernel(ga, gb, contiguous(grad), a, b, p, contiguous(cdist));
    return {ga, gb};
}

Tensor pdist(const Tensor& self, double p) {
    check(self.dim() == 2, ErrorKind::Runtime, "[pdist] pdist only supports 2D tensors, got: ", self.dim(), "D");
    check_norm("pdist", p);
    check_floating(self.dtype(), "pdist");
    const int64_t n = rows(self);
    Tensor out = empty(Dims{n > 1 ? n * (n - 1) / 2 : 0}, self.dtype(), self.device());
    if (out.numel() > 0) pdist_kernel(out, contiguous(self), p);
    return out;
}

Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
    check_floating(self.dtype(), "pdist_backward");
    Tensor out = zeros(self.sizes(), self.dtype(), self.device());
    if (out.numel() > 0 && pdist.numel() > 0)
        pdist_backward_kernel(out, contiguous(grad), contiguous(self), p, contiguous(pdist));
    return out;
}

}  // namespace wengert::kernels
