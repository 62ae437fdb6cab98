#include "backends/cpu/fft/lines.h"

#include "backends/cpu/fft/blocks.h"

namespace wengert::kernels {

void LineGrid::add(int64_t size, int64_t in_step, int64_t out_step) {
    count_ *= size;
    if (size == 1) return;
    if (!dims_.empty()) {
        Dim& last = dims_.back();
        if (last.in_step == size * in_step && last.out_step == size * out_step) {
            last = {last.size * size, in_step, out_step};
            return;
        }
    }
    dims_.push_back({size, in_step, out_step});
}

void LineGrid::arrange() {
    constexpr int64_t kLong = 16;
    if (dims_.empty()) return;
    const auto is_better = [](const Dim& a, const Dim& b) {
        if (a.size < kLong || b.size < kLong) return a.size > b.size;
        return std::abs(a.in_step) < std::abs(b.in_step);
    };
    size_t best = dims_.size() - 1;
    for (size_t d = dims_.size() - 1; d-- > 0;)
        if (is_better(dims_[d], dims_[best])) best = d;
    std::swap(dims_[best], dims_.back());
}

namespace {

// `twisted` is the plan of a matrix whose columns these lines are.
template <class T>
void by_stages(const FftPlan<T>& plan, const FftLines<T>& lines, bool backward, T scale,
               const FftPlan<T>* twisted = nullptr) {
    for_each_block(lines, plan.points, [&](LineBlock<T> block) {
        block.gather(2, plan.points, block.width);
        block.transform(plan, backward, scale);
        if (twisted)
            fft_table().of<T>().twist(block.points, twisted->twists.data() + block.first, twisted->twist_step,
                                      plan.points, block.width, backward);
        block.scatter(2, plan.points, block.width);
    });
}

template <class T>
void by_matrix(const FftPlan<T>& plan, const T* in, int64_t in_step, T* out, int64_t out_step, bool backward, T scale) {
    const int64_t a = plan.columns->points, b = plan.rows->points;
    const Scratch<T> turned(2 * plan.points);  // [b, a]
    FftLines<T> columns{.in = in, .out = turned.data(), .in_point = b * in_step, .out_point = 2};
    columns.grid.add(b, in_step, 2 * a);
    by_stages(*plan.columns, columns, backward, T(1), &plan);
    FftLines<T> rows{.in = turned.data(), .out = out, .in_point = 2 * a, .out_point = a * out_step};
    rows.grid.add(a, 2, out_step);
    by_stages(*plan.rows, rows, backward, scale);
}

// `memory` holds the padded lines, one behind the other.
template <class T>
void by_convolution(const FftPlan<T>& plan, const FftLines<T>& lines, int64_t begin, int64_t end, T* memory,
                    bool backward, T scale) {
    const FftLoops<T>& loops = fft_table().of<T>();
    const int64_t n = plan.points, m = plan.padded->points;
    T* line = memory;
    lines.grid.for_each_run(begin, end, [&](int64_t some, int64_t in, int64_t) {
        for (int64_t i = 0; i < some; ++i, line += 2 * m) {
            loops.gather(lines.in + in + i * lines.grid.in_step(), {2, lines.in_point, 2}, n, 1, line, 1);
            loops.multiply(line, plan.chirp.data(), line, n, backward, T(1));
            std::fill(line + 2 * n, line + 2 * m, T(0));
        }
    });
    FftLines<T> padded = FftLines<T>::one(memory, memory);
    padded.grid.add(end - begin, 2 * m, 2 * m);
    transform_lines(*plan.padded, padded, backward, T(1));
    for (int64_t i = 0; i < end - begin; ++i)
        loops.multiply(memory + 2 * m * i, plan.spectrum.data(), memory + 2 * m * i, m, backward, T(1));
    transform_lines(*plan.padded, padded, !backward, T(1));
    line = memory;
    lines.grid.for_each_run(begin, end, [&](int64_t some, int64_t, int64_t out) {
        for (int64_t i = 0; i < some; ++i, line += 2 * m) {
            loops.multiply(line, plan.chirp.data(), line, n, backward, scale);
            loops.scatter(lines.out + out + i * lines.grid.out_step(), {2, lines.out_point, 2}, n, 1, line, 1);
        }
    });
}

}  // namespace

template <class T>
void transform_lines(const FftPlan<T>& plan, const FftLines<T>& lines, bool backward, T scale) {
    if (plan.has_stages()) return by_stages(plan, lines, backward, scale);
    if (plan.columns)
        return parallel_for(lines.grid.count(), 1, [&](int64_t begin, int64_t end) {
            lines.grid.for_each_run(begin, end, [&](int64_t some, int64_t in, int64_t out) {
                for (int64_t i = 0; i < some; ++i)
                    by_matrix(plan, lines.in + in + i * lines.grid.in_step(), lines.in_point,
                              lines.out + out + i * lines.grid.out_step(), lines.out_point, backward, scale);
            });
        });
    const int64_t together = std::min(lines.grid.count(), plan.padded->has_stages() ? fft_table().of<T>().lanes : 1);
    parallel_for(lines.grid.count(), together, [&](int64_t begin, int64_t end) {
        const Scratch<T> memory(2 * plan.padded->points * together);
        for (; begin < end; begin += together)
            by_convolution(plan, lines, begin, std::min(end, begin + together), memory.data(), backward, scale);
    });
}

template void transform_lines(const FftPlan<float>&, const FftLines<float>&, bool, float);
template void transform_lines(const FftPlan<double>&, const FftLines<double>&, bool, double);

}  // namespace wengert::kernels
