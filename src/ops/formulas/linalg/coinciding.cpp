#include "ops/formulas/linalg/coinciding.h"
#include "generated/ops/formulas/linalg/coinciding.h"

#include <complex>
#include <limits>
#include <sstream>
#include <string>

#include "base/place.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/batched.h"
#include "graph/derivative.h"
#include "kernels/creation.h"
#include "kernels/linalg/linalg.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "ops/batching/error.h"
#include "ops/known_values.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Numbers, and nothing that is differentiated.
struct Plain {
    NoGradGuard unrecorded;
    AutoForwardGradMode no_tangents{false};
};

// Differences of x [..., n] that are no more than rounding errors, [..., 1].
Tensor tolerance_of(const Tensor& x, int64_t size) {
    return largest_of(x, Dims{-1}) * kernels::coincidence_tolerance(x.dtype(), size);
}

// x without what depends on it: 0, but not its derivative.
Tensor unknown_derivative(const Tensor& x) { return ops::chain(x - detach(x), kInfinity); }

// The derivative of `of` along `direction` at x; undefined where it does not depend on x. Two transposed derivatives: the
// first is linear in its cotangent u.
Tensor derivative_along(const Tensor& of, const Tensor& x, const Tensor& direction) {
    if (!requires_grad(of) || !requires_grad(x)) return {};
    const Tensor u = formulas::zeros_like(detach(of));
    set_requires_grad(u, true);
    const Tensor transposed = derivatives_of(of, {gradient_edge(x)}, u, true)[0];
    if (!transposed.defined() || !requires_grad(transposed)) return {};
    return derivatives_of(transposed, {gradient_edge(u)}, direction, true)[0];
}

// How large errors of a numerator are that was computed from these cotangents, [..., 1, 1].
Tensor rounding_errors(const Tensor& cotangents) {
    const int64_t size = std::max(cotangents.size(-1), cotangents.size(-2));
    return largest_of(cotangents, Dims{-2, -1}) * (64 * kernels::coincidence_tolerance(cotangents.dtype(), size));
}

[[noreturn]] void refuse(const Tensor& depends, const Tensor& values, const Quotient& q) {
    if (is_batched(depends)) fail_batch("cotangents that depend on the choice of vectors are looked for one by one");
    const Tensor mask = kernels::on_host(depends, q.operation);
    const bool* bad = mask.data_as<bool>();
    int64_t at = 0;
    while (at < depends.numel() && !bad[at]) ++at;
    const int64_t columns = depends.size(-1), rows = depends.size(-2), n = values.size(-1);
    const int64_t j = at % columns, i = at / columns % rows, matrix = at / (columns * rows);
    const Tensor x = ops::contiguous(ops::to_dtype(kernels::on_host(values, q.operation), DType::Complex128));
    auto shown = [&](int64_t k) {
        const std::complex<double> value = x.data_as<std::complex<double>>()[matrix * n + k];
        std::ostringstream out;
        out.precision(17);
        out << value.real();
        if (is_complex(values.dtype())) out << (value.imag() < 0 ? " - " : " + ") << std::abs(value.imag()) << "i";
        return std::move(out).str();
    };
    const bool of_zero = rows != n || i == j;
    fail(ErrorKind::Runtime, "[", q.operation,
         "] the gradient depends on the choice of vectors, which are not unique: ",
         of_zero ? "value " + std::to_string(j) + " is zero"
                 : "values " + std::to_string(i) + " and " + std::to_string(j) + " are equal",
         " to rounding (", of_zero ? shown(j) : shown(i) + " and " + shown(j), ")",
         values.dim() > 1 ? ", in matrix " + std::to_string(matrix) + " of the batch" : std::string(), ". ", q.remedy,
         ", or move the matrix away from such values");
}

