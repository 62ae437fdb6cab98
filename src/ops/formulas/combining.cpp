#include "generated/ops/formulas/combining.h"

#include <algorithm>
#include <vector>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/queries.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "kernels/on_host.h"
#include "ops/known_values.h"

namespace wengert::ops::formulas {

// Tensors that differ mostly do so early: growing parts are compared one after the other.
bool same_elements(const Tensor& a, const Tensor& b) {
    if (a.sizes() != b.sizes()) return false;
    const auto same = [](const Tensor& x, const Tensor& y) { return ops::is_true(ops::all(ops::eq(x, y))); };
    constexpr int64_t kFirst = 4096, kGrowth = 8;
    const int64_t n = a.numel();
    if (n <= kFirst * kGrowth || !a.is_contiguous() || !b.is_contiguous()) return same(a, b);
    const Tensor x = ops::reshape(a, Dims{-1}), y = ops::reshape(b, Dims{-1});
    for (int64_t begin = 0, end = kFirst; begin < n; begin = end, end = std::min(n, end * kGrowth))
        if (!same(ops::slice(x, 0, begin, end), ops::slice(y, 0, begin, end))) return false;
    return true;
}

bool all_close(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
    return ops::is_true(ops::all(ops::isclose(a, b, rtol, atol, equal_nan)));
}

Tensor products_of_vectors(TensorSpan vectors) {
    for (const Tensor& t : vectors)
        check(t.dim() == 1, ErrorKind::Runtime, "Expect a 1D vector, but got shape ", ShapeOf{t.sizes()});
    if (vectors.size() == 1) return vectors[0];
    TensorList columns;
    for (const Tensor& grid : ops::meshgrid(vectors, "ij")) columns.push_back(ops::flatten(grid));
    return ops::stack(columns, 1);
}

Tensor combinations_of(const Tensor& vector, int64_t r, bool with_replacement) {
    check(vector.dim() == 1, ErrorKind::Runtime, "Expect a 1D vector, but got shape ", ShapeOf{vector.sizes()});
    check(r >= 0, ErrorKind::Runtime, "Expect a non-negative number, but got ", r);
    if (r == 0) return empty(Dims{0}, vector.dtype(), vector.device());
    const int64_t n = vector.size(0), step = with_replacement ? 0 : 1;
    std::vector<int64_t> rows;
    if (with_replacement ? n > 0 : r <= n) {
        std::vector<int64_t> row(static_cast<size_t>(r));  // grows by at least `step` from place to place
        const auto place = [&](int64_t i) -> int64_t& { return row[static_cast<size_t>(i)]; };
        for (int64_t i = 0; i < r; ++i) place(i) = i * step;
        for (int64_t i = 0; i >= 0;) {
            rows.insert(rows.end(), row.begin(), row.end());
            for (i = r - 1; i >= 0 && place(i) == n - 1 - step * (r - 1 - i);) --i;  // the last that can be larger
            if (i >= 0) ++place(i);
            for (int64_t k = i + 1; i >= 0 && k < r; ++k) place(k) = place(k - 1) + step;
        }
    }
    const Tensor places = empty(Dims{static_cast<int64_t>(rows.size())}, DType::Int64);
    std::copy(rows.begin(), rows.end(), places.data_as<int64_t>());
    return ops::reshape(ops::index_select(vector, 0, kernels::on_device(places, vector.device())),
                        Dims{places.numel() / r, r});
}

Tensor raised_in_double(const Tensor& self, const Operand& exponent) {
    const bool complex = is_complex(self.dtype()) || is_complex(exponent.dtype());
    const DType dtype = complex ? DType::Complex128 : DType::Float64;
    check(self.dtype() == dtype, ErrorKind::Runtime, "the base given to float_power_ has dtype ", self.dtype(),
          " but the operation's result requires dtype ", dtype, "; use float_power");
    return ops::pow_(self, exponent);
}

}  // namespace wengert::ops::formulas
