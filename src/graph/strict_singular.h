// Whether the chain rule multiplies strictly: 0 * inf = NaN.
//
// Usually a cotangent of exactly 0 stays 0 whatever it meets, so that elements which nobody asked for never poison a
// gradient. For those who look for singularities strict mode makes of it the plain product. The flag belongs to the
// process, as that of anomaly mode. Fused kernels have the usual product built in, so they are left aside then.
#pragma once

#include <atomic>

#include "base/api.h"

namespace wengert {

WENGERT_API extern std::atomic<bool> strict_singular_flag;

inline bool strict_singular() noexcept { return strict_singular_flag.load(std::memory_order_relaxed); }
inline void set_strict_singular(bool on) noexcept { strict_singular_flag.store(on, std::memory_order_relaxed); }

}  // namespace wengert
