// Anomaly mode for a block of C++. The flags themselves (AnomalyMode) belong to the process, not to the thread.
#pragma once

#include "graph/node.h"

namespace wengert {

class DetectAnomalyGuard {
public:
    explicit DetectAnomalyGuard(bool check_nan = true) noexcept
        : enabled_(AnomalyMode::is_enabled()), check_nan_(AnomalyMode::should_check_nan()) {
        AnomalyMode::set_enabled(true, check_nan);
    }
    ~DetectAnomalyGuard() { AnomalyMode::set_enabled(enabled_, check_nan_); }
    DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;

private:
    bool enabled_, check_nan_;
};

}  // namespace wengert
