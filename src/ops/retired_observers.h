// Observers that are no longer needed, though some thread may be telling them of an operation just now.
//
// What an observer does may run user code (a log's callback, a finaliser), and that may stop observers, the one that is
// being told included. So they are given here instead of being deleted, and end when nobody is told of anything.
#pragma once

#include <memory>

#include "ops/watch.h"

namespace wengert {

// Of an observer that sits in no stack any more.
void retire(std::unique_ptr<OperationObserver> observer) noexcept;

}  // namespace wengert
