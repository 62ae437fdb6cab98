#include "kernels/nn/convolution.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/convolution_kernels.h"

namespace wengert::kernels {
namespace {

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
    if (is_empty(g)) {  // sums of nothing
        Tensor out = zeros(convolution_sizes(g), input.dtype(), input.device());
        if (!bias.defined()) return out;
        Dims sizes(g.dims + 1, 1), strides(g.dims + 1, 0);
        sizes[0] = bias.numel();
        strides[0] = bias.strides()[0];
        copy_into(out, alias(bias, sizes, strides, bias.offset()));
        return out;
    }
    Tensor out = empty(convolution_sizes(g), input.dtype(), input.device());
    convolution_kernel(out, contiguous(input), contiguous(weight), bias.defined() ? contiguous(bias) : bias, g);
    return out;
}

Tensor convolution_input(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes, IntSpan stride,
                         IntSpan padding, IntSpan dilation, int64_t groups) {
    const char* op = "convolution_input";
    ConvGeometry g = convolution_geometry(op, input_sizes, weight.sizes(), stride, padding, dilation, groups);
    check_dtypes(op, grad_output, weight, "weight");
    check_output(op, grad_output, g);
    if (is_empty(g) || numel_of(input_sizes) == 0) return zeros(input_sizes, weight.dtype(), weight.device());
    Tensor out = empty(input_sizes, weight.dtype(), weight.device());
    convolution_input_kernel(out, contiguous(grad_output), contiguous(weight), g);
    return out;
}

Tensor convolution_weight(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes, IntSpan stride,
                          IntSpan padding, IntSpan dilation, int64_t groups) {
    const char* op = "convolution_weight";
    ConvGeometry g = convolution_geometry(op, input.sizes(), weight_sizes, stride, padding, dilation, groups);
    check_dtypes(op, grad_output, input, "input");
    check_output(op, grad_output, g);
    if (is_empty(g)) return zeros(weight_sizes, input.dtype(), input.device());
    Tensor out = empty(weight_sizes, input.dtype(), input.device());
    convolution_weight_kernel(out, contiguous(grad_output), contiguous(input), g);
    return out;
}

}  // namespace wengert::kernels
