// What is known of a function h of lengths where these are 0: its derivative c, and with it all that follow
// (ops/formulas/direction.h).
#pragma once

#include <limits>
#include <optional>

#include "ops/formulas/direction.h"
#include "ops/recording.h"
#include "tensor/tensor.h"

namespace wengert::ops::formulas::cusps {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool any(const Tensor& mask);
Tensor zero_mask(const Tensor& r);

// What lengths were made of, and how.
struct Reduction {
    Ref<Node> maker;  // of the lengths; null if that was not recorded
    Dims sizes;       // of x
    std::optional<Dims> dim;
    bool keepdim, isotropic;
    double metric = 1;
    bool elementwise = false;

    Reduction(const Tensor& x, const Lengths& r)
        : maker(gradient_edge(r.value).function),
          sizes(x.sizes()),
          dim(r.dim),
          keepdim(r.keepdim),
          isotropic(r.isotropic),
          metric(r.metric) {}
    Reduction(const Tensor& x, Ref<Node> maker)
        : maker(std::move(maker)), sizes(x.sizes()), keepdim(false), isotropic(true), elementwise(true) {}

    Tensor wide(const Tensor& t) const;  // of the shape of lengths, in that of x
    Tensor inner(const Tensor& a, const Tensor& b) const;
};

// How c, the derivative of h, follows from the lengths; x has some that are 0.
struct Near {
    Reduction how;
    Tensor c, x, r;
    bool is_constant;      // a c that was not recorded depends on nothing
    bool derived = false;  // c belongs to a derivative of h, not to h itself
};

// The slopes of all c with respect to their own lengths, where these are 0.
Tensor slope_near(const Near& near, const Tensor& c, bool record);
// Where the gradient of c goes; nowhere if it depends on nothing but its lengths.
Edge edge_of_cotangent(const Near& near);
// Where c cannot depend on its lengths, whatever their value: it is masked, or made of other things.
Tensor is_flat(const Near& near);
// (1/r d/dr)^m h at r = 0: the derivative of h of order 2 m, divided by 1 * 3 * 5 ... (2 m - 1). Infinite where one of
// odd order is not 0 before.
Tensor coefficient(const Near& near, size_t m, bool record);

}  // namespace wengert::ops::formulas::cusps
