#include "ops/batching/linalg/systems.h"
#include "generated/ops/linalg.h"
#include "generated/ops/views.h"

#include <algorithm>

namespace wengert::ops::batching {
namespace {

// Both with the batch in front, and as many dimensions.
struct System {
    Tensor a, b;
    System(const Batch& batch, const Tensor& A, const Tensor& B) {
        const int64_t rank = std::max(A.dim(), B.dim());
        a = batch.expanded_to(A, rank);
        b = batch.expanded_to(B, rank);
    }
};

Tensor as_columns(const Tensor& B, bool vector) { return vector ? ops::unsqueeze(B, -1) : B; }
Tensor as_given(const Tensor& solution, bool vector) { return vector ? ops::select(solution, -1, 0) : solution; }

}  // namespace

std::tuple<Tensor, Tensor> solved_system(const Batch& batch, const Tensor& A, const Tensor& B, bool left,
                                         bool check_errors) {
    if (A.dim() < 2) throw NoRule{};
    const IntSpan sizes = A.sizes(), matrices = sizes.first(sizes.size() - 2);
    const bool vector = B.dim() == 1 || std::ranges::equal(B.sizes(), sizes.first(sizes.size() - 1));
    if (vector && !left) throw NoRule{};
    const System s(batch, A, as_columns(B, vector));
    const auto [solution, info] = ops::linalg_solve_ex(s.a, s.b, left, check_errors);
    return {as_given(batch.wrap(solution), vector), batch.wrap(ops::reshape(info, with_batch(batch, matrices)))};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> least_squares(const Batch& batch, const Tensor& A, const Tensor& B,
                                                         std::optional<double> rcond,
                                                         std::optional<std::string_view> driver) {
    const bool vector = B.dim() == A.dim() - 1;
    if (A.dim() < 2 || (!vector && B.dim() != A.dim())) throw NoRule{};
    const System s(batch, A, as_columns(B, vector));
    auto found = batch.wrap_given(ops::linalg_lstsq(s.a, s.b, rcond, driver));
    std::get<0>(found) = as_given(std::get<0>(found), vector);
    return found;
}

}  // namespace wengert::ops::batching
