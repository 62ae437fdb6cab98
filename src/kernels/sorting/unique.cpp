// unique, unique_dim, unique_consecutive (see sort.h): groups of equal neighbours in an order.
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/shape/shape.h"
#include "kernels/sorting/sort.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

Tensor flat(const Tensor& self) {
    const Tensor dense = contiguous(self);
    return alias(dense, Dims{dense.numel()}, Dims{1}, dense.offset());
}

// The slices of `self` along `dim`, of which `rows` has one each, by the groups that `order` (as they come where there is none)
// falls into.
Unique unique_of(const Tensor& self, int64_t dim, const Tensor& rows, const Tensor& order, IntSpan inverse_sizes,
                 bool want_inverse, bool want_counts) {
    const int64_t n = rows.sizes()[0];
    const Tensor starts = empty(Dims{n}, DType::Int64, self.device());
    const int64_t groups = n > 0 ? find_groups_kernel(starts, rows, order) : 0;
    const auto integers = [&](IntSpan sizes) { return empty(sizes, DType::Int64, self.device()); };
    const Tensor first = integers(Dims{groups}), counts = integers(Dims{want_counts ? groups : 0}),
                 inverse = integers(want_inverse ? Dims(inverse_sizes) : Dims{0});
    if (groups > 0)
        fill_groups_kernel(first, want_inverse ? inverse : Tensor(), want_counts ? counts : Tensor(),
                           alias(starts, Dims{groups}, Dims{1}, 0), order, n);
    return {index_select(self, dim, first), inverse, counts};
}

Unique unique_rows(const Tensor& self, int64_t dim, bool sort_rows, bool want_inverse, bool want_counts,
                   const char* op) {
    dim = wrap_dim(dim, self.dim(), op);
    check(self.dim() > 0, ErrorKind::Runtime, "[", op, "] needs a tensor with dimensions when dim is given");
    const Tensor rows = contiguous(movedim(self, IntSpan(&dim, 1), Dims{0}));
    check_ordered(self.dtype(), op);
    const int64_t n = rows.sizes()[0];
    Tensor order;
    if (sort_rows && n > 0) {
        order = empty(Dims{n}, DType::Int64, self.device());
        sort_rows_kernel(order, rows);
    }
    return unique_of(self, dim, rows, order, Dims{n}, want_inverse, want_counts);
}

}  // namespace

Unique unique(const Tensor& self, bool, bool return_inverse, bool return_counts) {
    const Tensor elements = flat(self);
    return unique_of(elements, 0, elements, argsort(elements, 0), self.sizes(), return_inverse, return_counts);
}

Unique unique_dim(const Tensor& self, int64_t dim, bool, bool return_inverse, bool return_counts) {
    return unique_rows(self, dim, true, return_inverse, return_counts, "unique_dim");
}

Unique unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
    if (dim) return unique_rows(self, *dim, false, return_inverse, return_counts, "unique_consecutive");
    check_ordered(self.dtype(), "unique_consecutive");
    const Tensor elements = flat(self);
    return unique_of(elements, 0, elements, {}, self.sizes(), return_inverse, return_counts);
}

}  // namespace wengert::kernels
