// Negative log likelihood on the CPU (kernels/losses/nll_loss.h).
#include "kernels/losses/nll_loss_kernels.h"

namespace wengert::kernels {
namespace {

void check_targets(const Tensor& target, int64_t classes, int64_t ignore_index) {
    const int64_t* labels = target.data_as<int64_t>();
    for (int64_t i = 0; i < target.numel(); ++i)
        check(labels[i] == ignore_index || (labels[i] >= 0 && labels[i] < classes), ErrorKind::Index,
              "[nll_loss] Target ", labels[i], " is out of bounds for ", classes, " classes; expected 0 to ",
              classes - 1, " or ignore_index ", ignore_index);
}

// f(position, label, weight) for every position that counts.
template <class T, class F>
void for_each_label(const Tensor& target, const Tensor& weight, int64_t ignore_index, F&& f) {
    const int64_t* labels = target.data_as<int64_t>();
    const T* weights = weight.defined() ? weight.data_as<T>() : nullptr;
    for (int64_t i = 0; i < target.numel(); ++i)
        if (labels[i] != ignore_index) f(i, labels[i], weights ? weights[labels[i]] : T(1));
}

void nll_loss(Result out, Result total, const Tensor& in, const Tensor& target, const Tensor& weight,
              NllReduction reduce, int64_t ignore_index) {
    const NllGeometry g(in.sizes());
    dispatch_floating(in.dtype(), "nll_loss", [&]<class T> {
        const T* x = in.data_as<T>();
        T* y = out->data_as<T>();
        double loss = 0, sum = 0;
        for_each_label<T>(target, weight, ignore_index, [&](int64_t i, int64_t label, T w) {
            const T term = w == T(0) ? T(0) : -x[g.element(i, label)] * w;  // even of an impossible class
            if (reduce == NllReduction::None) y[i] = term;
            loss += term;
            sum += w;
        });
        if (reduce != NllReduction::None) *y = static_cast<T>(reduce == NllReduction::Mean ? loss / sum : loss);
        *total->data_as<T>() = static_cast<T>(sum);
    });
}

void nll_loss_backward(Result out, const Tensor& grad, const Tensor& target, const Tensor& weight,
                       const Tensor& total_weight, NllReduction reduce, int64_t ignore_index) {
    const NllGeometry g(out->sizes());
    dispatch_floating(grad.dtype(), "nll_loss", [&]<class T> {
        const T* dy = grad.data_as<T>();
        const T scale = reduce == NllReduction::Mean ? T(1) / *total_weight.data_as<T>() : T(1);
        T* dx = out->data_as<T>();
        for_each_label<T>(target, weight, ignore_index, [&](int64_t i, int64_t label, T w) {
            dx[g.element(i, label)] = -dy[reduce == NllReduction::None ? i : 0] * w * scale;
        });
    });
}

}  // namespace

constinit DeviceKernel<void(const Tensor&, int64_t, int64_t)> nll_targets_kernel{"nll_loss", check_targets,
                                                                                 HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, NllReduction, int64_t)>
    nll_loss_kernel{"nll_loss", nll_loss};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, NllReduction, int64_t)>
    nll_loss_backward_kernel{"nll_loss_backward", nll_loss_backward};

}  // namespace wengert::kernels
