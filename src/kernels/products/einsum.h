// Einstein summation: a planner, and an executor over any set of operations.
//
// `plan_einsum` parses the equation, checks it against the operands' sizes, and chooses the order of contraction (at each
// step the cheapest pair). The plan speaks only of diagonal, reshape, sum, permute and products of at most three
// dimensions, with all sizes filled in, so `execute_einsum` needs no arithmetic of its own: given raw kernels it computes,
// given differentiable operations it records a graph.
//
// Labels are letters; those an ellipsis stands for are numbered from 52. A label of size 1 in one operand and larger in
// another is dropped from the first, where it carries no information.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor_list.h"

namespace wengert::kernels {

struct EinsumPlan {
    // What happens to an operand alone, first.
    struct Operand {
        std::vector<std::array<int64_t, 2>>
            diagonals;  // diagonal(t, 0, d1, d2), in this order; the result is the last dim
        bool reshaped = false;
        Dims shape;  // dims of size 1 dropped
    };
    enum class Product {
        Multiply,  // left [b,m,1] * right [b,1,n]: nothing is summed
        Mm,        // left [m,k] x right [k,n]
        Bmm,       // left [b,m,k] x right [b,k,n]
    };
    // Takes operands `left` and `right` off the list and appends their product.
    struct Step {
        size_t left, right;        // left < right
        Dims sum_left, sum_right;  // dims that appear nowhere else, summed first; may be empty
        Dims permute_left, permute_right;
        Dims shape_left, shape_right;  // as the product needs them
        Product product;
        Dims shape;  // of the result: batch, left and right dims
    };
    std::vector<Operand> operands;
    std::vector<Step> steps;
    // Of the one tensor that is left.
    Dims sum;
    Dims permute;
};

// `shapes` are the operands' sizes. Errors begin with "einsum():", as PyTorch's do.
EinsumPlan plan_einsum(std::string_view equation, std::span<const Dims> shapes);

namespace detail {

inline bool is_identity(const Dims& permutation) {
    for (size_t i = 0; i < permutation.size(); ++i)
        if (permutation[i] != static_cast<int64_t>(i)) return false;
    return true;
}

}  // namespace detail

// `Operations` has static members diagonal(t, d1, d2), reshape(t, shape), sum(t, dims), permute(t, dims), multiply, mm, bmm.
template <class Operations>
Tensor execute_einsum(const EinsumPlan& plan, TensorSpan operands) {
    using Ops = Operations;
    auto permuted = [](Tensor t, const Dims& dims) { return detail::is_identity(dims) ? t : Ops::permute(t, dims); };
    auto summed = [](Tensor t, const Dims& dims) { return dims.empty() ? t : Ops::sum(t, dims); };

    std::vector<Tensor> list(operands.begin(), operands.end());
    for (size_t i = 0; i < list.size(); ++i) {
        for (auto [d1, d2] : plan.operands[i].diagonals) list[i] = Ops::diagonal(list[i], d1, d2);
        if (plan.operands[i].reshaped) list[i] = Ops::reshape(list[i], plan.operands[i].shape);
    }
    for (const EinsumPlan::Step& step : plan.steps) {
        Tensor right = std::move(list[step.right]), left = std::move(list[step.left]);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(step.right));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(step.left));
        left = Ops::reshape(permuted(summed(left, step.sum_left), step.permute_left), step.shape_left);
        right = Ops::reshape(permuted(summed(right, step.sum_right), step.permute_right), step.shape_right);
        Tensor product = step.product == EinsumPlan::Product::Multiply ? Ops::multiply(left, right)
                         : step.product == EinsumPlan::Product::Mm     ? Ops::mm(left, right)
                                                                       : Ops::bmm(left, right);
        list.push_back(Ops::reshape(product, step.shape));
    }
    return permuted(summed(list.front(), plan.sum), plan.permute);
}

}  // namespace wengert::kernels
