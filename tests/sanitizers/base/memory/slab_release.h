// Without slabs there is nothing to give back.
#pragma once

#include <cstddef>

namespace wengert {

inline void slab_release() noexcept {}
inline size_t slab_bytes() noexcept { return 0; }

}  // namespace wengert
