// Errors of the core. Each carries the Python exception type that it becomes; the message names the operation, the
// values and the remedy. Raise with `fail(ErrorKind::Type, "[matmul] ", a, ...)` or test with `check(ok, ...)`.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "base/api.h"

namespace wengert {

enum class ErrorKind { Runtime, Type, Value, Index, NotImplemented, Attribute, Overflow, Memory, Buffer, ZeroDivision };

class WENGERT_API Error : public std::exception {
public:
    Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
    ErrorKind kind() const noexcept { return kind_; }
    const char* what() const noexcept override { return message_.c_str(); }

private:
    ErrorKind kind_;
    std::string message_;
};

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorKind kind, const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    throw Error(kind, std::move(out).str());
}

template <class... Parts>
void check(bool ok, ErrorKind kind, const Parts&... parts) {
    if (!ok) [[unlikely]]
        fail(kind, parts...);
}

// Warnings of the core go to a handler that the Python layer replaces (it makes UserWarnings of them).
enum class WarningKind { User, Future, Deprecation };
using WarningHandler = void (*)(WarningKind, const std::string&);
WarningHandler set_warning_handler(WarningHandler handler) noexcept;
void warn(WarningKind kind, const std::string& message);

}  // namespace wengert
