#include "generated/ops/formulas/nn/recurrent.h"

#include <algorithm>
#include <vector>

#include "generated/ops/activation.h"
#include "generated/ops/dropout.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/nn/lstm.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/recurrent.h"
#include "generated/ops/storage.h"
#include "generated/ops/trigonometric.h"
#include "generated/ops/views.h"
#include "tensor/promotion.h"

namespace wengert::ops::formulas {
namespace {

// The weights of one direction of one layer.
struct Weights {
    Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

using States = TensorList;
// From the part of the input in the gates, [steps, batch, ...], and the first states to the outputs of all steps; `states` become
// the last ones.
using Network = Tensor (*)(const Tensor& gates, States& states, const Weights& w, bool reverse);

struct Shape {
    bool has_biases;
    int64_t num_layers;
    double dropout;
    bool train, bidirectional, batch_first;
};

// --- Of one state, step by step. A cell gets the part of the input of its step, the state, and w_hh transposed, once for all.
using Cell = Tensor (*)(const Tensor& gates, const Tensor& h, const Weights& w, const Tensor& w_hh_t);

Tensor tanh_cell(const Tensor& gates, const Tensor& h, const Weights&, const Tensor& w_hh_t) {
    return ops::tanh(ops::addmm(gates, h, w_hh_t));
}

Tensor relu_cell(const Tensor& gates, const Tensor& h, const Weights&, const Tensor& w_hh_t) {
    return ops::relu(ops::addmm(gates, h, w_hh_t));
}

Tensor gru_from(const Tensor& gates, const Tensor& of_state, const Tensor& hx) {
    const TensorList x = ops::chunk(gates, 3, -1), h = ops::chunk(of_state, 3, -1);
    const Tensor reset = ops::sigmoid(x[0] + h[0]), update = ops::sigmoid(x[1] + h[1]);
    const Tensor fresh = ops::tanh(x[2] + reset * h[2]);
    return fresh + update * (hx - fresh);
}

Tensor gru_cell(const Tensor& gates, const Tensor& h, const Weights& w, const Tensor& w_hh_t) {
    return gru_from(gates, w.b_hh.defined() ? ops::addmm(w.b_hh, h, w_hh_t) : ops::mm(h, w_hh_t), h);
}

template <Cell cell>
Tensor each_step(const Tensor& gates, States& states, const Weights& w, bool reverse) {
    const TensorList steps = ops::unbind(gates, 0);
    const Tensor w_hh_t = ops::t(w.w_hh);
    TensorList outputs(steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
        const size_t t = reverse ? steps.size() - 1 - i : i;
        outputs[t] = states[0] = cell(steps[t], states[0], w, w_hh_t);
    }
    return ops::stack(outputs, 0);
}

// --- Of two, all steps at once.
Tensor lstm_network(const Tensor& gates, States& states, const Weights& w, bool reverse) {
    auto [outputs, state, seen] = w.w_hr.defined() ? lstm_composed(gates, states[0], states[1], w.w_hh, w.w_hr, reverse)
                                                   : ops::lstm_steps(gates, states[0], states[1], w.w_hh, reverse);
    states = {ops::select(outputs, 0, reverse ? 0 : -1), state};
    return outputs;
}

Tensor run(Network network, const Tensor& input, States& states, const Weights& w, bool reverse) {
    Tensor bias = w.b_ih;
    if (network != each_step<gru_cell> && w.b_hh.defined()) bias = bias + w.b_hh;  // the others sum both parts at once
    return network(ops::linear(input, w.w_ih, bias), states, w, reverse);
}

// first[k] is [layers * directions, batch, hidden]. Returns the outputs, then the last states in the same shape.
TensorList layers(std::string_view op, Network network, const Tensor& input, TensorSpan first, TensorSpan params,
                  const Shape& shape, bool projects) {
    check(input.dim() == 3, ErrorKind::Runtime, "[", op, "] input must have 3 dimensions, got ", input.dim());
    const size_t directions = shape.bidirectional ? 2 : 1;
    check(shape.num_layers >= 1, ErrorKind::Runtime, "[", op, "] num_layers must be at least 1, got ",
          shape.num_layers);
    const size_t count = static_cast<size_t>(shape.num_layers) * directions;
    size_t each = shape.has_biases ? 4 : 2;
    if (projects && params.size() == count * (each + 1)) ++each;
    check(params.size() == count * each, ErrorKind::Runtime, "[", op, "] expected ", count * each, " weights for ",
          shape.num_layers, " layers, got ", params.size());
    for (const Tensor& t : first)
        check(t.dim() == 3 && t.size(0) == static_cast<int64_t>(count), ErrorKind::Runtime, "[", op,
              "] Expected hidden size (", count, ", batch, hidden), got ", ShapeOf{t.sizes()});
    Tensor x = shape.batch_first ? ops::transpose(input, 0, 1) : input;
    check(x.size(0) > 0, ErrorKind::Runtime, "[", op, "] Expected sequence length to be larger than 0");
    std::vector<TensorList> last(first.size());
    for (size_t l = 0; l < count; l += directions) {
        TensorList outputs;
        for (size_t d = 0; d < directions; ++d) {
            const Tensor* p = params.data() + (l + d) * each;
            Weights w{.w_ih = p[0], .w_hh = p[1], .b_ih = {}, .b_hh = {}, .w_hr = {}};
            if (shape.has_biases) {
                w.b_ih = p[2];
                w.b_hh = p[3];
            }
            if (each % 2 == 1) w.w_hr = p[each - 1];
            States states;
            for (const Tensor& t : first) states.push_back(ops::select(t, 0, static_cast<int64_t>(l + d)));
            outputs.push_back(run(network, x, states, w, d == 1));
            for (size_t k = 0; k < first.size(); ++k) last[k].push_back(states[k]);
        }
        x = directions == 1 ? outputs[0] : ops::cat(outputs, -1);
        if (shape.train && shape.dropout > 0 && l + directions < count) x = ops::dropout(x, shape.dropout, true);
    }
    TensorList results{shape.batch_first ? ops::transpose(x, 0, 1) : x};
    for (const TensorList& states : last) results.push_back(ops::stack(states, 0));
    return results;
}

}  // namespace

Tensor gru_step(const Tensor& gates, const Tensor& hx, const Tensor& w_hh, const Tensor& b_hh) {
    return gru_from(gates, ops::linear(hx, w_hh, b_hh), hx);
}

std::tuple<Tensor, Tensor> lstm_step(const Tensor& gates, TensorSpan hx, const Tensor& w_hh, const Tensor& b_hh) {
    check(hx.size() == 2, ErrorKind::Runtime, "lstm_cell expects two hidden states, got ", hx.size());
    // Under autocast the part of the input is narrower than the state, which decides.
    const DType dtype = promote(promote(gates.dtype(), hx[0].dtype()), hx[1].dtype());
    auto as = [dtype](const Tensor& t) { return t.dtype() == dtype ? t : ops::to_dtype(t, dtype); };
    const Tensor sums = ops::unsqueeze(as(b_hh.defined() ? gates + b_hh : gates), 0);
    const Tensor h = as(hx[0]), c = as(hx[1]), w = as(w_hh);
    // A hidden state that was projected has other features than the cell state.
    const bool projected = h.dim() == 2 && c.dim() == 2 && h.size(1) != c.size(1);
    auto [outputs, state, seen] =
        projected ? lstm_composed(sums, h, c, w, {}, false) : ops::lstm_steps(sums, h, c, w, false);
    return {ops::select(outputs, 0, 0), state};
}

std::tuple<Tensor, Tensor> one_state_layers(std::string_view op, const Tensor& input, const Tensor& hx,
                                            TensorSpan params, bool has_biases, int64_t num_layers, double dropout,
                                            bool train, bool bidirectional, bool batch_first) {
    const Network network = op == "gru"        ? each_step<gru_cell>
                            : op == "rnn_relu" ? each_step<relu_cell>
                                               : each_step<tanh_cell>;
    const TensorList r = layers(op, network, input, {&hx, 1}, params,
                                {has_biases, num_layers, dropout, train, bidirectional, batch_first}, false);
    return {r[0], r[1]};
}

std::tuple<Tensor, Tensor, Tensor> lstm_layers(const Tensor& input, TensorSpan hx, TensorSpan params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train, bool bidirectional,
                                               bool batch_first) {
    check(hx.size() == 2, ErrorKind::Runtime, "lstm expects two hidden states, got ", hx.size());
    const TensorList r = layers("lstm", lstm_network, input, hx, params,
                                {has_biases, num_layers, dropout, train, bidirectional, batch_first}, true);
    return {r[0], r[1], r[2]};
}

}  // namespace wengert::ops::formulas
