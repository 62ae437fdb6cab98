// Memory that the system refused, or a device.
#pragma once

#include <cstdio>
#include <new>

#include "base/error.h"

namespace wengert {

// The message says how much was asked for, and takes no memory itself.
class WENGERT_API OutOfMemory final : public std::bad_alloc {
public:
    explicit OutOfMemory(size_t bytes) noexcept {
        std::snprintf(text_, sizeof text_, "out of memory: %zu bytes were asked for", bytes);
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[64];
};

// A device's memory is full. In Python wengert.OutOfMemoryError, a RuntimeError.
class WENGERT_API OutOfDeviceMemory final : public Error {
public:
    explicit OutOfDeviceMemory(std::string message) : Error(ErrorKind::Runtime, std::move(message)) {}
};

}  // namespace wengert
