#include "generated/ops/formulas/nn/attention.h"

#include <cmath>
#include <limits>

#include "generated/ops/comparison.h"
#include "generated/ops/dropout.h"
#include "generated/ops/matmul.h"
#include "generated/ops/normalization.h"
#include "generated/ops/operators.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "kernels/shape/shape.h"

namespace wengert::ops::formulas {

namespace {

// [..., h, S, E] -> [..., heads, S, E], each head repeated for a group of queries
Tensor repeated_heads(const Tensor& t, int64_t heads) {
    Dims sizes = t.sizes();
    const size_t at = sizes.size() - 3;
    if (sizes[at] == heads) return t;
    check(sizes[at] > 0 && heads % sizes[at] == 0, ErrorKind::Runtime,
          "[scaled_dot_product_attention] with enable_gqa the ", heads, " heads of query must be a multiple of the ",
          sizes[at], " heads of key and value");
    Dims expanded(IntSpan(sizes).first(at + 1));
    expanded.push_back(heads / sizes[at]);
    for (size_t i = at + 1; i < sizes.size(); ++i) expanded.push_back(sizes[i]);
    sizes[at] = heads;
    return ops::reshape(ops::expand(ops::unsqueeze(t, -3), expanded), sizes);
}

// Softmax over the keys that are seen; zeros where none is.
Tensor masked_softmax(const Tensor& scores, const Tensor& seen) {
    const Tensor weights = ops::softmax_along(ops::where(seen, scores, -std::numeric_limits<double>::infinity()), -1);
    return ops::where(seen, weights, 0);
}

}  // namespace

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, double dropout_p,
                 bool is_causal, std::optional<double> scale, bool grouped_heads) {
    check(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, ErrorKind::Runtime,
          "[scaled_dot_product_attention] expected query, key and value of at least 2 dimensions, but got shapes ",
          ShapeOf{query.sizes()}, ", ", ShapeOf{key.sizes()}, " and ", ShapeOf{value.sizes()});
    check(!is_causal || !mask.defined(), ErrorKind::Runtime,
          "[scaled_dot_product_attention] Explicit attn_mask should not be set when is_causal=True");
    const bool grouped = grouped_heads && query.dim() > 2 && key.dim() > 2;
    const int64_t heads = grouped ? query.size(-3) : 0;
    const Tensor k = grouped ? repeated_heads(key, heads) : key, v = grouped ? repeated_heads(value, heads) : value;
    const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
    Tensor scores = ops::matmul(query * factor, ops::transpose(k, -2, -1));  // [..., L, E] x [..., E, S]
    Tensor weights;
    if (is_causal) {
        weights = masked_softmax(
            scores, kernels::tril(kernels::ones(Dims{scores.size(-2), scores.size(-1)}, beside(scores, DType::Bool))));
    } else if (mask.defined() && mask.dtype() == DType::Bool) {
        weights = masked_softmax(scores, mask);
    } else if (mask.defined()) {  // -inf hides a key here too
        scores = scores + mask;
        weights = masked_softmax(scores, ops::ne(scores, -std::numeric_limits<double>::infinity()));
    } else {
        weights = ops::softmax_along(scores, -1);
    }
    if (dropout_p > 0) weights = ops::dropout(weights, dropout_p, true);
    return ops::matmul(weights, v);  // [..., L, S] x [..., S, V]
}

}  // namespace wengert::ops::formulas
