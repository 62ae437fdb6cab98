// searchsorted, bucketize, histc, bincount (see sort.h).
#include <algorithm>
#include <cmath>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "kernels/sorting/sort.h"
#include "tensor/promotion.h"

namespace wengert::kernels {
namespace {

// The first position of n for which is_before(position) does not hold. Which half it is in cannot be predicted, so the loop
// selects instead of branching.
template <class F>
int64_t first_not(int64_t n, F is_before) {
    int64_t low = 0;
    while (n > 1) {
        const int64_t half = n / 2;
        low = is_before(low + half - 1) ? low + half : low;
        n -= half;
    }
    return low + (n == 1 && is_before(low));
}

// The first position in a sorted line of n elements that is not below (right: is above) x. NaN is above all numbers.
template <class T>
int64_t bound(const T* line, const int64_t* sorter, int64_t n, T x, bool right) {
    auto at = [=](int64_t i) { return line[sorter ? sorter[i] : i]; };
    if (x != x) return right ? n : first_not(n, [=](int64_t i) { return at(i) == at(i); });
    if (sorter) return first_not(n, [=](int64_t i) { return right ? at(i) <= x : at(i) < x; });
    return right ? first_not(n, [=](int64_t i) { return line[i] <= x; })
                 : first_not(n, [=](int64_t i) { return line[i] < x; });
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
    check(sorted_sequence.dim() > 0, ErrorKind::Runtime,
          "wengert.searchsorted(): boundaries tensor should have positive dimension");
    check(!side || *side == "left" || *side == "right", ErrorKind::Runtime,
          "wengert.searchsorted(): side can only be 'left' or 'right' but got ", side.value_or(""));
    check(!side || *side == "right" || !right, ErrorKind::Runtime,
          "wengert.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
    if (side) right = *side == "right";
    bool batched = sorted_sequence.dim() > 1;
    if (batched)
        check(
            self.dim() == sorted_sequence.dim() &&
                std::equal(self.sizes().begin(), self.sizes().end() - 1, sorted_sequence.sizes().begin()),
            ErrorKind::Runtime,
            "wengert.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            "tensor and input value tensor must match, but we got boundaries tensor ",
            ShapeOf{sorted_sequence.sizes()}, " and input value tensor ", ShapeOf{self.sizes()});
    check(!sorter.defined() || (sorter.sizes() == sorted_sequence.sizes() && sorter.dtype() == DType::Int64),
          ErrorKind::Runtime,
          "wengert.searchsorted(): boundary and sorter must have the same size, and sorter dtype int64");
    DType dtype = promote(sorted_sequence.dtype(), self.dtype());
    Tensor lines = contiguous(to_dtype(sorted_sequence, dtype)), values = contiguous(to_dtype(self, dtype));
    Tensor order = sorter.defined() ? contiguous(sorter) : Tensor();
    Tensor out = empty(self.sizes(), out_int32 ? DType::Int32 : DType::Int64);
    const int64_t n = lines.sizes().back(), per_line = batched ? values.sizes().back() : values.numel();
    const int64_t count = per_line ? values.numel() / per_line : 0;
    if (order.defined())
        for (int64_t i = 0; i < order.numel(); ++i)
            check(order.data_as<int64_t>()[i] >= 0 && order.data_as<int64_t>()[i] < n, ErrorKind::Index,
                  "wengert.searchsorted(): sorter index ", order.data_as<int64_t>()[i], " out of range for size ", n);
    dispatch_ordered(dtype, "searchsorted", [&]<class T> {
        for (int64_t l = 0; l < count; ++l) {
            const T* line = lines.data_as<T>() + (batched ? l * n : 0);
            const int64_t* by = order.defined() ? order.data_as<int64_t>() + (batched ? l * n : 0) : nullptr;
            for (int64_t i = l * per_line; i < (l + 1) * per_line; ++i) {
                int64_t at = bound(line, by, n, values.data_as<T>()[i], right);
                if (out_int32)
                    out.data_as<int32_t>()[i] = static_cast<int32_t>(at);
                else
                    out.data_as<int64_t>()[i] = at;
            }
        }
    });
    return out;
}

Tensor searchsorted_scalar(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                           std::optional<std::string_view> side, const Tensor& sorter) {
    check(sorted_sequence.dim() == 1, ErrorKind::Runtime,
          "wengert.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
    DType dtype = result_type({Operand(sorted_sequence), Operand(self)});
    return searchsorted(sorted_sequence, scalar_tensor(self, dtype), out_int32, right, side, sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
    check(boundaries.dim() == 1, ErrorKind::Runtime, "[bucketize] boundaries tensor must be 1 dimension, but got dim(",
          boundaries.dim(), ")");
    return searchsorted(boundaries, self, out_int32, right);
}

Tensor isin(const Operand& elements, const Operand& test_elements, bool, bool invert) {
    const DType dtype = result_type({elements, test_elements});
    auto flat = [&](const Operand& o) {
        return contiguous(o.is_tensor() ? to_dtype(o.tensor(), dtype) : scalar_tensor(o.scalar(), dtype));
    };
    Tensor in = flat(elements), tests = flat(test_elements), out = empty(in.sizes(), DType::Bool);
    tests = std::get<0>(sort(alias(tests, Dims{tests.numel()}, Dims{1}, tests.offset())));
    dispatch_ordered(dtype, "isin", [&]<class T> {
        const T *x = in.data_as<T>(), *line = tests.data_as<T>();
        const int64_t n = tests.numel();
        for (int64_t i = 0; i < in.numel(); ++i) {
            const int64_t at = bound<T>(line, nullptr, n, x[i], false);
            out.data_as<bool>()[i] = (at < n && line[at] == x[i]) != invert;
        }
    });
    return out;
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
    check(is_floating(self.dtype()), ErrorKind::NotImplemented, "[histc] not implemented for dtype ", self.dtype());
    check(bins > 0, ErrorKind::Runtime, "wengert.histc(): bins must be > 0, but got ", bins);
    Tensor out = zeros(Dims{bins}, self.dtype()), in = contiguous(self);
    dispatch_floating(self.dtype(), "histc", [&]<class T> {
        T low = min.to<T>(), high = max.to<T>();
        if (low == high && self.numel() > 0) {
            low = amin(self).data_as<T>()[0];
            high = amax(self).data_as<T>()[0];
        }
        if (low == high) {
            low -= 1;
            high += 1;
        }
        check(std::isfinite(low) && std::isfinite(high), ErrorKind::Runtime, "wengert.histc: range of [", low, ", ",
              high, "] is not finite");
        check(low < high, ErrorKind::Runtime, "wengert.histc: max must be larger than min, got ", low, " and ", high);
        const T* p = in.data_as<T>();
        T* count = out.data_as<T>();
        for (int64_t i = 0; i < in.numel(); ++i) {
            if (!(p[i] >= low && p[i] <= high)) continue;
            T place = (p[i] - low) * static_cast<T>(bins) / (high - low);
            if (!std::isfinite(place))  // the range, or what is multiplied, is greater than a number can be
                place = (p[i] / 2 - low / 2) / (high / 2 - low / 2) * static_cast<T>(bins);
            count[place < static_cast<T>(bins) ? static_cast<int64_t>(place) : bins - 1] += 1;
        }
    });
    return out;
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
    check(self.dim() == 1 && is_integral(self.dtype()) && self.dtype() != DType::Bool, ErrorKind::Runtime,
          "bincount only supports 1-d non-negative integral inputs.");
    check(minlength >= 0, ErrorKind::Runtime, "minlength should be >= 0, got ", minlength);
    check(!weights.defined() || weights.sizes() == self.sizes(), ErrorKind::Runtime,
          "weights should be 1-d and have the same length as input");
    Tensor in = contiguous(to_dtype(self, DType::Int64));
    const int64_t* k = in.data_as<int64_t>();
    int64_t length = minlength;
    for (int64_t i = 0; i < in.numel(); ++i) {
        check(k[i] >= 0, ErrorKind::Runtime, "bincount only supports 1-d non-negative integral inputs: got ", k[i]);
        length = std::max(length, k[i] + 1);
    }
    if (!weights.defined()) {
        Tensor out = zeros(Dims{length}, DType::Int64);
        for (int64_t i = 0; i < in.numel(); ++i) ++out.data_as<int64_t>()[k[i]];
        return out;
    }
    DType dtype = weights.dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
    Tensor w = contiguous(to_dtype(weights, dtype)), out = zeros(Dims{length}, dtype);
    dispatch_floating(dtype, "bincount", [&]<class T> {
        for (int64_t i = 0; i < in.numel(); ++i) out.data_as<T>()[k[i]] += w.data_as<T>()[i];
    });
    return out;
}

}  // namespace wengert::kernels
