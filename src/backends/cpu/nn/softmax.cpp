// softmax and log_softmax on the CPU (kernels/nn/softmax.h).
#include <algorithm>
#include <atomic>
#include <cmath>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/softmax_loops.h"
#include "kernels/nn/normalize_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(SoftmaxTable, softmax_table)

namespace {

constexpr int64_t kInCache = 4096;     // elements
constexpr int64_t kGrouped = 1 << 15;  // larger blocks are taken one by one

struct Blocks {
    int64_t outer = 1, n = 1, inner = 1;
    Blocks(const Tensor& t, int64_t dim) {
        for (int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= t.sizes()[d];
    }
};

// At least `count` blocks, as whole groups: loops take small blocks in groups, which must not depend on where a thread
// begins, or a piece that stays in the cache.
int64_t in_groups(const Blocks& b, int64_t count) noexcept {
    const int64_t group = b.n * b.inner < kGrouped ? std::max<int64_t>(1, kVectors / b.inner) : 1;
    return (std::max<int64_t>(1, count) + group - 1) / group * group;
}

template <class T>
const SoftmaxLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return softmax_table().of_float;
    else
        return softmax_table().of_double;
}

template <bool kLog>
void forward(Result out, const Tensor& in, int64_t dim) {
    const Blocks b(in, dim);
    dispatch_floating(in.dtype(), "softmax", [&]<class T> {
        const auto loop = kLog ? loops<T>().log_softmax : loops<T>().softmax;
        const int64_t size = b.n * b.inner;
        parallel_for(b.outer, in_groups(b, units_of(size)),
                     [&, from = in.data_as<T>(), to = out->data_as<T>()](int64_t begin, int64_t end) {
                         loop(from + begin * size, to + begin * size, end - begin, b.n, b.inner);
                     });
    });
}

// Whether a block's lines are finite. What makes a line NaN or infinite is a number that all of it has in common, so the first
// element of each tells.
template <class T>
bool finite_lines(const T* block, int64_t outer, int64_t n, int64_t inner) {
    bool finite = true;
    for (int64_t o = 0; o < outer; ++o, block += n * inner)
        for (int64_t c = 0; c < inner; ++c) finite &= std::isfinite(block[c]);
    return finite;
}

template <bool kLog>
bool backward(Result out, const Tensor& grad, const Tensor& result, int64_t dim) {
    const Blocks b(result, dim);
    return dispatch_floating(result.dtype(), "softmax_backward", [&]<class T> {
        auto loop = kLog ? loops<T>().log_softmax_backward : loops<T>().softmax_backward;
        const int64_t size = b.n * b.inner, step = in_groups(b, kInCache / size);  // blocks that stay in the cache
        std::atomic<bool> all = true;
        parallel_for(b.outer, in_groups(b, units_of(size)), [&](int64_t begin, int64_t end) {
            for (int64_t o = begin; o < end; o += step) {
                const int64_t count = std::min(step, end - o);
                T* block = out->data_as<T>() + o * size;
                loop(grad.data_as<T>() + o * size, result.data_as<T>() + o * size, block, count, b.n, b.inner);
                if (!finite_lines(block, count, b.n, b.inner)) all.store(false, std::memory_order_relaxed);
            }
        });
        return all.load();
    });
}

}  // namespace

using Forward = void(Result, const Tensor&, int64_t);
using Backward = bool(Result, const Tensor&, const Tensor&, int64_t);

constinit DeviceKernel<Forward> softmax_kernel{"softmax", forward<false>};
constinit DeviceKernel<Forward> log_softmax_kernel{"log_softmax", forward<true>};
constinit DeviceKernel<Backward> softmax_backward_kernel{"softmax_backward", backward<false>};
constinit DeviceKernel<Backward> log_softmax_backward_kernel{"log_softmax_backward", backward<true>};

}  // namespace wengert::kernels
