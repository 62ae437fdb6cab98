#include "base/threads/thread_end.h"

#include <cxxabi.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

namespace wengert {
namespace {

bool (*process_is_ending)() noexcept = nullptr;
std::terminate_handler previous_handler = nullptr;

[[noreturn]] void on_terminate() {
    // A C++ exception that nobody caught is an error at any time.
    if (!abi::__cxa_current_exception_type() && process_is_ending()) sleep_forever();
    previous_handler();
    std::abort();
}

}  // namespace

void sleep_forever() noexcept {
    for (;;) pause();
}

void sleep_if_thread_ends() noexcept {
    if (!abi::__cxa_current_exception_type()) sleep_forever();
}

void sleep_instead_of_terminating(bool (*ending)() noexcept) noexcept {
    if (process_is_ending) return;
    process_is_ending = ending;
    previous_handler = std::set_terminate(on_terminate);
}

}  // namespace wengert
