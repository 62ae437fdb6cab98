// Memory that the system refused. The message says how much was asked for, and takes no memory itself.
#pragma once

#include <cstdio>
#include <new>

namespace wengert {

class OutOfMemory final : public std::bad_alloc {
public:
    explicit OutOfMemory(size_t bytes) noexcept {
        std::snprintf(text_, sizeof text_, "out of memory: %zu bytes were asked for", bytes);
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[64];
};

}  // namespace wengert
