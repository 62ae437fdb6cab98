#include "kernels/losses/linear_nll.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/losses/nll_loss.h"
#include "kernels/nn/softmax.h"
#include "kernels/on_host.h"
#include "kernels/products/matmul.h"
#include "kernels/reductions/reduce.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

constexpr int64_t kScores = int64_t{1} << 20;  // how many are held at a time: 8 MB of float64

// f(first, last) for blocks of rows.
template <class F>
void for_each_block(int64_t rows, int64_t classes, F f) {
    const int64_t step = std::max<int64_t>(kScores / std::max<int64_t>(classes, 1), 1);
    for (int64_t first = 0; first < rows; first += step) f(first, std::min(first + step, rows));
}

// [n, K] x [K, C] -> [n, C]
Tensor log_probabilities(const Tensor& input, const Tensor& weight, const Tensor& bias) {
    const Tensor across = transpose(weight, 0, 1);
    return log_softmax(bias.defined() ? addmm(bias, input, across, 1, 1) : mm(input, across), 1);
}

}  // namespace

Tensor linear_nll(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& target,
                  int64_t ignore_index) {
    const int64_t rows = input.size(0);
    Tensor out = empty(Dims{rows}, input.dtype(), input.device());
    for_each_block(rows, weight.size(0), [&](int64_t first, int64_t last) {
        const Tensor scores = log_probabilities(slice(input, 0, first, last), weight, bias);
        copy_into(slice(out, 0, first, last),
                  std::get<0>(nll_loss_forward(scores, slice(target, 0, first, last), Tensor(), "none", ignore_index)));
    });
    return out;
}

std::tuple<Tensor, Tensor, Tensor> linear_nll_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                       const Tensor& bias, const Tensor& target, int64_t ignore_index,
                                                       const std::array<bool, 3>& output_mask) {
    const int64_t rows = input.size(0);
    Tensor of_input, of_weight, of_bias;
    if (output_mask[0]) of_input = empty(input.sizes(), input.dtype(), input.device());
    if (output_mask[1]) of_weight = zeros(weight.sizes(), weight.dtype(), weight.device());
    if (output_mask[2] && bias.defined()) of_bias = zeros(bias.sizes(), bias.dtype(), bias.device());
    bool declined = false;
    for_each_block(rows, weight.size(0), [&](int64_t first, int64_t last) {
        if (declined) return;
        const Tensor block = slice(input, 0, first, last), labels = slice(target, 0, first, last);
        const Tensor scores = log_probabilities(block, weight, bias);
        const Tensor picked = nll_loss_backward(slice(grad, 0, first, last), labels, Tensor(), "none", ignore_index,
                                                Tensor(), scores.sizes());
        const Tensor of_scores = log_softmax_backward(picked, scores, 1);  // [n, C]
        if (!of_scores.defined()) {
            declined = true;
            return;
        }
        if (output_mask[0]) copy_into(slice(of_input, 0, first, last), mm(of_scores, weight));
        if (output_mask[1]) of_weight = addmm(of_weight, transpose(of_scores, 0, 1), block, 1, 1);
        if (of_bias.defined())
            of_bias = addmv(of_bias, transpose(of_scores, 0, 1),
                            full(Dims{last - first}, 1, bias.dtype(), bias.device()), 1, 1);
    });
    // Where something is not finite, rows without a cotangent are no longer zero: the formula decides.
    if (declined) return {};
    for (const Tensor& result : {of_input, of_weight, of_bias})
        if (result.defined() && has_values(result) &&
            !std::isfinite(read_element<double>(sum(result, {}, false, DType::Float64), "linear_nll_backward")))
            return {};
    return {of_input, of_weight, of_bias};
}

}  // namespace wengert::kernels
