#include "generated/ops/formulas/nn/ctc.h"

#include <algorithm>
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/nn/losses.h"
#include "generated/ops/indexing.h"
#include "generated/ops/losses.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "ops/formulas/nn/losses.h"

namespace wengert::ops::formulas {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The labels with a blank before, between and behind them, for every sequence of a batch; and what that allows.
struct Alignments {
    Tensor labels;  // [N, L], L = 2 S + 1
    Tensor skips;   // [N, L]: whether one may come here from two places before
    Tensor ends;    // [N, L]: whether an alignment may end here

    Alignments on(Device device) const {
        return {kernels::on_device(labels, device), kernels::on_device(skips, device),
                kernels::on_device(ends, device)};
    }
};

Alignments alignments_of(const Tensor& targets, IntSpan lengths, int64_t blank, int64_t classes) {
    const auto n = static_cast<int64_t>(lengths.size());
    int64_t longest = 0, total = 0;
    for (int64_t s : lengths) {
        check(s >= 0, ErrorKind::Runtime, "[ctc_loss] Expected target_lengths to have value at least 0, got ", s);
        longest = std::max(longest, s);
        total += s;
    }
    const bool padded = targets.dim() == 2;
    check(padded || targets.dim() == 1, ErrorKind::Runtime, "[ctc_loss] targets must have one or two dimensions, got ",
          targets.dim());
    check(padded ? targets.size(0) == n && targets.size(1) >= longest : targets.numel() >= total, ErrorKind::Runtime,
          "[ctc_loss] Expected targets to hold ", total, " labels in ", n, " sequences, got shape ",
          ShapeOf{targets.sizes()});
    const int64_t width = 2 * longest + 1;
    Alignments a{full(Dims{n, width}, blank, DType::Int64), zeros(Dims{n, width}, DType::Bool),
                 zeros(Dims{n, width}, DType::Bool)};
    if (!kernels::has_values(targets)) return a.on(targets.device());
    const Tensor in_order = kernels::contiguous(kernels::to_dtype(kernels::on_host(targets, "ctc_loss"), DType::Int64));
    const int64_t* next = in_order.data_as<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
        const int64_t s = lengths[static_cast<size_t>(i)];
        const int64_t* target = padded ? in_order.data_as<int64_t>() + i * targets.size(1) : next;
        int64_t* label = a.labels.data_as<int64_t>() + i * width;
        bool *skip = a.skips.data_as<bool>() + i * width, *end = a.ends.data_as<bool>() + i * width;
        for (int64_t k = 0; k < s; ++k) {
            check(target[k] >= 0 && target[k] < classes, ErrorKind::Runtime, "[ctc_loss] Expected labels to be in [0, ",
                  classes, "), got ", target[k]);
            label[2 * k + 1] = target[k];
            skip[2 * k + 1] = k > 0 && target[k] != target[k - 1];
        }
        end[2 * s] = true;
        if (s > 0) end[2 * s - 1] = true;
        next += s;
    }
    return a.on(targets.device());
}

Tensor never(IntSpan sizes, const Tensor& like) { return full(sizes, kNever, like.dtype(), like.device()); }

// What stands one or two places before (or behind, for negative numbers), [N, L].
Tensor moved(const Tensor& t, int64_t places) {
    const int64_t width = t.size(1), by = std::min(std::abs(places), width);
    const Tensor room = never(Dims{t.size(0), by}, t);
    const Tensor parts[] = {places > 0 ? room : ops::slice(t, 1, by, width),
                            places > 0 ? ops::slice(t, 1, 0, width - by) : room};
    return ops::cat(parts, 1);
}

// The class of each state as an index of [T, N, C]: [T, N, L].
Tensor states_of(const Tensor& labels, int64_t steps) {
    return ops::expand(ops::unsqueeze(labels, 0), Dims{steps, labels.size(0), labels.size(1)});
}

Tensor tensor_of(IntSpan numbers, Device device) {
    Tensor out = empty(Dims{static_cast<int64_t>(numbers.size())}, DType::Int64);
    std::ranges::copy(numbers, out.data_as<int64_t>());
    return kernels::on_device(out, device);
}

