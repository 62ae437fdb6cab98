#include "base/abi.h"

namespace wengert {

const char* abi() noexcept { return WENGERT_ABI; }

}  // namespace wengert
