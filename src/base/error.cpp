#include "base/error.h"

#include <atomic>
#include <cstdio>

#include "base/threads/thread_end.h"
#include "base/warnings.h"
#include "base/warns_once.h"

namespace wengert {

constinit std::atomic<bool> WarnsOnce::always = false;

namespace {

void print_warning(WarningKind, const std::string& message) { std::fprintf(stderr, "Warning: %s\n", message.c_str()); }

std::atomic<WarningHandler> current_handler{print_warning};
constinit thread_local DelayedWarnings* current_sink = nullptr;

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) noexcept {
    return current_handler.exchange(handler ? handler : print_warning);
}

void warn(WarningKind kind, const std::string& message) {
    if (current_sink)
        current_sink->add(kind, message);
    else
        current_handler.load()(kind, message);
}

DelayedWarnings::Scope::Scope(DelayedWarnings& sink) noexcept : previous_(std::exchange(current_sink, &sink)) {}
DelayedWarnings::Scope::~Scope() { current_sink = previous_; }

void DelayedWarnings::add(WarningKind kind, const std::string& message) {
    std::lock_guard lock(mutex_);
    kept_.emplace_back(kind, message);
}

void DelayedWarnings::replay() {
    std::exception_ptr raised;
    for (const auto& [kind, message] : std::exchange(kept_, {})) try {
            warn(kind, message);
        } catch (...) {
            sleep_if_thread_ends();
            if (!raised) raised = std::current_exception();
        }
    if (raised) std::rethrow_exception(raised);
}

}  // namespace wengert
