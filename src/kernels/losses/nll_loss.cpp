#include "kernels/losses/nll_loss.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/losses/nll_loss_kernels.h"

namespace wengert::kernels {
namespace {

NllReduction reduction_of(std::string_view name) {
    if (name == "none") return NllReduction::None;
    if (name == "sum") return NllReduction::Sum;
    check(name == "mean", ErrorKind::Value, name, " is not a valid value for reduction; use 'mean', 'sum' or 'none'");
    return NllReduction::Mean;
}

void check_target_dtype(const Tensor& target) {
    check(is_integral(target.dtype()), ErrorKind::Runtime, "[nll_loss] expected scalar type Long but found ",
          dtype_name(target.dtype()), "; targets are class indices, convert them with .long()");
}

// The labels and weights of the positions, checked.
struct Labels {
    Tensor target, weight;

    Labels(const NllGeometry& g, const Tensor& given_target, const Tensor& given_weight, DType dtype,
           int64_t ignore_index)
        : target(contiguous(to_dtype(given_target, DType::Int64))) {
        check(target.sizes() == g.target, ErrorKind::Value, "[nll_loss] Expected target size ", ShapeOf{g.target},
              ", got ", ShapeOf{target.sizes()});
        if (target.numel() > 0) nll_targets_kernel(target, g.classes, ignore_index);
        if (!given_weight.defined()) return;
        check(given_weight.dim() == 1 && given_weight.numel() == g.classes, ErrorKind::Runtime,
              "[nll_loss] weight tensor should be defined either for all ", g.classes,
              " classes or no classes but got weight tensor of shape: ", ShapeOf{given_weight.sizes()});
        weight = contiguous(to_dtype(given_weight, dtype));
    }
};

}  // namespace

std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target, const Tensor& weight,
                                            std::string_view reduction, int64_t ignore_index) {
    const NllReduction reduce = reduction_of(reduction);
    check_target_dtype(target);
    const NllGeometry g(self.sizes());
    check_floating(self.dtype(), "nll_loss");
    const Labels labels(g, target, weight, self.dtype(), ignore_index);
    Tensor out = reduce == NllReduction::None ? zeros(g.target, self.dtype(), self.device())
                                              : empty({}, self.dtype(), self.device());
    Tensor total = empty({}, self.dtype(), self.device());
    nll_loss_kernel(out, total, contiguous(self), labels.target, labels.weight, reduce, ignore_index);
    return {out, total};
}

Tensor nll_loss_backward(const Tensor& grad, const Tensor& target, const Tensor& weight, std::string_view reduction,
                         int64_t ignore_index, const Tensor& total_weight, IntSpan sizes) {
    const NllReduction reduce = reduction_of(reduction);
    check_target_dtype(target);
    const NllGeometry g(sizes);
    check_floating(grad.dtype(), "nll_loss");
    const Labels labels(g, target, weight, grad.dtype(), ignore_index);
    Tensor out = zeros(sizes, grad.dtype(), grad.device());
    if (out.numel() > 0)
        nll_loss_backward_kernel(out, contiguous(grad), labels.target, labels.weight, total_weight, reduce,
                                 ignore_index);
    return out;
}

}  // namespace wengert::kernels
