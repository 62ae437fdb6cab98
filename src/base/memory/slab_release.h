// Gives slabs back to the system (see slab.h): those of which no block is in use. What other threads keep in their lists
// counts as in use.
#pragma once

#include <cstddef>

namespace wengert {

void slab_release() noexcept;
size_t slab_bytes() noexcept;  // of all slabs there are

}  // namespace wengert
