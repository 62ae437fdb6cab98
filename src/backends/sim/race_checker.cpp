#include "backends/sim/race_checker.h"

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace wengert::sim {
namespace {

constexpr size_t kMostFound = 1000;  // that are kept

bool covers(const Region& a, const Region& b) noexcept {
    return a.covers(b) ||
           (a.begin == b.begin && a.end == b.end && a.pitch == b.pitch && a.start == b.start && a.width == b.width);
}

// Whether `later`, of whom `known` is the clock, stands for `earlier`: everybody who comes after it comes after both.
bool stands_for(const Access& later, const Clock& known, const Access& earlier) noexcept {
    if (!covers(later.region, earlier.region)) return false;
    return later.is_write ? known.of(earlier.stream) >= earlier.time
                          : !earlier.is_write && earlier.stream == later.stream;
}

}  // namespace

Stream stream_of(size_t number) noexcept {
    const auto n = static_cast<int64_t>(number);
    return {{DeviceType::Sim, static_cast<int8_t>(n / kStreams)}, n % kStreams};
}
size_t number_of(Stream stream) noexcept { return static_cast<size_t>(stream.device.index * kStreams + stream.id); }

RaceChecker::RaceChecker() {
    const char* wanted = std::getenv("WENGERT_SIM_CHECK");
    const bool on = wanted && *wanted && std::string_view(wanted) != "0";
    mode = on ? RaceCheck::Raise : RaceCheck::Off;
}

void RaceChecker::enter(size_t stream, Clock& now, const Clock& host, const char* operation,
                        const std::vector<Use>& uses) {
    now.join(host);
    if (mode == RaceCheck::Off) {
        now.tick(stream);
        return;
    }
    for (const Use& use : uses) check(stream, now, operation, use);
    const uint64_t time = now.tick(stream);
    for (const Use& use : uses) {
        const Access access{use.region, use.is_write, stream, time, operation, use.tenant};
        std::erase_if(*use.history, [&](const Access& earlier) {
            return host.of(earlier.stream) >= earlier.time || stands_for(access, now, earlier);
        });
        use.history->push_back(access);
    }
}

void RaceChecker::check(size_t stream, const Clock& now, const char* operation, const Use& use) {
    for (const Access& other : *use.history)
        if ((use.is_write || other.is_write) && now.of(other.stream) < other.time && overlap(use.region, other.region))
            report(stream, operation, use, other);
}

void RaceChecker::report(size_t stream, const char* operation, const Use& use, const Access& other) {
    const Stream here = stream_of(stream), there = stream_of(other.stream);
    std::ostringstream text;
    text << "[sim] race: '" << operation << "' on stream " << here.id << " of " << here.device
         << (use.is_write ? " writes" : " reads") << " memory that '" << other.operation << "' on stream " << there.id;
    if (!(there.device == here.device)) text << " of " << there.device;
    text << (other.is_write ? " writes" : " reads") << ", and nothing orders them: ";
    if (other.tenant == use.tenant)
        text << "record an event there and let this stream wait for it (wait_stream)";
    else
        text << "the tensor of that time died before the stream was done with it, and its memory was given away; call "
                "record_stream on what is used on another stream than the one it was made on";
    if (found.size() < kMostFound && std::ranges::find(found, text.str()) == found.end()) found.push_back(text.str());
    if (mode == RaceCheck::Raise) fail(ErrorKind::Runtime, text.str());
}

}  // namespace wengert::sim
