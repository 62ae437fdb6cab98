// Copies between tensors: conversion, broadcasting, layout, devices.
#include "kernels/elementwise/on_device.h"
#include "kernels/elementwise/overlap.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "tensor/representable.h"

namespace wengert::kernels {
namespace {

// Of one layout without gaps, on memory that nobody else has made tensors of: what most copies are.
bool is_simple(const Tensor& dst, const Tensor& src) {
    const Storage &to = *dst.storage(), &from = *src.storage();
    return dst.dtype() == src.dtype() && dst.sizes() == src.sizes() && dst.strides() == src.strides() && &to != &from &&
           to.device() == from.device() && !to.is_foreign() && !from.is_foreign() && dst.is_contiguous();
}

}  // namespace

void copy_into(const Tensor& dst, const Tensor& src) {
    if (is_simple(dst, src)) return copy_kernel(dst, src);
    check(is_broadcastable_to(src.sizes(), dst.sizes()), ErrorKind::Runtime, "[copy_] output with shape ",
          ShapeOf{dst.sizes()}, " doesn't match the broadcast shape ", ShapeOf{src.sizes()});
    check_no_internal_overlap(dst, "copy_");
    if (!(dst.device() == src.device()) && (is_off_host(dst) || is_off_host(src)))
        return copy_between_devices(dst, src);
    switch (overlap(src.data(), src.sizes(), src.strides(), src.dtype(), dst)) {
        case Overlap::Exact:
            return;
        case Overlap::Partial:
            return copy_into(dst, clone(src));
        case Overlap::None:
            break;
    }
    copy_disjoint(dst, src);
}

void copy_disjoint(const Tensor& dst, const Tensor& src) { copy_kernel(dst, src); }

void fill_(const Tensor& dst, const Scalar& value) {
    check_representable(value, dst.dtype());
    fill_kernel(dst, value);
}

Tensor to_dtype(const Tensor& t, DType dtype) {
    if (t.dtype() == dtype) return t;
    Tensor out = empty_like(t, dtype);
    copy_into(out, t);
    return out;
}

Tensor contiguous(const Tensor& t) {
    if (t.is_contiguous()) return t;
    Tensor out = empty(t.sizes(), t.dtype(), t.device());
    copy_into(out, t);
    return out;
}

Tensor clone(const Tensor& t) {
    if (t.is_non_overlapping_and_dense()) {
        Tensor out = empty_same(*t.impl(), t.dtype());
        copy_kernel(out, t);
        return out;
    }
    Tensor out = empty(t.sizes(), t.dtype(), t.device());
    copy_into(out, t);
    return out;
}

Tensor sum_to_size(const Tensor& t, IntSpan sizes) {
    if (std::ranges::equal(t.sizes(), sizes)) return t;
    check(is_broadcastable_to(sizes, t.sizes()), ErrorKind::Runtime, "[sum_to_size] size ", ShapeOf{sizes},
          " is not expandable to size ", ShapeOf{t.sizes()});
    Dims summed;
    size_t lead = t.sizes().size() - sizes.size();
    for (size_t d = 0; d < t.sizes().size(); ++d)
        if (d < lead || (sizes[d - lead] == 1 && t.sizes()[d] != 1)) summed.push_back(static_cast<int64_t>(d));
    Tensor kept = summed.empty() ? t : sum(t, summed, true, t.dtype());
    Dims strides(kept.strides().begin() + lead, kept.strides().end());  // the leading dimensions have size 1 by now
    return alias(kept, sizes, strides, kept.offset());
}

}  // namespace wengert::kernels