// The limits where both vanish.
Tensor limits_of(const Tensor& numerator, const Tensor& values, const Quotient& q) {
    const Tensor steps = kernels::arange(1, values.size(-1) + 1, 1, beside(values, real_dtype(values.dtype())));
    const Tensor apart = ops::contiguous(ops::expand(ops::to_dtype(steps, values.dtype()), values.sizes()));
    const bool recorded = GradMode::is_enabled();
    const Tensor change = recorded ? derivative_along(numerator, values, apart) : Tensor();
    const Tensor gaps = q.denominator(values);
    Tensor limit = change.defined() ? change / ops::where(q.vanishing, q.denominator(apart), 1) : Tensor();
    Tensor depends;
    {
        const Plain plain;
        Tensor rest = detach(numerator);
        if (limit.defined()) rest = rest - detach(limit) * detach(gaps);
        // Cotangents may have cancelled: what the function changes by, as values change by their own size, is a scale too.
        Tensor errors = rounding_errors(detach(q.cotangents));
        const double units = 64 * kernels::coincidence_tolerance(values.dtype(), values.size(-1));
        const Tensor size = ops::unsqueeze(largest_of(detach(values), Dims{-1}), -1) * units;
        if (limit.defined())
            errors = errors + size * largest_of(ops::where(q.vanishing, detach(limit), 0), Dims{-2, -1});
        if (q.grad_values.defined())
            errors = errors + size * ops::unsqueeze(largest_of(detach(q.grad_values), Dims{-1}), -1);
        depends = ops::logical_and(q.vanishing, ops::logical_not(ops::le(ops::abs(rest), errors)));
        if (!recorded) depends = q.vanishing;  // nobody knows
        if (DebugMode::is_enabled() && holds_anywhere(ops::logical_and(depends, ops::isfinite(rest))))
            refuse(ops::contiguous(depends), detach(values), q);
    }
    Tensor unknown = unknown_derivative(gaps);
    if (!limit.defined()) {  // of cotangents that are 0 only what follows a change of them is unknown
        const Tensor some = ops::ne(largest_of(detach(q.cotangents), Dims{-2, -1}), 0);
        unknown = ops::where(some, unknown, unknown_derivative(numerator));
    }
    limit = limit.defined() ? limit + unknown : unknown + formulas::zeros_like(numerator);
    return ops::where(depends, kNan, limit);
}

}  // namespace

Tensor differences_of(const Tensor& x) { return ops::unsqueeze(x, -2) - ops::unsqueeze(x, -1); }
Tensor sums_of(const Tensor& x) { return ops::unsqueeze(x, -2) + ops::unsqueeze(x, -1); }
Tensor columns_of(const Tensor& x) { return ops::unsqueeze(x, -2); }

Tensor off_diagonal(const Tensor& mask) {
    const Plain plain;
    return ops::logical_and(mask, ops::logical_not(kernels::eye(mask.size(-1), {}, as_of({}, mask))));
}

Tensor equal_pairs(const Tensor& x) {
    const Plain plain;
    const Tensor v = detach(x);
    return off_diagonal(ops::le(ops::abs(differences_of(v)), ops::unsqueeze(tolerance_of(v, v.size(-1)), -1)));
}

Tensor zero_values(const Tensor& s, int64_t size) {
    const Plain plain;
    const Tensor v = detach(s);
    return ops::le(v, tolerance_of(v, size));
}

Tensor equal_or_zero_pairs(const Tensor& s, int64_t size) {
    const Plain plain;
    const Tensor v = detach(s), zero = zero_values(s, size);
    const Tensor equal = ops::le(ops::abs(differences_of(v)), ops::unsqueeze(tolerance_of(v, size), -1));
    return off_diagonal(ops::logical_or(equal, ops::logical_and(ops::unsqueeze(zero, -2), ops::unsqueeze(zero, -1))));
}

bool holds_anywhere(const Tensor& mask) {
    const Plain plain;
    return mask.numel() > 0 && ops::is_any_true(unbatched(mask));
}