// Of operations that are differentiable, what kernels/losses/ctc.h computes: the probabilities that an alignment is in a state at a
// step, [T, N, L], as the backward and forward variables give them.
Tensor posteriors(const Tensor& log_probs, const Tensor& labels, const Tensor& skips, const Tensor& ends,
                  IntSpan input_lengths) {
    const int64_t steps = log_probs.size(0), n = log_probs.size(1), width = labels.size(1);
    const Tensor emitted = ops::gather(log_probs, 2, states_of(labels, steps));  // [T, N, L]
    const Tensor start = never(Dims{width}, log_probs),
                 last = ops::where(ends, zeros(Dims{}, log_probs.dtype(), log_probs.device()), kNever);
    ops::fill_(ops::slice(start, 0, 0, 2), 0);
    const Tensor lengths = ops::unsqueeze(tensor_of(input_lengths, log_probs.device()), 1);  // [N, 1]
    const auto emitting = [&](const Tensor& way, int64_t t) {  // of no way nothing, whatever is emitted
        return ops::where(ops::eq(way, kNever), kNever, way + ops::select(emitted, 0, t));
    };
    const auto sum = [](const Tensor& a, const Tensor& b, const Tensor& c) {
        const Tensor terms[] = {a, b, c};
        return ops::logsumexp(ops::stack(terms, 0), Dims{0});
    };
    TensorList alphas, betas(static_cast<size_t>(steps));  // [N, L] for each step; beta without what the step emits
    for (int64_t t = 0; t < steps; ++t) {
        const Tensor from =
            t == 0 ? start
                   : sum(alphas.back(), moved(alphas.back(), 1), ops::where(skips, moved(alphas.back(), 2), kNever));
        alphas.push_back(emitting(from, t));
    }
    Tensor total = never(Dims{n}, log_probs), next = never(Dims{n, width}, log_probs);
    for (int64_t t = steps; t-- > 0;) {
        const Tensor is_last = ops::eq(lengths, t + 1);  // none is behind it
        const Tensor beta =
            ops::where(is_last, last, sum(next, moved(next, -1), moved(ops::where(skips, next, kNever), -2)));
        const Tensor whole = ops::logsumexp(ops::where(ends, alphas[static_cast<size_t>(t)], kNever), Dims{1});
        total = ops::where(ops::squeeze_dim(is_last, 1), whole, total);
        betas[static_cast<size_t>(t)] = beta;
        next = emitting(beta, t);
    }
    if (steps == 0 || n == 0) return ops::exp(emitted);  // which is empty
    const Tensor to = ops::stack(alphas, 0), back = ops::stack(betas, 0);
    const Tensor of = ops::unsqueeze(ops::where(ops::eq(total, kNever), 0, total), 1);
    const Tensor is_none = ops::logical_or(ops::eq(to, kNever), ops::eq(back, kNever));
    return ops::where(is_none, 0, ops::exp(to + back - of));
}

Dims lengths_of(const Tensor& t, const char* name) {
    check(is_integral(t.dtype()), ErrorKind::Runtime, "[ctc_loss] ", name, " must be integral, got ", t.dtype());
    const Tensor flat = kernels::contiguous(kernels::to_dtype(kernels::on_host(t, "ctc_loss"), DType::Int64));
    return Dims(flat.data_as<int64_t>(), flat.data_as<int64_t>() + flat.numel());
}

}  // namespace

Tensor ctc_grad(const Tensor& grad, const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
                const Tensor& ends, IntSpan input_lengths) {
    const Tensor each = chain_rule(ops::unsqueeze(grad, 1), posteriors(log_probs, labels, skips, ends, input_lengths));
    return ops::scatter_add(zeros_like(log_probs), 2, states_of(labels, log_probs.size(0)), each);
}

Tensor ctc_tangent(const Tensor& tangent, const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
                   const Tensor& ends, IntSpan input_lengths) {
    const Tensor each = ops::gather(tangent, 2, states_of(labels, log_probs.size(0)));
    return ops::sum(chain_rule(each, posteriors(log_probs, labels, skips, ends, input_lengths)), Dims{0, 2});
}

Tensor ctc(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank,
           std::string_view reduction, bool zero_infinity) {
    const bool single = log_probs.dim() == 2;
    check(single || log_probs.dim() == 3, ErrorKind::Runtime, "[ctc_loss] log_probs must have 2 or 3 dimensions, got ",
          log_probs.dim());
    check(is_floating(log_probs.dtype()), ErrorKind::Runtime, "[ctc_loss] log_probs must be floating point, got ",
          log_probs.dtype());
    const Tensor batch = single ? ops::unsqueeze(log_probs, 1) : log_probs;
    const int64_t n = batch.size(1), classes = batch.size(2);
    check(blank >= 0 && blank < classes, ErrorKind::Runtime, "[ctc_loss] blank must be in label range, got ", blank,
          " of ", classes);
    check(static_cast<int64_t>(input_lengths.size()) == n && static_cast<int64_t>(target_lengths.size()) == n,
          ErrorKind::Runtime, "[ctc_loss] input_lengths and target_lengths must be of size batch_size ", n, ", got ",
          input_lengths.size(), " and ", target_lengths.size());
    for (int64_t t : input_lengths)
        check(t >= 0 && t <= batch.size(0), ErrorKind::Runtime,
              "[ctc_loss] Expected input_lengths to have value at most ", batch.size(0), ", but got value ", t);
    const Alignments alignments = alignments_of(targets, target_lengths, blank, classes);
    Tensor loss =
        -std::get<0>(ops::ctc_likelihood(batch, alignments.labels, alignments.skips, alignments.ends, input_lengths));
    if (zero_infinity) loss = ops::where(ops::isinf(loss), 0, loss);
    if (reduction == "mean") {
        loss = loss / ops::clamp(tensor_of(target_lengths, loss.device()), 1);
    }
    return reduce_loss(single && reduction == "none" ? ops::squeeze_dim(loss, 0) : loss, reduction);
}

Tensor ctc_of_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, int64_t blank, std::string_view reduction, bool zero_infinity) {
    return ctc(log_probs, targets, lengths_of(input_lengths, "input_lengths"),
               lengths_of(target_lengths, "target_lengths"), blank, reduction, zero_infinity);
}

}  // namespace wengert::ops::formulas
