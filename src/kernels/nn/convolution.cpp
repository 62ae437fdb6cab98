#include "kernels/nn/convolution.h"

#include <algorithm>
#include <complex>

#include "backends/cpu/nn/convolution_products.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {
namespace {

// --- Complex numbers, by parts: both arguments are linear

template <class F>
Tensor by_parts(const Tensor& a, const Tensor& b, F&& product) {
    auto part = [](const Tensor& t, int64_t which) {
        Dims strides = t.strides();
        for (int64_t& s : strides) s *= 2;
        return contiguous(alias_as(t, real_dtype(t.dtype()), t.sizes(), strides, 2 * t.offset() + which));
    };
    Tensor a_re = part(a, 0), a_im = part(a, 1), b_re = part(b, 0), b_im = part(b, 1);
    Tensor rr = product(a_re, b_re), ii = product(a_im, b_im), ri = product(a_re, b_im), ir = product(a_im, b_re);
    Tensor out = empty(rr.sizes(), a.dtype());
    dispatch_floating(rr.dtype(), "convolution", [&]<class R> {
        std::complex<R>* to = out.data_as<std::complex<R>>();
        for (int64_t i = 0; i < out.numel(); ++i)
            to[i] = {rr.data_as<R>()[i] - ii.data_as<R>()[i], ri.data_as<R>()[i] + ir.data_as<R>()[i]};
    });
    return out;
}

void check_dtypes(const char* op, const Tensor& a, const Tensor& b, const char* what) {
    check(a.dtype() == b.dtype(), ErrorKind::Runtime, "[", op, "] Input type (", a.dtype(), ") and ", what, " type (",
          b.dtype(), ") should be the same");
    check(is_differentiable(a.dtype()), ErrorKind::NotImplemented, "[", op, "] \"conv\" not implemented for '",
          a.dtype(), "'; convert to a floating dtype first");
}

void check_output(const char* op, const Tensor& grad_output, const ConvGeometry& g) {
    check(grad_output.sizes() == convolution_sizes(g), ErrorKind::Runtime, "[", op, "] expected grad_output of shape ",
          ShapeOf{convolution_sizes(g)}, ", got ", ShapeOf{grad_output.sizes()});
}

bool is_empty(const ConvGeometry& g) { return g.batch == 0 || g.taps() == 0 || ConvGeometry::volume(g.output) == 0; }

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding,
                   IntSpan dilation, int64_t groups) {
    const char* op = "convolution";
    ConvGeometry g = convolution_geometry(op, input.sizes(), weight.sizes(), stride, padding, dilation, groups);
    check_dtypes(op, input, weight, "weight");
    if (bias.defined()) {
        check_dtypes(op, input, bias, "bias");
        check(bias.dim() == 1 && bias.numel() == weight.sizes()[0], ErrorKind::Runtime, "[", op,
              "] Given weight of size ", ShapeOf{weight.sizes()}, ", expected bias to be 1-dimensional with ",
              weight.sizes()[0], " elements, but got bias of size ", ShapeOf{bias.sizes()}, " instead");
    }
    if (is_complex(input.dtype())) {
        Tensor out = by_parts(input, weight, [&](const Tensor& x, const Tensor& w) {
            return convolution(x, w, Tensor(), stride, padding, dilation, groups);
        });
        if (!bias.defined()) return out;
        int64_t positions = ConvGeometry::volume(g.output), filters = bias.numel();
        dispatch_inexact(out.dtype(), op, [&]<class T> {
            for (int64_t i = 0; i < out.numel(); ++i)
                out.data_as<T>()[i] += bias.data_as<T>()[i / positions % filters * bias.strides()[0]];
        });
        return out;
    }
    Tensor x = contiguous(input), w = contiguous(weight), b = bias.defined() ? contiguous(bias) : bias;
    Tensor out = is_empty(g) ? zeros(convolution_sizes(g), input.dtype()) : empty(convolution_sizes(g), input.dtype());
    if (is_empty(g)) return out;
    dispatch_floating(input.dtype(), op, [&]<class T> {
        const T* at = b.defined() ? b.data_as<T>() : nullptr;
        conv_forward<T>(g, x.data_as<T>(), w.data_as<T>(), at, out.data_as<T>());
    });
    return out;
}

Tensor convolution_input(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes, IntSpan stride,
                         IntSpan padding, IntSpan dilation, int64_t groups) {
    const char* op = "convolution_input";
    ConvGeometry g = convolution_geometry(op, input_sizes, weight.sizes(), stride, padding, dilation, groups);
    check_dtypes(op, grad_output, weight, "weight");
    check_output(op, grad_output, g);
    if (is_complex(weight.dtype()))
        return by_parts(grad_output, weight, [&](const Tensor& y, const Tensor& w) {
            return convolution_input(y, w, input_sizes, stride, padding, dilation, groups);
        });
    if (is_empty(g) || numel_of(input_sizes) == 0) return zeros(input_sizes, weight.dtype());
    Tensor y = contiguous(grad_output), w = contiguous(weight), out = empty(input_sizes, weight.dtype());
    dispatch_floating(weight.dtype(), op,
                      [&]<class T> { conv_input_cotangent<T>(g, y.data_as<T>(), w.data_as<T>(), out.data_as<T>()); });
    return out;
}

Tensor convolution_weight(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes, IntSpan stride,
                          IntSpan padding, IntSpan dilation, int64_t groups) {
    const char* op = "convolution_weight";
    ConvGeometry g = convolution_geometry(op, input.sizes(), weight_sizes, stride, padding, dilation, groups);
    check_dtypes(op, grad_output, input, "input");
    check_output(op, grad_output, g);
    if (is_complex(input.dtype()))
        return by_parts(grad_output, input, [&](const Tensor& y, const Tensor& x) {
            return convolution_weight(y, x, weight_sizes, stride, padding, dilation, groups);
        });
    if (is_empty(g)) return zeros(weight_sizes, input.dtype());
    Tensor y = contiguous(grad_output), x = contiguous(input), out = empty(weight_sizes, input.dtype());
    dispatch_floating(input.dtype(), op,
                      [&]<class T> { conv_weight_cotangent<T>(g, y.data_as<T>(), x.data_as<T>(), out.data_as<T>()); });
    return out;
}

}  // namespace wengert::kernels