namespace {

// Whether values that are in order coincide with their neighbours.
bool neighbours_coincide(const Tensor& x, int64_t size) {
    const Plain plain;
    const Tensor v = detach(x);
    const Tensor steps = ops::slice(v, -1, 1, v.size(-1)) - ops::slice(v, -1, 0, v.size(-1) - 1);
    return holds_anywhere(ops::le(ops::abs(steps), tolerance_of(v, size)));
}

}  // namespace

bool any_coincide(const Tensor& values) {
    const int64_t n = values.size(-1);
    if (n < 2) return false;
    return is_complex(values.dtype()) ? holds_anywhere(equal_pairs(values)) : neighbours_coincide(values, n);
}

bool any_coincide_or_vanish(const Tensor& s, const Tensor& u, const Tensor& vh) {
    if (s.numel() == 0) return false;
    const int64_t size = std::max(u.size(-2), vh.size(-1));
    return holds_anywhere(zero_values(s, size)) || neighbours_coincide(s, size);
}

Tensor quotient(const Tensor& numerator, const Tensor& values, const Quotient& q) {
    const Tensor left_out = q.excluded.defined() ? ops::logical_or(q.vanishing, q.excluded) : q.vanishing;
    const Tensor divisor = ops::where(left_out, 1, q.denominator(values));
    const Tensor regular = ops::where(left_out, 0, numerator / divisor);
    if (!holds_anywhere(q.vanishing)) return regular;
    return ops::where(q.vanishing, limits_of(numerator, values, q), regular);
}

Tensor nan_unless_zero(const Tensor& numerator, const Tensor& mask, const Tensor& scale) {
    Tensor depends;
    {
        const Plain plain;
        const Tensor size = detach(numerator);
        depends = ops::logical_and(mask, ops::logical_not(ops::le(ops::abs(size), rounding_errors(detach(scale)))));
    }
    return ops::where(depends, kNan, ops::where(mask, unknown_derivative(numerator), 0));
}

Tensor tangent_quotient(const Tensor& p, const Tensor& values, const Tensor& equal, const Tensor& second) {
    const Tensor left_out = ops::logical_or(equal, kernels::eye(equal.size(-1), {}, as_of({}, equal)));
    const Tensor gaps = differences_of(values);
    const Tensor regular = ops::where(left_out, 0, p / ops::where(left_out, 1, gaps));
    if (!second.defined()) return regular;
    const Tensor slopes = ops::diagonal(p, 0, -2, -1), parting = differences_of(slopes);
    Tensor part;
    {
        const Plain plain;
        part = ops::logical_and(equal, ops::gt(ops::abs(detach(parting)), rounding_errors(detach(p))));
    }
    const Tensor turning = ops::where(part, second / ops::where(part, parting, 1), 0);
    const Tensor unknown = nan_unless_zero(p, equal, p) + ops::where(equal, unknown_derivative(gaps), 0);
    return regular + turning + unknown;
}

Tensor shared_among_equal(const Tensor& grad, const Tensor& equal) {
    if (!holds_anywhere(equal)) return grad;
    Tensor excess, several;
    {
        const Plain plain;
        const Tensor g = detach(grad),
                     group = ops::logical_or(equal, kernels::eye(equal.size(-1), {}, as_of({}, equal)));
        const Tensor count = ops::sum(ops::to_dtype(group, real_dtype(g.dtype())), Dims{-1});
        const Tensor mean = ops::sum(ops::where(group, ops::unsqueeze(g, -2), 0), Dims{-1}) / count;
        several = ops::gt(count, 1);
        excess = ops::where(several, g - mean, 0);
    }
    return grad - excess;  // what it depends on it depends on as before
}

Tensor zero_at_zero(const Tensor& grad, const Tensor& s) {
    Tensor excess;
    {
        const Plain plain;
        const Tensor g = detach(grad);
        const Tensor at_zero = ops::logical_and(ops::eq(detach(s), 0), ops::isfinite(g));
        if (!holds_anywhere(at_zero)) return grad;
        excess = ops::where(at_zero, g, 0);
    }
    return grad - excess;
}

}  // namespace wengert::ops::formulas
