#include "ops/batching/nn/recurrent.h"

#include "generated/ops/formulas/nn/lstm.h"
#include "generated/ops/recurrent.h"
#include "ops/batching/nn/merged.h"

namespace wengert::ops::batching {

std::tuple<Tensor, Tensor, Tensor> memories(const Batch& batch, const Tensor& gates, const Tensor& h, const Tensor& c,
                                            const Tensor& w_hh, bool reverse) {
    if (gates.dim() != 3 || h.dim() != 2 || c.dim() != 2) throw NoRule{};
    if (batch.has(w_hh)) return formulas::lstm_composed(gates, h, c, w_hh, Tensor(), reverse);
    const int64_t each = h.size(0);
    auto [outputs, state, seen] =
        ops::lstm_steps(joined_channels(batch, gates), joined(batch, h), joined(batch, c), w_hh, reverse);
    return {parted(batch, outputs, 1, each), parted(batch, state, 0, each), parted(batch, seen, 1, each)};
}

}  // namespace wengert::ops::batching
