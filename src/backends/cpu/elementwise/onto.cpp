// Elementwise kernels whose results are added to a sum at once (kernels/elementwise/traffic.h, run_onto).
#include "backends/cpu/elementwise/flat_operands.h"
#include "base/threads/parallel_for.h"
#include "kernels/elementwise/on_device.h"
#include "kernels/elementwise/traffic.h"

namespace wengert::kernels {
namespace {

// Blocks have whole vectors, and the last one is no shorter than the others: so each element is computed by the same
// instructions as in one pass over all of them.
constexpr int64_t kBlockBytes = 8192;
constexpr int64_t kFewest = kBlockBytes;  // elements; it would not pay for fewer

bool is_plain(const Tensor& t) noexcept { return t.flags() == 0 && !t.impl()->meta; }

bool may_become_sum(const Tensor& t, const Tensor& sum) {
    return is_unseen(t) && is_plain(t) && t.dtype() == sum.dtype() && same_shape(t, sum) && t.is_contiguous();
}

// target[...] = sum[...] + block[...], the next elements each time.
class Adding {
public:
    // Which term comes first decides which NaN comes out: as in InputBuffer::add.
    Adding(Loop loop, const Tensor& sum, const Tensor& target, std::byte* block, int64_t item)
        : loop_(loop), sum_(target.is_same(sum) ? 0 : 1) {
        set(sum_, sum.data(), is_constant(sum) ? 0 : item);
        set(1 - sum_, block, item);
        set(2, target.data(), item);
    }
    void run(int64_t n) {
        loop_(data_, n, steps_);
        advance(n);
    }
    void advance(int64_t n) noexcept {
        data_[sum_] += n * steps_[sum_];
        data_[2] += n * steps_[2];
    }

private:
    void set(int i, std::byte* data, int64_t step) noexcept {
        data_[i] = reinterpret_cast<char*>(data);
        steps_[i] = step;
    }

    const Loop loop_;
    const int sum_;
    char* data_[3];
    int64_t steps_[3];
};

}  // namespace

bool run_onto(Tensor& sum, DType compute, const Kernel& kernel, const Kernel& add, Operands inputs,
              const Tensor* reusable) {
    if (sum.numel() < kFewest || sum.dtype() != compute || result_dtype(kernel, compute) != compute || !is_plain(sum) ||
        !(sum.is_contiguous() || is_constant(sum)))
        return false;
    FlatOperands operands;
    if (any_off_host(inputs) || is_off_host(sum) || !operands.bind(kernel, compute, inputs, sum.sizes())) return false;

    const Tensor target = may_become_sum(sum, sum)                     ? sum
                          : reusable && may_become_sum(*reusable, sum) ? *reusable
                                                                       : empty(sum.sizes(), compute);
    const int64_t item = item_size(compute), room = kBlockBytes / item;
    const Loop loop = loop_of(kernel, compute), add_loop = loop_of(add, compute);
    parallel_for(sum.numel(), kParallelBlock, [&](int64_t begin, int64_t end) {
        alignas(64) std::byte block[2 * kBlockBytes];
        FlatOperands own(operands);
        own.set_output(block, item);
        own.advance(begin);
        Adding adding(add_loop, sum, target, block, item);
        adding.advance(begin);
        for (int64_t left = end - begin, n; left > 0; left -= n) {
            n = left < 2 * room ? left : room;
            own.run(loop, n);
            adding.run(n);
            own.advance(n);
        }
    });
    sum = target;
    return true;
}

}  // namespace wengert::kernels
