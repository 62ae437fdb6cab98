#include "ops/dual_tensor.h"

#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "ops/recording.h"

namespace wengert {

bool overlaps_itself(const Tensor& t) noexcept {
    for (size_t d = 0; d < t.sizes().size(); ++d)
        if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
    return false;
}

namespace {

// The tangent mirrors the primal's layout, so that views of one are views of the other; but each element has its own.
Tensor laid_out_as(const Tensor& tangent, const Tensor& primal) {
    bool same = tangent.strides() == primal.strides() && tangent.dtype() == primal.dtype() &&
                (primal.numel() == 0 || tangent.offset() == primal.offset()) &&
                tangent.storage()->bytes() >= primal.storage()->bytes();
    if (same) return tangent;
    if (overlaps_itself(primal))
        return ops::clone(tangent.dtype() == primal.dtype() ? tangent : ops::to_dtype(tangent, primal.dtype()));
    // Room for the primal's whole storage: its base may be seen through other views.
    int64_t elements = primal.storage()->bytes() / item_size(primal.dtype());
    Tensor room = zeros(Dims{elements}, primal.dtype(), primal.device());
    Tensor out = alias(room, primal.sizes(), primal.strides(), primal.offset());
    return ops::copy_(out, tangent);
}

}  // namespace

Tensor make_dual(const Tensor& primal, const Tensor& tangent, int32_t level) {
    for (const Tensor* t : {&primal, &tangent}) {
        const char* role = t == &primal ? "primal" : "tangent";
        check(is_differentiable(t->dtype()), ErrorKind::Value, "[make_dual] Expected ", role,
              " to be floating point or complex, but got: ", t->dtype(), "; convert it first");
        check(!tangent_at(*t, level).defined(), ErrorKind::Runtime, "make_dual: the ", role,
              " already has a forward gradient at the same level ", level, "; unpack it first");
    }
    check(primal.sizes() == tangent.sizes(), ErrorKind::Runtime,
          "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
          "supported. Tensor is of size ",
          ShapeOf{primal.sizes()}, " while the given forward gradient is of size ", ShapeOf{tangent.sizes()}, ".");
    check(primal.device() == tangent.device(), ErrorKind::Runtime, "[make_dual] the primal is on ", primal.device(),
          " and the tangent on ", tangent.device(), "; move one of them with .to(device)");
    LevelGuard hide(level);
    Tensor dual = ops::alias(primal);
    if (ViewInfo* view = view_info(dual)) view->forward = false;
    set_tangent(dual, level, laid_out_as(tangent, primal));
    return dual;
}

DualTensor unpack_dual(const Tensor& dual, int32_t level) {
    inherit_tangents(dual);
    const Tensor tangent = tangent_at(dual, level);
    LevelGuard hide(level);
    Tensor primal = ops::alias(dual);
    if (ViewInfo* view = view_info(primal)) view->forward = false;
    return {primal, tangent};
}

}  // namespace wengert
