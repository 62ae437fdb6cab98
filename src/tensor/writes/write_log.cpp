#include "tensor/writes/write_log.h"

namespace wengert {

Places WriteLog::add(const Region& region, const char* operation, uint32_t number, std::shared_ptr<const Place> where) {
    Places dropped;
    if (region.covers(all_)) {
        writes_.clear();
        summaries_.clear();
        dropped.swap(places_);
    } else if (writes_.size() == kLimit) {
        constexpr size_t half = kLimit / 2;
        known_from_ = writes_[half - 1].number;
        writes_.erase(writes_.begin(), writes_.begin() + half);
        summaries_.erase(summaries_.begin(), summaries_.begin() + half / kBlock);
    }
    all_ = hull(all_, region);
    uint32_t place = 0;
    if (where) {
        places_.push_back(std::move(where));
        place = static_cast<uint32_t>(places_.size());
    }
    writes_.push_back({region, operation, number, place});
    if (writes_.size() % kBlock == 0) {
        Region summary;
        for (size_t i = writes_.size() - kBlock; i < writes_.size(); ++i) summary = hull(summary, writes_[i].region);
        summaries_.push_back(summary);
    }
    return dropped;
}

FoundWrite WriteLog::find(const Region& region, uint32_t since) const {
    for (size_t i = writes_.size(); i > 0;) {
        if (i % kBlock == 0 && !overlap(summaries_[i / kBlock - 1], region)) {
            i -= kBlock;
            continue;
        }
        const Write& w = writes_[--i];
        if (w.number <= since) return {};
        if (!overlap(w.region, region)) continue;
        FoundWrite found;
        found.any = true;
        found.outside = !w.operation;
        found.operation = w.operation;
        if (w.place) found.place = places_[w.place - 1];
        return found;
    }
    FoundWrite forgotten;
    forgotten.any = since < known_from_;
    return forgotten;
}

void WriteLog::forget_after(uint32_t number) {
    while (!writes_.empty() && writes_.back().number > number) writes_.pop_back();
    summaries_.resize(writes_.size() / kBlock);
}

}  // namespace wengert
