// How the elements of a tensor are kept: strided in memory, or sparse.
//
// The core computes with strided tensors alone. A sparse one has the flag kDispatched and a class of Python that keeps
// indices and values and computes with them (ops/watch.h); what the core knows of it is its layout, in three bits of the
// flags above those of base/state.h, because gradients of the two kinds meet in leaves (ops/accumulate_grad.h).
#pragma once

#include "tensor/tensor.h"

namespace wengert {

enum class Layout : uint8_t { Strided, SparseCoo, SparseCsr, SparseCsc, SparseBsr, SparseBsc };

constexpr int kLayoutShift = 17;
constexpr uint32_t kLayoutMask = 7u << kLayoutShift;
static_assert(kReduced < 1u << kLayoutShift);

inline Layout layout_of(const Tensor& t) noexcept {
    return static_cast<Layout>((t.flags() & kLayoutMask) >> kLayoutShift);
}
inline bool is_sparse(const Tensor& t) noexcept { return t.defined() && (t.flags() & kLayoutMask); }
inline void set_layout(const Tensor& t, Layout layout) noexcept {
    t.impl()->flags = (t.flags() & ~kLayoutMask) | uint32_t{static_cast<uint8_t>(layout)} << kLayoutShift;
}

}  // namespace wengert
