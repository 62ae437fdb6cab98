// Recurrent networks: cells, and layers of them over sequences.
//
// A cell turns the part of the input (`gates`, w_ih x + b_ih) and the states of the step before into the next states, of
// which the first is its output. `layers` knows nothing of cells but their number of states.
#pragma once

#include <string_view>
#include <tuple>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor gru_step(const Tensor& gates, const Tensor& hx, const Tensor& w_hh, const Tensor& b_hh);
std::tuple<Tensor, Tensor> lstm_step(const Tensor& gates, TensorSpan hx, const Tensor& w_hh, const Tensor& b_hh);

// `op` is the network: "rnn_tanh", "rnn_relu" or "gru".
std::tuple<Tensor, Tensor> one_state_layers(std::string_view op, const Tensor& input, const Tensor& hx,
                                            TensorSpan params, bool has_biases, int64_t num_layers, double dropout,
                                            bool train, bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor, Tensor> lstm_layers(const Tensor& input, TensorSpan hx, TensorSpan params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train, bool bidirectional,
                                               bool batch_first);

}  // namespace wengert::ops::formulas
