// Warnings that a pass's helper threads give: kept, and given again by the thread that started the pass, where they get
// the user's line and follow the user's filters.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"

namespace wengert {

class DelayedWarnings {
public:
    // While it lives, warnings of this thread go to `sink`.
    class Scope {
    public:
        explicit Scope(DelayedWarnings& sink) noexcept;
        ~Scope();
        Scope(const Scope&) = delete;

    private:
        DelayedWarnings* previous_;
    };

    void add(WarningKind kind, const std::string& message);
    // Gives them all; what the handler throws (warnings may be errors) is thrown after the last one.
    void replay();

private:
    std::mutex mutex_;
    std::vector<std::pair<WarningKind, std::string>> kept_;
};

}  // namespace wengert
