#include "kernels/indexing/bags.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/bags_kernels.h"
#include "kernels/indexing/index_plan.h"

namespace wengert::kernels {
namespace {

struct Bags {
    Tensor indices, offsets;
    int64_t count;

    Bags(const Tensor& indices_, const Tensor& offsets_)
        : indices(dense_index(indices_, "embedding_bag")), offsets(dense_index(offsets_, "embedding_bag")) {
        check(indices.dim() == 1 && offsets.dim() == 1, ErrorKind::Value,
              "embedding_bag: indices and offsets have to be 1D Tensors, got shapes ", ShapeOf{indices.sizes()},
              " and ", ShapeOf{offsets.sizes()});
        check(offsets.numel() > 0, ErrorKind::Value, "include_last_offset: number of offsets should be at least 1");
        count = offsets.numel() - 1;
    }
};

void check_table(const Tensor& table) {
    check(table.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D, got shape ", ShapeOf{table.sizes()});
    check_floating(table.dtype(), "embedding_bag");
}

void check_grad(const Tensor& grad, const Bags& bags) {
    check_table(grad);
    check(grad.size(0) == bags.count, ErrorKind::Runtime, "[embedding_bag] a gradient of shape ", ShapeOf{grad.sizes()},
          " does not fit ", bags.count, " bags");
}

Tensor factors_beside(const Tensor& factors, const Tensor& table, const Bags& bags) {
    check(factors.dtype() == table.dtype(), ErrorKind::Runtime, "expected scalar type ", table.dtype(),
          " for per_sample_weights, as weight has, but got ", factors.dtype());
    check(factors.sizes() == bags.indices.sizes(), ErrorKind::Runtime, "[embedding_bag] factors of shape ",
          ShapeOf{factors.sizes()}, " do not fit indices of shape ", ShapeOf{bags.indices.sizes()});
    return factors.strides()[0] == 0 ? factors : contiguous(factors);
}

}  // namespace

Tensor bag_sums(const Tensor& weight, const Tensor& factors, const Tensor& indices, const Tensor& offsets,
                int64_t padding_idx, bool chain) {
    const Bags bags(indices, offsets);
    check_table(weight);
    const Tensor beside = factors_beside(factors, weight, bags);
    Tensor out = empty(Dims{bags.count, weight.size(1)}, weight.dtype(), weight.device());
    bag_sums_kernel(out, contiguous(weight), beside, bags.indices, bags.offsets, padding_idx, chain);
    return out;
}

Tensor bag_rows(const Tensor& grad, const Tensor& factors, const Tensor& indices, const Tensor& offsets,
                int64_t num_weights, int64_t padding_idx, bool chain) {
    const Bags bags(indices, offsets);
    check_grad(grad, bags);
    const Tensor beside = factors_beside(factors, grad, bags);
    Tensor out = zeros(Dims{num_weights, grad.size(1)}, grad.dtype(), grad.device());
    bag_rows_kernel(out, contiguous(grad), beside, bags.indices, bags.offsets, padding_idx, chain);
    return out;
}

Tensor bag_dots(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                int64_t padding_idx, bool chain) {
    const Bags bags(indices, offsets);
    check_grad(grad, bags);
    check_table(weight);
    check(grad.dtype() == weight.dtype() && grad.size(1) == weight.size(1), ErrorKind::Runtime,
          "[embedding_bag] a gradient of shape ", ShapeOf{grad.sizes()}, " and dtype ", grad.dtype(),
          " does not fit a table of shape ", ShapeOf{weight.sizes()}, " and dtype ", weight.dtype());
    Tensor out = empty(bags.indices.sizes(), grad.dtype(), grad.device());
    bag_dots_kernel(out, contiguous(grad), contiguous(weight), bags.indices, bags.offsets, padding_idx, chain);
    return out;
}

Tensor bag_maxima(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t padding_idx) {
    const Bags bags(indices, offsets);
    check_table(weight);
    Tensor out = empty(Dims{bags.count, weight.size(1)}, DType::Int64, weight.device());
    bag_maxima_kernel(out, contiguous(weight), bags.indices, bags.offsets, padding_idx);
    return out;
}

Tensor bag_sizes(const Tensor& indices, const Tensor& offsets, int64_t padding_idx) {
    const Bags bags(indices, offsets);
    Tensor out = empty(Dims{bags.count}, DType::Int64, indices.device());
    bag_sizes_kernel(out, bags.indices, bags.offsets, padding_idx);
    return out;
}

}  // namespace wengert::kernels
