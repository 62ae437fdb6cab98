// Recurrent networks: samples with the same weights are more sequences of one call.
#pragma once

#include <tuple>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// lstm_steps
std::tuple<Tensor, Tensor, Tensor> memories(const Batch& batch, const Tensor& gates, const Tensor& h, const Tensor& c,
                                            const Tensor& w_hh, bool reverse);

}  // namespace wengert::ops::batching
