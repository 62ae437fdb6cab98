#include "base/error.h"

#include <atomic>
#include <cstdio>

namespace wengert {
namespace {

void print_warning(WarningKind, const std::string& message) { std::fprintf(stderr, "Warning: %s\n", message.c_str()); }

std::atomic<WarningHandler> current_handler{print_warning};

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) noexcept {
    return current_handler.exchange(handler ? handler : print_warning);
}

void warn(WarningKind kind, const std::string& message) { current_handler.load()(kind, message); }

}  // namespace wengert
