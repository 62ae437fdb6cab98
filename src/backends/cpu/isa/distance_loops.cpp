// Euclidean distances (see backends/cpu/nn/distance_loops.h).
#include "backends/cpu/nn/distance_loops.h"
#include "backends/cpu/isa/rows.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T>
void squares(const T* x, const T* rows, int64_t count, int64_t n, T* out) {
    using L = Lanes<T>;
    for (int64_t s = 0; s < count; ++s, rows += n) {
        const double total = sum_in_lanes<T>(n / L::kCount, [=](L& lanes, int64_t step) {
            for (int k = 0; k < L::kVectors; ++k) {
                const int64_t at = step * L::kCount + k * L::kWidth;
                const auto d = L::load(x + at) - L::load(rows + at);
                lanes.v[k] += d * d;
            }
        });
        const int64_t done = n / L::kCount * L::kCount;
        const T rest = short_sum<T>(n - done, [=](auto load, int64_t i) {
            const auto d = load(x + done + i) - load(rows + done + i);
            return d * d;
        });
        out[s] = static_cast<T>(total + static_cast<double>(rest));
    }
}

template <class T>
void add_gradients(const T* __restrict x, const T* __restrict rows, int64_t count, int64_t n, const T* norm,
                   const T* cotangent, T* __restrict to, T* __restrict others) {
    for (int64_t s = 0; s < count; ++s, rows += n, others += n) {
        const T length = norm[s], factor = cotangent[s];
        if (length == 0 || factor == 0) continue;
        for (int64_t i = 0; i < n; ++i) {
            const T g = factor * ((x[i] - rows[i]) / length);
            to[i] += g;
            others[i] -= g;
        }
    }
}

template <class T>
constexpr DistanceLoops<T> loops() {
    return {squares<T>, add_gradients<T>};
}

}  // namespace

extern const DistanceTable distance_table;
constinit const DistanceTable distance_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
