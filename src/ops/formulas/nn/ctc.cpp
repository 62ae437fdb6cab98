#include "generated/ops/formulas/nn/ctc.h"

#include <algorithm>
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/formulas/nn/losses.h"
#include "generated/ops/indexing.h"
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

// What stands one or two places before, [N, L].
Tensor moved(const Tensor& alpha, int64_t places) {
    const int64_t width = alpha.size(1), by = std::min(places, width);
    const Tensor parts[] = {full(Dims{alpha.size(0), by}, kNever, alpha.dtype(), alpha.device()),
                            ops::slice(alpha, 1, 0, width - by)};
    return ops::cat(parts, 1);
}

Tensor tensor_of(IntSpan numbers, Device device) {
    Tensor out = empty(Dims{static_cast<int64_t>(numbers.size())}, DType::Int64);
    std::ranges::copy(numbers, out.data_as<int64_t>());
    return kernels::on_device(out, device);
}

// [N]: the logarithm of the probability of each sequence.
Tensor log_likelihood(const Tensor& log_probs, const Alignments& a, IntSpan input_lengths) {
    const int64_t steps = log_probs.size(0), n = log_probs.size(1), width = a.labels.size(1);
    const Tensor emitted =
        ops::gather(log_probs, 2, ops::expand(ops::unsqueeze(a.labels, 0), Dims{steps, n, width}));  // [T, N, L]
    Tensor start = full(Dims{width}, kNever, log_probs.dtype(), log_probs.device()),
           alpha = full(Dims{n, width}, kNever, log_probs.dtype(), log_probs.device());
    ops::fill_(ops::slice(start, 0, 0, 2), 0);
    const Tensor lengths = ops::unsqueeze(tensor_of(input_lengths, log_probs.device()), 1);
    const int64_t shortest = n > 0 ? *std::ranges::min_element(input_lengths) : steps;
    for (int64_t t = 0; t < steps; ++t) {
        Tensor next = start;
        if (t > 0) {
            const Tensor from[] = {alpha, moved(alpha, 1), ops::where(a.skips, moved(alpha, 2), kNever)};
            next = ops::logsumexp(ops::stack(from, 0), Dims{0});
        }
        next = next + ops::select(emitted, 0, t);
        alpha = t < shortest ? next : ops::where(ops::gt(lengths, t), next, alpha);
    }
    return ops::logsumexp(ops::where(a.ends, alpha, kNever), Dims{1});
}

Dims lengths_of(const Tensor& t, const char* name) {
    check(is_integral(t.dtype()), ErrorKind::Runtime, "[ctc_loss] ", name, " must be integral, got ", t.dtype());
    const Tensor flat = kernels::contiguous(kernels::to_dtype(kernels::on_host(t, "ctc_loss"), DType::Int64));
    return Dims(flat.data_as<int64_t>(), flat.data_as<int64_t>() + flat.numel());
}

}  // namespace

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
    Tensor loss = -log_likelihood(batch, alignments, input_lengths);
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
