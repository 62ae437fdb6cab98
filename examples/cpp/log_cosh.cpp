// log(cosh(x)) with a derivative of its own, tanh(x), in both modes; and a hook that limits gradients.
#include <wengert/extension.h>

using namespace wengert;

struct LogCosh : Function<LogCosh> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
        ctx->save_for_backward({x});
        Tensor size = x.abs();
        return size + (size * -2.0).exp().log1p() - std::log(2.0);
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        return {grads[0] * ctx->get_saved_variables()[0].tanh()};
    }
    static TensorList jvp(AutogradContext* ctx, TensorList tangents) { return backward(ctx, tangents); }
};

Tensor log_cosh(const Tensor& x) { return LogCosh::apply(x); }

Tensor limit_gradient(const Tensor& x, double limit) {
    x.register_hook([limit](const Tensor& grad) { return grad.clamp(-limit, limit); });
    return x;
}

WENGERT_MODULE(WENGERT_EXTENSION_NAME, m) {
    m.def("log_cosh", log_cosh, "log(cosh(x)), without overflow.");
    m.def("limit_gradient", limit_gradient, "Limits what arrives at a tensor in backward; returns the tensor.");
    m.library("examples").def("log_cosh(Tensor x) -> Tensor", log_cosh);
}
