// Vector clocks: what is known of the work of all streams. Work number n of stream i is known to, and so comes before,
// whoever's clock says at least n for i.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace wengert::sim {

class Clock {
public:
    uint64_t of(size_t stream) const noexcept { return stream < known_.size() ? known_[stream] : 0; }
    uint64_t tick(size_t stream) {
        if (stream >= known_.size()) known_.resize(stream + 1);
        return ++known_[stream];
    }
    bool knows(const Clock& other) const noexcept {
        for (size_t i = 0; i < other.known_.size(); ++i)
            if (of(i) < other.known_[i]) return false;
        return true;
    }
    void join(const Clock& other) {
        if (other.known_.size() > known_.size()) known_.resize(other.known_.size());
        for (size_t i = 0; i < other.known_.size(); ++i) known_[i] = std::max(known_[i], other.known_[i]);
    }

private:
    std::vector<uint64_t> known_;
};

}  // namespace wengert::sim
