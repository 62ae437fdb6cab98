// What a device implements of the negative log likelihood (kernels/device_kernel.h). Tensors are contiguous, targets int64, all
// others floating and of one dtype.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

enum class NllReduction : uint8_t { None, Mean, Sum };

// [batch, classes, space] of scores.
struct NllGeometry {
    int64_t batch = 1, classes = 1, space = 1;
    Dims target;

    explicit NllGeometry(IntSpan sizes) {
        check(!sizes.empty(), ErrorKind::Value,
              "[nll_loss] input must have a dimension of classes, but is 0-dimensional");
        const size_t dim = sizes.size() == 1 ? 0 : 1;
        for (size_t i = 0; i < sizes.size(); ++i) {
            if (i != dim) target.push_back(sizes[i]);
            (i < dim ? batch : i == dim ? classes : space) *= sizes[i];
        }
    }
    int64_t positions() const { return batch * space; }
    int64_t element(int64_t position, int64_t label) const {
        return (position / space * classes + label) * space + position % space;
    }
};

// An error where a target is neither a class nor ignore_index. (target, classes, ignore_index)
extern DeviceKernel<void(const Tensor&, int64_t, int64_t)> nll_targets_kernel;
// (loss, the sum of weights, scores, target, weight or undefined, reduction, ignore_index). Where nothing is reduced the
// loss is zeros, of which those that are ignored are left.
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, NllReduction, int64_t)>
    nll_loss_kernel;
// (gradient of the scores, which is zeros, gradient, target, weight or undefined, sum of weights, reduction, ignore_index)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, NllReduction, int64_t)>
    nll_loss_backward_kernel;

}  // namespace wengert::kernels
