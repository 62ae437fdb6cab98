// Bags of rows: nn.functional.embedding_bag.
//
// A bag is a run of a list of indices, each of which names a row of a table: bag b has the indices [offsets[b],
// offsets[b + 1]), those behind the last offset belong to none, and an index equal to `padding_idx` is left out. No row is
// copied: bags read the table, or add to it, where it stands.
//
// sum over (bag, its index k, column) of bag cotangent * factor of k * row that k names: one trilinear form. Fixing two of the
// three gives the sums of bags, its cotangent with respect to the table and that with respect to the factors. Each is
// bilinear, and the derivatives of each are the other two. In derivatives `chain` asks for the rule of
// kernels/products/chain_products.h: a factor that is exactly zero adds nothing, whatever it meets.
//
// Indices and offsets are int64; offsets start with 0 and rise, which is checked before anything is computed.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

// weight [rows, columns], factors [indices], indices, offsets [bags + 1] -> [bags, columns]
Tensor bag_sums(const Tensor& weight, const Tensor& factors, const Tensor& indices, const Tensor& offsets,
                int64_t padding_idx, bool chain);
// grad [bags, columns] -> [num_weights, columns]
Tensor bag_rows(const Tensor& grad, const Tensor& factors, const Tensor& indices, const Tensor& offsets,
                int64_t num_weights, int64_t padding_idx, bool chain);
// grad [bags, columns], weight [rows, columns] -> [indices]
Tensor bag_dots(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                int64_t padding_idx, bool chain);

// The row that holds the greatest element of each bag in each column, the first of several, -1 where a bag is empty; NaN is
// greatest. [bags, columns], int64
Tensor bag_maxima(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t padding_idx);
// How many indices are in each bag. [bags], int64
Tensor bag_sizes(const Tensor& indices, const Tensor& offsets, int64_t padding_idx);

}  // namespace wengert::kernels
