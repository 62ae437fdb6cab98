#include "kernels/nn/recurrent.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"

namespace wengert::kernels {
namespace {

Tensor empty_if(bool asked, const Tensor& like) {
    return asked ? empty(like.sizes(), like.dtype(), like.device()) : Tensor();
}

Tensor dense(const Tensor& t) { return t.defined() ? contiguous(t) : t; }

void check_steps(const Tensor& gates, const Tensor& h, const Tensor& c, const Tensor& w_hh) {
    check_floating(gates.dtype(), "lstm");
    for (const Tensor* t : {&h, &c, &w_hh})
        check(t->dtype() == gates.dtype(), ErrorKind::Runtime, "[lstm] expected tensors of one dtype, got ",
              dtype_name(gates.dtype()), " and ", dtype_name(t->dtype()));
    check(h.dim() == 2 && gates.dim() == 3, ErrorKind::Runtime, "[lstm] expected states [batch, hidden], got ",
          ShapeOf{h.sizes()});
    const int64_t batch = gates.size(1), hidden = h.size(1);
    check(gates.size(0) > 0, ErrorKind::Runtime, "[lstm] Expected sequence length to be larger than 0");
    check(gates.size(2) == 4 * hidden && h.size(0) == batch && same_shape(h, c), ErrorKind::Runtime, "[lstm] gates ",
          ShapeOf{gates.sizes()}, " need states of ", ShapeOf{Dims{batch, gates.size(2) / 4}}, ", got ",
          ShapeOf{h.sizes()}, " and ", ShapeOf{c.sizes()});
    check(w_hh.dim() == 2 && w_hh.size(0) == 4 * hidden && w_hh.size(1) == hidden, ErrorKind::Runtime,
          "[lstm] states of ", hidden, " features need weights of ", ShapeOf{Dims{4 * hidden, hidden}}, ", got ",
          ShapeOf{w_hh.sizes()});
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_steps(const Tensor& gates, const Tensor& h, const Tensor& c, const Tensor& w_hh,
                                              bool reverse) {
    check_steps(gates, h, c, w_hh);
    const int64_t steps = gates.size(0), batch = gates.size(1), hidden = h.size(1);
    Tensor outputs = empty(Dims{steps, batch, hidden}, h.dtype(), h.device()),
           state = empty(Dims{batch, hidden}, h.dtype(), h.device()),
           seen = empty(Dims{steps, batch, 5 * hidden}, h.dtype(), h.device());
    if (outputs.numel() > 0)
        lstm_steps_kernel(outputs, state, seen, contiguous(gates), contiguous(h), contiguous(c), contiguous(w_hh),
                          reverse);
    return {outputs, state, seen};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstm_steps_backward(const Tensor& grad_outputs, const Tensor& grad_state,
                                                               const Tensor& h, const Tensor& c, const Tensor& w_hh,
                                                               bool reverse, const Tensor& outputs, const Tensor& seen,
                                                               const std::array<bool, 4>& output_mask) {
    const int64_t steps = outputs.size(0), batch = outputs.size(1), hidden = h.size(1);
    if (!has_values(outputs) || outputs.numel() == 0) return {};  // for the formula: nothing is computed
    Tensor of_gates = empty(Dims{steps, batch, 4 * hidden}, h.dtype(), h.device()), of_h = empty_if(output_mask[1], h),
           of_c = empty_if(output_mask[2], c), of_w = empty_if(output_mask[3], w_hh);
    if (!lstm_steps_backward_kernel(of_gates, of_h, of_c, of_w, dense(grad_outputs), dense(grad_state), contiguous(h),
                                    contiguous(c), contiguous(w_hh), reverse, dense(outputs), dense(seen)))
        return {};
    return {output_mask[0] ? of_gates : Tensor(), of_h, of_c, of_w};
}

}  // namespace wengert::kernels
