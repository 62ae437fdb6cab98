#include "tensor/writes/region.h"

#include <algorithm>
#include <limits>

namespace wengert {
namespace {

// Two windows on a circle of `pitch` bytes.
bool windows_meet(int64_t start_a, int64_t width_a, int64_t start_b, int64_t width_b, int64_t pitch) noexcept {
    int64_t ahead = ((start_b - start_a) % pitch + pitch) % pitch;  // from the one to the other
    return ahead < width_a || (ahead == 0 ? 0 : pitch - ahead) < width_b;
}

bool meets_strided(const Region& dense, const Region& strided) noexcept {
    int64_t from = std::max(dense.begin, strided.begin), to = std::min(dense.end, strided.end);
    if (to - from >= strided.pitch) return true;
    return windows_meet(from % strided.pitch, to - from, strided.start, strided.width, strided.pitch);
}

}  // namespace

Region region_of(const TensorImpl& t) {
    const int64_t item = item_size(t.dtype);
    // Whoever keeps the elements says what the geometry means.
    if (!t.storage->has_memory()) return {.begin = 0, .end = std::numeric_limits<int64_t>::max()};
    Region region{.begin = t.offset * item, .end = t.offset * item};
    if (is_contiguous(t.sizes, t.strides)) {
        region.end += t.numel * item;
        return region;
    }
    struct Step {
        int64_t size, stride;
    };
    SmallVector<Step, 6> steps;  // bytes; the smallest first
    for (size_t d = 0; d < t.sizes.size(); ++d)
        if (t.sizes[d] > 1 && t.strides[d] != 0) steps.push_back({t.sizes[d], t.strides[d] * item});
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.stride < b.stride; });
    region.end += item;
    for (const Step& s : steps) region.end += (s.size - 1) * s.stride;
    int64_t run = item;  // length of the pieces without gaps
    for (const Step& s : steps) {
        if (region.is_dense() && s.stride <= run) {
            run += (s.size - 1) * s.stride;
        } else if (region.is_dense()) {
            region.pitch = s.stride;
            region.start = region.begin % s.stride;
            region.width = run;
        } else if (s.stride % region.pitch != 0) {
            region.pitch = 0;  // too intricate: all of the range
            break;
        }
    }
    return region;
}

bool overlap(const Region& a, const Region& b) noexcept {
    if (a.empty() || b.empty() || a.begin >= b.end || b.begin >= a.end) return false;
    if (a.is_dense()) return b.is_dense() || meets_strided(a, b);
    if (b.is_dense()) return meets_strided(b, a);
    const Region& fine = a.pitch <= b.pitch ? a : b;
    const Region& coarse = a.pitch <= b.pitch ? b : a;
    if (coarse.pitch % fine.pitch != 0 || coarse.width >= fine.pitch) return true;
    return windows_meet(fine.start, fine.width, coarse.start % fine.pitch, coarse.width, fine.pitch);
}

Region hull(const Region& a, const Region& b) noexcept {
    if (a.empty()) return b;
    if (b.empty()) return a;
    Region both{.begin = std::min(a.begin, b.begin), .end = std::max(a.end, b.end)};
    if (a.pitch != b.pitch || a.is_dense()) return both;
    int64_t from = std::min(a.start, b.start), to = std::max(a.start + a.width, b.start + b.width);
    if (to - from >= a.pitch) return both;
    both.pitch = a.pitch;
    both.start = from;
    both.width = to - from;
    return both;
}

}  // namespace wengert
