#include "ops/batching/nn/convolution.h"

#include "generated/ops/convolution.h"
#include "generated/ops/formulas/nn/convolution.h"
#include "generated/ops/views.h"
#include "ops/batching/nn/merged.h"

namespace wengert::ops::batching {
namespace {

// Runs `rule` on [N, C, ...]; an image without N is a batch of one.
template <class Rule>
Tensor of_images(const Tensor& image, int64_t rank, Rule rule) {
    if (image.dim() == rank) return rule(image);
    if (rank < 3 || image.dim() + 1 != rank) throw NoRule{};  // one sample says what is wrong
    return ops::select(rule(ops::unsqueeze(image, 0)), 0, 0);
}

// A product of images and weights, which makes `channels` of each sample: product(images, weight, groups).
template <class Product>
Tensor with_weights(const Batch& batch, const Tensor& images, const Tensor& weight, int64_t groups, int64_t channels,
                    Product product) {
    if (!batch.has(weight)) return parted(batch, product(joined(batch, images), weight, groups), 0, images.size(0));
    const Tensor out = product(joined_channels(batch, images), joined(batch, weight), groups * batch.size());
    return parted(batch, out, 1, channels);
}

template <class Product>
Tensor convolved(const Batch& batch, const Tensor& input, const Tensor& weight, int64_t groups, Product product) {
    return of_images(input, weight.dim(), [&](const Tensor& images) {
        const int64_t filters = weight.size(0);
        if (!batch.has(images) && groups == 1)  // the weights of all samples are so many filters
            return parted(batch, product(images, joined(batch, weight), 1), 1, filters);
        return with_weights(batch, images, weight, groups, filters, product);
    });
}

using WithSizes = Tensor (*)(const Tensor&, const Tensor&, IntSpan, IntSpan, IntSpan, IntSpan, int64_t);

// From output to input: channels are the second dimension of the weight.
Tensor convolved_back(const Batch& batch, const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                      IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups, WithSizes product) {
    if (weight.dim() < 3 || grad_output.dim() + 1 < weight.dim() ||
        input_sizes.size() != static_cast<size_t>(grad_output.dim()))
        throw NoRule{};
    const IntSpan space = input_sizes.last(static_cast<size_t>(weight.dim() - 2));
    const int64_t channels = input_sizes[input_sizes.size() - space.size() - 1];
    if (channels != weight.size(1) * groups) throw NoRule{};
    return of_images(grad_output, weight.dim(), [&](const Tensor& images) {
        return with_weights(batch, images, weight, groups, channels,
                            [&](const Tensor& all, const Tensor& weights, int64_t all_groups) {
                                Dims sizes{all.size(0), weights.size(1) * all_groups};
                                for (const int64_t size : space) sizes.push_back(size);
                                return product(all, weights, sizes, stride, padding, dilation, all_groups);
                            });
    });
}

// What outputs and inputs make of a weight is summed over the images, so these cannot be joined.
Tensor weights_of(const Batch& batch, const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes,
                  IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups, WithSizes product) {
    const auto rank = static_cast<int64_t>(weight_sizes.size());
    if (rank < 3 || grad_output.dim() != input.dim() || (input.dim() != rank && input.dim() + 1 != rank))
        throw NoRule{};
    const bool single = input.dim() + 1 == rank, shared = !batch.has(input) && groups == 1;
    const Tensor outputs = single ? ops::unsqueeze(grad_output, 0) : grad_output;
    const Tensor images = single ? ops::unsqueeze(input, 0) : input;
    Dims sizes(weight_sizes);
    sizes[0] *= batch.size();
    const Tensor out = product(joined_channels(batch, outputs), shared ? images : joined_channels(batch, images), sizes,
                               stride, padding, dilation, shared ? 1 : groups * batch.size());
    return parted(batch, out, 0, weight_sizes[0]);
}

}  // namespace

Tensor convolution(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                   IntSpan padding, IntSpan dilation, int64_t groups) {
    if (bias.defined() && (batch.has(bias) || batch.has(weight))) {  // added afterwards
        if (weight.dim() < 3 || bias.dim() != 1 || bias.size(0) != weight.size(0) || bias.dtype() != input.dtype())
            throw NoRule{};
        const Tensor out = ops::convolution(input, weight, {}, stride, padding, dilation, groups);
        return out + formulas::bias_over_positions(bias, weight.dim());
    }
    return convolved(batch, input, weight, groups,
                     [&](const Tensor& images, const Tensor& weights, int64_t all_groups) {
                         return ops::convolution(images, weights, bias, stride, padding, dilation, all_groups);
                     });
}

Tensor convolution_chain(const Batch& batch, const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding,
                         IntSpan dilation, int64_t groups) {
    return convolved(batch, input, weight, groups,
                     [&](const Tensor& images, const Tensor& weights, int64_t all_groups) {
                         return ops::convolution_chain(images, weights, stride, padding, dilation, all_groups);
                     });
}

Tensor convolution_input(const Batch& batch, const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                         IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
    return convolved_back(batch, grad_output, weight, input_sizes, stride, padding, dilation, groups,
                          ops::convolution_input);
}

Tensor convolution_input_chain(const Batch& batch, const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                               IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
    return convolved_back(batch, grad_output, weight, input_sizes, stride, padding, dilation, groups,
                          ops::convolution_input_chain);
}

Tensor convolution_weight(const Batch& batch, const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes,
                          IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
    return weights_of(batch, grad_output, input, weight_sizes, stride, padding, dilation, groups,
                      ops::convolution_weight);
}

Tensor convolution_weight_chain(const Batch& batch, const Tensor& grad_output, const Tensor& input,
                                IntSpan weight_sizes, IntSpan stride, IntSpan padding, IntSpan dilation,
                                int64_t groups) {
    return weights_of(batch, grad_output, input, weight_sizes, stride, padding, dilation, groups,
                      ops::convolution_weight_chain);
}

}  // namespace wengert::ops::batching
