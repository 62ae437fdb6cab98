#include "generated/ops/formulas/products/products.h"

#include <limits>
#include <vector>

#include "generated/ops/arithmetic.h"
#include "generated/ops/linalg.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "kernels/products/einsum.h"

namespace wengert::ops::formulas {

Tensor outer_product(const Tensor& self, const Tensor& vec2) {
    check(self.dim() == 1 && vec2.dim() == 1, ErrorKind::Runtime, "[outer] expected 1-D tensors, but got shapes ",
          ShapeOf{self.sizes()}, " and ", ShapeOf{vec2.sizes()}, "; flatten them first");
    return ops::mul(ops::unsqueeze(self, -1), vec2);
}

Tensor outer_added(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                   const Scalar& alpha) {
    const DType dtype = self.dtype();
    const bool one_dtype = is_differentiable(dtype) && vec1.dtype() == dtype && vec2.dtype() == dtype;
    const bool takes_factors = is_complex(dtype) || (!beta.is_complex() && !alpha.is_complex());
    if (one_dtype && takes_factors && vec1.dim() == 1 && vec2.dim() == 1 && self.dim() <= 2)
        return ops::addr_of(self, vec1, vec2, beta, alpha);
    return outer_product(vec1 * alpha, vec2) + self * beta;
}

Tensor inner_product(const Tensor& self, const Tensor& other) {
    if (self.dim() == 0 || other.dim() == 0) return ops::mul(self, other);
    check(self.size(-1) == other.size(-1), ErrorKind::Runtime,
          "[inner] inner() the last dimension must match on both input tensors but got shapes ", ShapeOf{self.sizes()},
          " and ", ShapeOf{other.sizes()});
    return contracted_along(self, other, Dims{-1}, Dims{-1});
}

// [m1, m2] x [n1, n2]: the product of [m1, 1, m2, 1] and [n1, 1, n2], as [m1 n1, m2 n2].
Tensor kronecker(const Tensor& self, const Tensor& other) {
    const size_t n = std::max(self.sizes().size(), other.sizes().size());
    auto padded = [n](const Tensor& t) {
        Dims sizes(n - t.sizes().size(), 1);
        for (int64_t s : t.sizes()) sizes.push_back(s);
        return sizes;
    };
    const Dims a = padded(self), b = padded(other);
    Dims left, right, joined;
    for (size_t i = 0; i < n; ++i) {
        left.push_back(a[i]);
        left.push_back(1);
        right.push_back(1);
        right.push_back(b[i]);
        joined.push_back(a[i] * b[i]);
    }
    return ops::reshape(ops::mul(ops::reshape(self, left), ops::reshape(other, right)), joined);
}

Tensor cross_product(const Tensor& self, const Tensor& other, int64_t dim) {
    const Dims sizes = broadcast_shapes(self.sizes(), other.sizes(), "linalg.cross");
    const int64_t at = wrap_dim(dim, static_cast<int64_t>(sizes.size()), "linalg.cross");
    check(self.dim() == other.dim(), ErrorKind::Runtime,
          "[linalg.cross] inputs must have the same number of dimensions, got ", ShapeOf{self.sizes()}, " and ",
          ShapeOf{other.sizes()});
    check(self.size(at) == 3 && other.size(at) == 3, ErrorKind::Runtime, "[linalg.cross] inputs dimension ", dim,
          " must have length 3. Got ", self.size(at), " and ", other.size(at));
    // (a x b)_{i+2} = a_i b_{i+1} - a_{i+1} b_i
    const Dims along{at}, next{-1};
    return ops::roll(self * ops::roll(other, next, along) - ops::roll(self, next, along) * other, next, along);
}

Tensor cross_product_along_first(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
    if (dim) return cross_product(self, other, *dim);
    for (int64_t d = 0; d < self.dim(); ++d)
        if (self.sizes()[static_cast<size_t>(d)] == 3) return cross_product(self, other, d);
    fail(ErrorKind::Runtime, "[cross] no dimension of size 3 in input of shape ", ShapeOf{self.sizes()});
}

// --- Einstein summation

namespace {

struct RecordedOperations {
    static Tensor diagonal(const Tensor& t, int64_t d1, int64_t d2) { return ops::diagonal(t, 0, d1, d2); }
    static Tensor reshape(const Tensor& t, const Dims& shape) { return ops::reshape(t, shape); }
    static Tensor sum(const Tensor& t, const Dims& dims) { return ops::sum(t, dims); }
    static Tensor permute(const Tensor& t, const Dims& dims) { return ops::permute(t, dims); }
    static Tensor multiply(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
    static Tensor mm(const Tensor& a, const Tensor& b) { return ops::mm(a, b); }
    static Tensor bmm(const Tensor& a, const Tensor& b) { return ops::bmm(a, b); }
};

}  // namespace

Tensor einsum_product(std::string_view equation, TensorSpan operands) {
    std::vector<Dims> shapes;
    for (const Tensor& t : operands) shapes.push_back(t.sizes());
    return kernels::execute_einsum<RecordedOperations>(kernels::plan_einsum(equation, shapes), operands);
}

Tensor contracted(const Tensor& a, const Tensor& b, int64_t count) {
    check(count >= 0 && count <= a.dim() && count <= b.dim(), ErrorKind::Runtime,
          "[tensordot] tensordot expects dims >= 0 and at most ",
          "the number of dimensions of both tensors, but got dims=", count, " for shapes ", ShapeOf{a.sizes()}, " and ",
          ShapeOf{b.sizes()});
    Dims dims_a, dims_b;
    for (int64_t i = 0; i < count; ++i) {
        dims_a.push_back(a.dim() - count + i);
        dims_b.push_back(i);
    }
    return contracted_along(a, b, dims_a, dims_b);
}

Tensor contracted_along(const Tensor& a, const Tensor& b, IntSpan dims_a, IntSpan dims_b) {
    check(dims_a.size() == dims_b.size(), ErrorKind::Runtime,
          "[tensordot] both dimension lists should have same length, got ", dims_a.size(), " and ", dims_b.size());
    std::vector<bool> used_a(a.sizes().size()), used_b(b.sizes().size());
    Tensor left = a, right = b;
    Dims summed_a, summed_b, kept_a, kept_b, sizes;
    int64_t k = 1, m = 1, n = 1;
    for (size_t i = 0; i < dims_a.size(); ++i) {
        const int64_t da = wrap_dim(dims_a[i], a.dim(), "tensordot"), db = wrap_dim(dims_b[i], b.dim(), "tensordot");
        check(!used_a[static_cast<size_t>(da)] && !used_b[static_cast<size_t>(db)], ErrorKind::Runtime,
              "[tensordot] a dimension appears twice in dims");
        used_a[static_cast<size_t>(da)] = used_b[static_cast<size_t>(db)] = true;
        const int64_t size_a = a.size(da), size_b = b.size(db);
        check(size_a == size_b || size_a == 1 || size_b == 1, ErrorKind::Runtime,
              "[tensordot] contracted dimensions need to match, but first has size ", size_a, " in dim ", da,
              " and second has size ", size_b, " in dim ", db);
        if (size_b == 1 && size_a != 1) left = ops::sum(left, Dims{da}, true);  // broadcast, so summed first
        if (size_a == 1 && size_b != 1) right = ops::sum(right, Dims{db}, true);
        summed_a.push_back(da);
        summed_b.push_back(db);
        k *= size_a == 1 || size_b == 1 ? 1 : size_a;
    }
    for (size_t d = 0; d < used_a.size(); ++d)
        if (!used_a[d]) {
            kept_a.push_back(static_cast<int64_t>(d));
            sizes.push_back(a.sizes()[d]);
            m *= a.sizes()[d];
        }
    for (size_t d = 0; d < used_b.size(); ++d)
        if (!used_b[d]) {
            kept_b.push_back(static_cast<int64_t>(d));
            sizes.push_back(b.sizes()[d]);
            n *= b.sizes()[d];
        }
    Dims order_a = kept_a, order_b = summed_b;
    for (int64_t d : summed_a) order_a.push_back(d);
    for (int64_t d : kept_b) order_b.push_back(d);
    left = ops::reshape(ops::permute(left, order_a), Dims{m, k});
    right = ops::reshape(ops::permute(right, order_b), Dims{k, n});
    return ops::reshape(ops::mm(left, right), sizes);  // [m,k] x [k,n]
}

// out_o = x1^T W_o x2: [..., i] x [i, o j] -> [..., o, j], then times [..., j, 1]
Tensor bilinear_map(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
    check(weight.dim() == 3 && input1.dim() >= 1 && input2.dim() == input1.dim() && input1.size(-1) == weight.size(1) &&
              input2.size(-1) == weight.size(2),
          ErrorKind::Runtime,
          "[bilinear] expected input1 [..., in1], input2 [..., in2] and weight [out, in1, in2], but got ",
          ShapeOf{input1.sizes()}, ", ", ShapeOf{input2.sizes()}, " and ", ShapeOf{weight.sizes()});
    const Tensor partial = contracted_along(input1, weight, Dims{-1}, Dims{1});  // [..., o, j]
    const Tensor out = ops::select(ops::matmul(partial, ops::unsqueeze(input2, -1)), -1, 0);
    return bias.defined() ? ops::add(out, bias) : out;
}

// --- Chains and powers

namespace {

// The split points of the cheapest order of multiplication; sizes: matrix i is [sizes[i], sizes[i+1]].
class ChainOrder {
public:
    explicit ChainOrder(const Dims& sizes) : n_(sizes.size() - 1), split_(n_ * n_), cost_(n_ * n_, 0.0) {
        for (size_t length = 1; length < n_; ++length)
            for (size_t i = 0; i + length < n_; ++i) {
                const size_t j = i + length;
                cost_[i * n_ + j] = std::numeric_limits<double>::infinity();
                for (size_t k = i; k < j; ++k) {
                    const double cost = cost_[i * n_ + k] + cost_[(k + 1) * n_ + j] +
                                        static_cast<double>(sizes[i]) * static_cast<double>(sizes[k + 1]) *
                                            static_cast<double>(sizes[j + 1]);
                    if (cost < cost_[i * n_ + j]) {
                        cost_[i * n_ + j] = cost;
                        split_[i * n_ + j] = k;
                    }
                }
            }
    }
    Tensor product(const std::vector<Tensor>& matrices, size_t i, size_t j) const {
        if (i == j) return matrices[i];
        const size_t k = split_[i * n_ + j];
        return ops::mm(product(matrices, i, k), product(matrices, k + 1, j));
    }

private:
    size_t n_;
    std::vector<size_t> split_;
    std::vector<double> cost_;
};

}  // namespace

Tensor chain_product(TensorSpan matrices) {
    check(matrices.size() >= 2, ErrorKind::Runtime, "[linalg.multi_dot] expected at least 2 tensors but got ",
          matrices.size());
    std::vector<Tensor> list(matrices.begin(), matrices.end());
    const bool row = list.front().dim() == 1, column = list.back().dim() == 1;
    if (row) list.front() = ops::unsqueeze(list.front(), 0);
    if (column) list.back() = ops::unsqueeze(list.back(), -1);
    Dims sizes;
    for (size_t i = 0; i < list.size(); ++i) {
        check(list[i].dim() == 2, ErrorKind::Runtime, "[linalg.multi_dot] tensor ", i, " must be 2D but got ",
              matrices[i].dim(), "D");
        check(i == 0 || list[i - 1].size(1) == list[i].size(0), ErrorKind::Runtime, "[linalg.multi_dot] tensors ",
              i - 1, " and ", i, " with shapes ", ShapeOf{list[i == 0 ? 0 : i - 1].sizes()}, " and ",
              ShapeOf{list[i].sizes()}, " cannot be multiplied");
        sizes.push_back(list[i].size(0));
    }
    sizes.push_back(list.back().size(1));
    Tensor out = ChainOrder(sizes).product(list, 0, list.size() - 1);
    if (column) out = ops::select(out, 1, 0);
    return row ? ops::select(out, 0, 0) : out;
}

Tensor integer_power(const Tensor& self, int64_t n) {
    check(self.dim() >= 2 && self.size(-1) == self.size(-2), ErrorKind::Runtime,
          "[linalg.matrix_power] A must be batches of square matrices, but they are ", ShapeOf{self.sizes()});
    if (n == 0) {  // depends on the matrix in name only: the gradient is 0
        const Tensor identity = ops::expand(kernels::eye(self.size(-1), {}, as_of({}, self)), self.sizes());
        return ops::where(zeros(Dims{}, DType::Bool, self.device()), self, identity);
    }
    Tensor base = n < 0 ? ops::linalg_inv(self) : self, out;
    for (uint64_t k = n < 0 ? uint64_t(0) - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); k > 0; k >>= 1) {
        if (k & 1) out = out.defined() ? ops::matmul(out, base) : base;
        if (k > 1) base = ops::matmul(base, base);
    }
    return out.is_same(self) ? ops::clone(self) : out;
}

Tensor sum_of_diagonal(const Tensor& self) {
    check(self.dim() == 2, ErrorKind::Runtime, "[trace] expected a matrix, but got dim ", self.dim());
    return ops::sum(ops::diagonal(self));
}

}  // namespace wengert::ops::formulas
