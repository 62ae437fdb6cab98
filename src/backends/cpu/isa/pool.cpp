// A row of max pooling, once per instruction set. Which element of a window is the largest cannot be predicted, so the loop
// selects instead of branching: it carries the number of the winning tap, an integer as wide as the element, so that the
// compiler vectorises both.
#include <cstdint>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/nn/pool_loops.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T, class Int>
void max_row(const MaxRow<T>& r) {
    constexpr int64_t chunk = 64;
    T best[chunk], candidate[chunk];
    Int winner[chunk];
    for (int64_t start = 0; start < r.n; start += chunk) {
        int64_t n = r.n - start < chunk ? r.n - start : chunk, origin = r.origin + start * r.stride;
        for (int64_t k = 0; k < r.count; ++k) {
            const T* from = r.plane + origin + r.taps[k];
            T* to = k == 0 ? best : candidate;
            for (int64_t x = 0; x < n; ++x) to[x] = from[x * r.stride];
            if (k == 0) {
                for (int64_t x = 0; x < n; ++x) winner[x] = 0;
                continue;
            }
            for (int64_t x = 0; x < n; ++x) {
                bool better = (candidate[x] > best[x]) | (candidate[x] != candidate[x]);  // NaN wins
                best[x] = better ? candidate[x] : best[x];
                winner[x] = better ? static_cast<Int>(k) : winner[x];
            }
        }
        for (int64_t x = 0; x < n; ++x) {
            r.value[start + x] = best[x];
            r.index[start + x] = origin + x * r.stride + r.taps[winner[x]];
        }
    }
}

}  // namespace

extern const PoolTable pool_table;
const PoolTable pool_table = {max_row<float, int32_t>, max_row<double, int64_t>};

}  // namespace wengert::kernels::WENGERT_ISA
