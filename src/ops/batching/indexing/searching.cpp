#include "ops/batching/indexing/searching.h"

#include <cmath>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/indexing.h"
#include "generated/ops/reductions.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "tensor/promotion.h"

namespace wengert::ops::batching {

// --- Sorted sequences: one for all samples, one for each, or several
Tensor searched(const Batch& batch, const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                std::optional<std::string_view> side, const Tensor& sorter) {
    if (sorted_sequence.dim() == 0) throw NoRule{};
    const bool single = sorted_sequence.dim() == 1;
    if (single && !batch.has(sorted_sequence) && !batch.has(sorter))
        return batch.wrap(ops::searchsorted(sorted_sequence, batch.front(self), out_int32, right, side, sorter));
    Tensor wanted = batch.expanded(self);
    if (single) wanted = ops::reshape(wanted, Dims{batch.size(), self.numel()});
    const Tensor places =
        ops::searchsorted(batch.expanded(sorted_sequence), wanted, out_int32, right, side, batch.expanded(sorter));
    return batch.wrap(ops::reshape(places, with_batch(batch, self.sizes())));
}

Tensor searched(const Batch& batch, const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                std::optional<std::string_view> side, const Tensor& sorter) {
    if (sorted_sequence.dim() != 1) throw NoRule{};
    const DType dtype = result_type({Operand(sorted_sequence), Operand(self)});
    return searched(batch, sorted_sequence, scalar_tensor(self, dtype, sorted_sequence.device()), out_int32, right,
                    side, sorter);
}

Tensor bucketed(const Batch&, const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
    if (boundaries.dim() != 1) throw NoRule{};
    return ops::searchsorted(boundaries, self, out_int32, right);
}

// --- Sets: one for all samples, or one for each, which are sorted and searched
Tensor members(const Batch& batch, const Operand& elements, const Operand& test_elements, bool assume_unique,
               bool invert) {
    const DType dtype = result_type({elements, test_elements});
    if (is_complex(dtype)) throw NoRule{};
    const Device device = (elements.is_tensor() ? elements : test_elements).tensor().device();
    auto converted = [&](const Operand& o) {
        return o.is_tensor() ? ops::to_dtype(o.tensor(), dtype) : scalar_tensor(o.scalar(), dtype, device);
    };
    const Tensor wanted = converted(elements), tests = converted(test_elements);
    if (!batch.has(tests)) return batch.wrap(ops::isin(batch.front(wanted), tests, assume_unique, invert));
    const int64_t n = tests.numel();
    if (n == 0) return full(wanted.sizes(), invert, DType::Bool, wanted.device());
    const Tensor sorted = std::get<0>(ops::sort(ops::reshape(tests, Dims{n})));
    const Tensor place = ops::clamp_max(ops::searchsorted(sorted, wanted), n - 1);
    const Tensor nearest = ops::gather(sorted, 0, ops::reshape(place, Dims{wanted.numel()}));
    const Tensor found = ops::reshape(nearest, wanted.sizes());
    return invert ? ops::ne(found, wanted) : ops::eq(found, wanted);
}

// --- Intervals
namespace {

bool all_finite(double a, double b) { return std::isfinite(a) && std::isfinite(b); }

Tensor summed_by_bin(const Tensor& bin, const Tensor& amounts, int64_t bins) {
    return ops::scatter_add(zeros(Dims{bins}, amounts.dtype(), amounts.device()), 0, bin, amounts);
}

// Limits that are equal move apart.
struct Limits {
    Tensor low, high;
    Limits(const Tensor& first, const Tensor& last, double by) {
        const Tensor same = ops::eq(first, last);
        low = ops::where(same, first - by, first);
        high = ops::where(same, last + by, last);
    }
};

// As linspace counts: from both ends.
Tensor edges_between(const Limits& limits, int64_t bins) {
    const Tensor step = (limits.high - limits.low) / bins,
                 index = kernels::arange(0, bins + 1, 1, beside(limits.low, DType::Float64));
    return ops::where(index < (bins + 1) / 2, limits.low + step * index, limits.high - step * (bins - index));
}

}  // namespace

Tensor counts_between(const Batch&, const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
    const DType dtype = self.dtype();
    auto rounded = [&](const Scalar& s) { return dtype == DType::Float32 ? double{s.to<float>()} : s.to<double>(); };
    const double first = rounded(min), last = rounded(max);
    if (!is_floating(dtype) || bins <= 0 || self.numel() == 0 || !(first <= last) || !all_finite(first, last))
        throw NoRule{};
    const Tensor x = ops::reshape(self, Dims{self.numel()});
    const bool of_data = first == last;
    const Limits limits(of_data ? ops::amin(x) : scalar_tensor(first, dtype, self.device()),
                        of_data ? ops::amax(x) : scalar_tensor(last, dtype, self.device()), 1);
    const Tensor& low = limits.low;
    const Tensor& high = limits.high;
    const Tensor counts = ops::logical_and(x >= low, x <= high);
    Tensor place = (x - low) * bins / (high - low);
    // The range, or what is multiplied, is greater than a number can be.
    place = ops::where(ops::isfinite(place), place, (x / 2 - low / 2) / (high / 2 - low / 2) * bins);
    place = ops::where(ops::logical_and(counts, ops::isfinite(place)), place, 0);
    const Tensor bin = ops::clamp_max(ops::to_dtype(place, DType::Int64), bins - 1);
    return summed_by_bin(bin, ops::to_dtype(counts, dtype), bins);
}

std::tuple<Tensor, Tensor> histogram_of(const Batch&, const Tensor& self, const Tensor& edges, const Tensor& weight,
                                        bool density) {
    const DType dtype = self.dtype();
    if (!is_floating(dtype) || edges.dim() != 1 || edges.numel() < 2 || edges.dtype() != dtype ||
        (weight.defined() && (weight.dtype() != dtype || !same_shape(weight, self))))
        throw NoRule{};
    const int64_t bins = edges.numel() - 1;
    const Dims line{self.numel()};
    const Tensor x = ops::reshape(self, line);
    const Tensor counts = ops::logical_and(x >= ops::select(edges, 0, 0), x <= ops::select(edges, 0, bins));
    const Tensor bin = ops::clamp_between(ops::searchsorted(edges, x, false, true) - 1, 0, bins - 1);
    const Tensor amounts =
        weight.defined() ? ops::where(counts, ops::reshape(weight, line), 0) : ops::to_dtype(counts, dtype);
    Tensor sums = summed_by_bin(bin, amounts, bins);
    if (density) sums = sums / (ops::sum(sums) * (ops::slice(edges, 0, 1, bins + 1) - ops::slice(edges, 0, 0, bins)));
    return {sums, ops::clone(edges)};
}

std::tuple<Tensor, Tensor> histogram_of(const Batch& batch, const Tensor& self, int64_t bins,
                                        const std::optional<std::vector<double>>& range, const Tensor& weight,
                                        bool density) {
    if (!is_floating(self.dtype()) || bins <= 0 || self.numel() == 0) throw NoRule{};
    Tensor first, last;
    if (range) {
        if (range->size() != 2 || !all_finite((*range)[0], (*range)[1]) || (*range)[0] > (*range)[1]) throw NoRule{};
        first = scalar_tensor((*range)[0], DType::Float64, self.device());
        last = scalar_tensor((*range)[1], DType::Float64, self.device());
    } else {
        first = ops::to_dtype(ops::amin(self), DType::Float64);
        last = ops::to_dtype(ops::amax(self), DType::Float64);
    }
    const Tensor edges = edges_between(Limits(first, last, 0.5), bins);
    return histogram_of(batch, self, ops::to_dtype(edges, self.dtype()), weight, density);
}

}  // namespace wengert::ops::batching
