#include "base/refcount.h"

namespace wengert {

bool concurrent_counts = true;

}  // namespace wengert
