// The devices that this library was built with.
#pragma once

#include <span>

#include "generated/built_in_backends.h"
#include "tensor/backend.h"

namespace wengert::backends {

inline std::span<Backend* const> built_in() noexcept {
    static Backend* const all[] = {WENGERT_BUILT_IN_BACKENDS};
    return all;
}

}  // namespace wengert::backends
