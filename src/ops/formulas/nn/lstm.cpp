// The steps of a long short-term memory (kernels/nn/recurrent.h) made of operations that are differentiable, and the derivatives of
// all steps. Read `Step` first.
#include "generated/ops/formulas/nn/lstm.h"

#include <vector>

#include "generated/ops/activation.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/products/chain_products.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/storage.h"
#include "generated/ops/trigonometric.h"
#include "generated/ops/views.h"

namespace wengert::ops::formulas {
namespace {

// From the state before a step, h and c, to the one after it.
struct Step {
    Tensor h, c;
    Tensor i, f, g, o, next_c, squashed, next_h;

    Step(const Tensor& gates, const Tensor& w_hh, const Tensor& w_hr, Tensor h_before, Tensor c_before)
        : h(std::move(h_before)), c(std::move(c_before)) {
        const TensorList z = ops::chunk(ops::addmm(gates, h, ops::t(w_hh)), 4, -1);
        i = ops::sigmoid(z[0]);
        f = ops::sigmoid(z[1]);
        g = ops::tanh(z[2]);
        o = ops::sigmoid(z[3]);
        next_c = f * c + i * g;
        squashed = ops::tanh(next_c);
        next_h = o * squashed;
        if (w_hr.defined()) next_h = ops::linear(next_h, w_hr);
    }

    // What a change of a gate's sum changes in next_c, and for the last gate in next_h.
    Tensor of_i() const { return g * i * (1 - i); }
    Tensor of_f() const { return c * f * (1 - f); }
    Tensor of_g() const { return i * (1 - ops::square(g)); }
    Tensor of_o() const { return squashed * o * (1 - o); }
    // And what one of next_c changes in next_h.
    Tensor of_c() const { return o * (1 - ops::square(squashed)); }
};

// The place of the step that is taken as the k-th.
size_t place(size_t k, size_t steps, bool reverse) { return reverse ? steps - 1 - k : k; }

std::vector<Step> all_steps(const Tensor& gates, const Tensor& h, const Tensor& c, const Tensor& w_hh, bool reverse,
                            const Tensor& w_hr = {}) {
    const TensorList each = ops::unbind(gates, 0);
    std::vector<Step> taken;
    for (size_t k = 0; k < each.size(); ++k) {
        const Tensor &before = k == 0 ? h : taken.back().next_h, &state = k == 0 ? c : taken.back().next_c;
        taken.emplace_back(each[place(k, each.size(), reverse)], w_hh, w_hr, before, state);
    }
    return taken;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_composed(const Tensor& gates, const Tensor& h, const Tensor& c,
                                                 const Tensor& w_hh, const Tensor& w_hr, bool reverse) {
    const std::vector<Step> steps = all_steps(gates, h, c, w_hh, reverse, w_hr);
    TensorList outputs(steps.size()), seen(steps.size());
    for (size_t k = 0; k < steps.size(); ++k) {
        const Step& s = steps[k];
        const Tensor parts[] = {s.i, s.f, s.g, s.o, s.next_c};
        outputs[place(k, steps.size(), reverse)] = s.next_h;
        seen[place(k, steps.size(), reverse)] = ops::cat(parts, -1);
    }
    return {ops::stack(outputs, 0), steps.back().next_c, ops::stack(seen, 0)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstm_steps_grads(const Tensor& grad_outputs, const Tensor& grad_state,
                                                            const Tensor& gates, const Tensor& h, const Tensor& c,
                                                            const Tensor& w_hh, bool reverse,
                                                            const std::array<bool, 4>& mask) {
    const std::vector<Step> steps = all_steps(gates, h, c, w_hh, reverse);
    TensorList given, of_gates(steps.size());
    if (grad_outputs.defined()) given = ops::unbind(grad_outputs, 0);
    Tensor dh = zeros_like(h), dc = grad_state.defined() ? grad_state : zeros_like(c), dw;
    for (size_t k = steps.size(); k-- > 0;) {
        const Step& s = steps[k];
        const size_t t = place(k, steps.size(), reverse);
        if (!given.empty()) dh = dh + given[t];
        dc = dc + chain_rule(dh, s.of_c());
        const Tensor parts[] = {chain_rule(dc, s.of_i()), chain_rule(dc, s.of_f()), chain_rule(dc, s.of_g()),
                                chain_rule(dh, s.of_o())};
        of_gates[t] = ops::cat(parts, -1);
        if (mask[3]) {
            const Tensor of_step = chain_rule_matmul(ops::t(of_gates[t]), s.h);
            dw = dw.defined() ? dw + of_step : of_step;
        }
        dc = chain_rule(dc, s.f);
        dh = chain_rule_matmul(of_gates[t], w_hh);
    }
    return {mask[0] ? ops::stack(of_gates, 0) : Tensor(), mask[1] ? dh : Tensor(), mask[2] ? dc : Tensor(), dw};
}

std::tuple<Tensor, Tensor> lstm_steps_tangents(const Tensor& gates_t, const Tensor& h_t, const Tensor& c_t,
                                               const Tensor& w_hh_t, const Tensor& gates, const Tensor& h,
                                               const Tensor& c, const Tensor& w_hh, bool reverse) {
    const std::vector<Step> steps = all_steps(gates, h, c, w_hh, reverse);
    const TensorList each = ops::unbind(gates_t, 0);
    TensorList outputs(steps.size());
    Tensor dh = h_t, dc = c_t;
    for (size_t k = 0; k < steps.size(); ++k) {
        const Step& s = steps[k];
        const size_t t = place(k, steps.size(), reverse);
        const TensorList z =
            ops::chunk(each[t] + chain_rule_matmul(dh, ops::t(w_hh)) + chain_rule_matmul(s.h, ops::t(w_hh_t)), 4, -1);
        dc = chain_rule(z[0], s.of_i()) + chain_rule(z[1], s.of_f()) + chain_rule(z[2], s.of_g()) + chain_rule(dc, s.f);
        dh = chain_rule(z[3], s.of_o()) + chain_rule(dc, s.of_c());
        outputs[t] = dh;
    }
    return {ops::stack(outputs, 0), dc};
}

}  // namespace wengert::ops::formulas
