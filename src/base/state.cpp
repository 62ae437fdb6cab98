#include "base/state.h"

namespace wengert {

constinit thread_local ThreadState state;

}  // namespace wengert
