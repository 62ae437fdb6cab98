// Elementwise kernels whose results are summed at once (kernels/elementwise/elementwise.h, run_reduced).
#include <vector>

#include "backends/cpu/elementwise/arguments.h"
#include "backends/cpu/elementwise/flat_operands.h"
#include "backends/cpu/reductions/reducer.h"
#include "kernels/elementwise/on_device.h"

namespace wengert::kernels {
namespace {

// Takes results block by block and sums them.
class Sum {
public:
    static constexpr int64_t kBytes = 8192;  // beside the blocks of the operands in a first-level cache of 32 KiB

    explicit Sum(DType dtype, const char* op)
        : loop_(tile_loop(Reduction::Sum, dtype, op)), room_(kBytes / item_size(dtype)) {}

    char* buffer() noexcept { return buffer_; }
    int64_t room() const noexcept { return room_; }
    void add(int64_t n) { loop_(buffer_, {n, 1, 1, n}, &total_, 0); }

    double total() const noexcept { return total_; }
    void add_total(double other) noexcept { total_ += other; }

    void store(const Tensor& out, double divisor) const { store_scalar(out.data(), out.dtype(), total_ / divisor); }

private:
    TileLoop loop_;
    int64_t room_;
    double total_ = 0;
    alignas(64) char buffer_[kBytes];
};

// Rows of any length and layout fill the block one behind the other.
template <class L>
void sum_rows(const Kernel& kernel, const L& loop, int64_t item, const Arguments& arguments, Sum& sum) {
    const int out = kernel.inputs;
    StridedIteration iteration(arguments.shape());
    arguments.add_to(iteration);
    iteration.add(sum.buffer(), {}, {}, item);
    iteration.order();
    iteration.coalesce();
    int64_t filled = 0;
    iteration.for_each_row([&](char** pointers, int64_t left, const int64_t* given) {
        int64_t steps[StridedIteration::kMaxArrays];
        std::copy_n(given, out, steps);
        steps[out] = item;
        while (left > 0) {
            const int64_t n = std::min(left, sum.room() - filled);
            pointers[out] = sum.buffer() + filled * item;
            loop(pointers, n, steps);
            for (int i = 0; i < out; ++i) pointers[i] += n * steps[i];
            left -= n;
            filled += n;
            if (filled == sum.room()) sum.add(std::exchange(filled, 0));
        }
    });
    if (filled) sum.add(filled);
}

// Many results are summed in blocks, on several threads, and these in order: whatever the number of threads.
constexpr int64_t kBlock = 1 << 16;

bool sum_blocks(const Kernel& kernel, DType compute, Operands inputs, IntSpan shape, Sum& sum) {
    const int64_t n = numel_of(shape), blocks = n / kBlock;
    FlatOperands operands;
    if (blocks < 2 || !operands.bind(kernel, compute, inputs, shape)) return false;
    std::vector<double> totals(static_cast<size_t>(blocks));
    const Loop loop = loop_of(kernel, compute);
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
            Sum own(compute, kernel.name);
            FlatOperands from(operands);
            from.set_output(reinterpret_cast<std::byte*>(own.buffer()), item_size(compute));
            from.advance(b * kBlock);
            for (int64_t left = (b + 1 < blocks ? (b + 1) * kBlock : n) - b * kBlock; left > 0; left -= own.room()) {
                const int64_t count = std::min(left, own.room());
                from.run(loop, count);
                own.add(count);
                from.advance(count);
            }
            totals[static_cast<size_t>(b)] = own.total();
        }
    });
    for (double total : totals) sum.add_total(total);
    return true;
}

void reduce_into(const Tensor& out, const Kernel& kernel, DType compute, Operands inputs, bool mean) {
    auto in_general = [&] {
        const Arguments arguments(kernel, compute, inputs);
        const DType summed = opmath_dtype(compute);
        Sum sum(summed, kernel.name);
        arguments.with_loop(summed,
                            [&](const auto& loop) { sum_rows(kernel, loop, item_size(summed), arguments, sum); });
        sum.store(out, mean ? static_cast<double>(numel_of(arguments.shape())) : 1);
    };
    auto directly = [&](const auto&... each) {
        DirectCall<sizeof...(each)> call;
        if (!call.bind_as(compute, kernel, {&each...})) return in_general();
        Sum sum(call.dtype(), kernel.name);
        if (call.numel() < 2 * kBlock || !sum_blocks(kernel, call.dtype(), inputs, call.sizes(), sum))
            call.in_blocks(kernel, sum.buffer(), sum.room(), [&](int64_t n) { sum.add(n); });
        sum.store(out, mean ? static_cast<double>(call.numel()) : 1);
    };
    with_each(kernel, inputs, directly, in_general);
}

}  // namespace

constinit DeviceKernel<void(Result, const Kernel&, DType, Operands, bool)> reduced_kernel{
    "reduced",
    [](Result out, const Kernel& kernel, DType compute, Operands inputs, bool mean) {
        reduce_into(out, kernel, compute, inputs, mean);
    },
    Elements::Stored};

Tensor run_reduced(const Kernel& kernel, Operands inputs, bool mean) {
    const DType compute = compute_dtype(kernel, inputs);
    if (any_off_host(inputs)) return run_reduced_on_device(kernel, compute, inputs, mean);
    (void)tile_loop(Reduction::Sum, opmath_dtype(compute), kernel.name);
    Tensor out = empty(Dims{}, compute);
    reduce_into(out, kernel, compute, inputs, mean);
    return out;
}

}  // namespace wengert::kernels
