#include "kernels/losses/ctc.h"

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {
namespace {

// The operands, checked and contiguous.
struct Alignments {
    Tensor log_probs, labels, skips, ends;

    Alignments(const Tensor& log_probs, const Tensor& labels, const Tensor& skips, const Tensor& ends, IntSpan lengths)
        : log_probs(contiguous(log_probs)),
          labels(contiguous(labels)),
          skips(contiguous(skips)),
          ends(contiguous(ends)) {
        check_floating(log_probs.dtype(), "ctc_loss");
        check(log_probs.dim() == 3 && labels.dim() == 2 && labels.size(0) == log_probs.size(1) && labels.size(1) > 0 &&
                  same_shape(labels, skips) && same_shape(labels, ends) && labels.dtype() == DType::Int64 &&
                  skips.dtype() == DType::Bool && ends.dtype() == DType::Bool,
              ErrorKind::Runtime, "[ctc_loss] log_probs ", ShapeOf{log_probs.sizes()}, " and states ",
              ShapeOf{labels.sizes()}, " are not those of the same sequences");
        check(static_cast<int64_t>(lengths.size()) == labels.size(0), ErrorKind::Runtime, "[ctc_loss] ", labels.size(0),
              " sequences need as many lengths, got ", lengths.size());
        for (int64_t length : lengths)
            check(length >= 0 && length <= log_probs.size(0), ErrorKind::Runtime, "[ctc_loss] length ", length,
                  " is not among ", log_probs.size(0), " steps");
    }
};

}  // namespace

std::tuple<Tensor, Tensor> ctc_likelihood(const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
                                          const Tensor& ends, IntSpan lengths) {
    const Alignments a(log_probs, labels, skips, ends, lengths);
    const int64_t steps = log_probs.size(0), n = log_probs.size(1);
    Tensor likelihood = empty(Dims{n}, log_probs.dtype(), log_probs.device());
    Tensor alpha = empty(Dims{n, steps, labels.size(1)}, log_probs.dtype(), log_probs.device());
    if (n > 0) ctc_likelihood_kernel(likelihood, alpha, a.log_probs, a.labels, a.skips, a.ends, lengths);
    return {likelihood, alpha};
}

Tensor ctc_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
                    const Tensor& ends, IntSpan lengths, const Tensor& likelihood, const Tensor& alpha) {
    const Alignments a(log_probs, labels, skips, ends, lengths);
    Tensor out = zeros(log_probs.sizes(), log_probs.dtype(), log_probs.device());
    if (out.numel() > 0)
        ctc_backward_kernel(out, contiguous(grad), a.log_probs, a.labels, a.skips, a.ends, lengths,
                            contiguous(likelihood), contiguous(alpha));
    return out;
}

}  // namespace wengert::kernels
