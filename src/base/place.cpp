#include "base/place.h"

namespace wengert {

std::shared_ptr<const Place> (*current_place)() = nullptr;
constinit std::atomic<bool> DebugMode::enabled_ = false;

}  // namespace wengert
