#include "ops/known_values.h"

#include "generated/ops/comparison.h"
#include "generated/ops/queries.h"
#include "generated/ops/reductions.h"
#include "kernels/on_host.h"
#include "kernels/queries.h"
#include "kernels/reductions/nan_check.h"
#include "ops/batching/batch.h"
#include "ops/watch.h"

namespace wengert::ops {
namespace {

bool has_own_mode(const Tensor& t) noexcept { return dispatched(t) & state.mask; }

}  // namespace

Scalar value_of(const Tensor& one) { return has_own_mode(one) ? _local_scalar_dense(one) : kernels::local_scalar(one); }
bool is_true(const Tensor& one) {
    if (is_batched(one)) batching::refuse_value("bool");  // samples may disagree
    return has_own_mode(one) ? value_of(one).to<bool>() : kernels::is_nonzero(one);
}
bool is_any_true(const Tensor& mask) { return has_own_mode(mask) ? is_true(any(mask)) : kernels::is_any_true(mask); }
bool are_all_true(const Tensor& mask) { return has_own_mode(mask) ? is_true(all(mask)) : kernels::are_all_true(mask); }
bool all_finite(const Tensor& t) { return has_own_mode(t) ? is_true(all(isfinite(t))) : kernels::all_finite(t); }

}  // namespace wengert::ops
