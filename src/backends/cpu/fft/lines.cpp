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
void by_blocks(const FftPlan<T>& plan, const FftLines<T>& lines, bool backward, T scale,
               const FftPlan<T>* twisted = nullptr) {
    for_each_block(lines, plan.block_points(), [&](LineBlock<T> block) {
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
    by_blocks(*plan.columns, columns, backward, T(1), &plan);
    FftLines<T> rows{.in = turned.data(), .out = out, .in_point = 2 * a, .out_point = a * out_step};
    rows.grid.add(a, 2, out_step);
    by_blocks(*plan.rows, rows, backward, scale);
}

// The same of `count` lines that lie side by side, no more than there are lanes: a line of cache holds points of several.
template <class T>
void by_matrix_together(const FftPlan<T>& plan, const FftLines<T>& lines, int64_t count, bool backward, T scale) {
    const int64_t a = plan.columns->points, b = plan.rows->points, lanes = fft_table().of<T>().lanes;
    const int64_t vectors = 2 * lanes;
    const int64_t most = vectors * std::max(plan.columns->block_points(), plan.rows->block_points());
    const Scratch<T> turned(plan.points * vectors);  // [b, a] points of a block
    const auto in_parallel = [&](int64_t n, auto f) {
        parallel_for(n, 1, [&](int64_t begin, int64_t end) {
            const Scratch<T> memory(2 * most);
            for (int64_t i = begin; i < end; ++i) f(i, memory.data(), memory.data() + most);
        });
    };
    FftLines<T> some = lines;
    some.grid = LineGrid();
    some.grid.add(count, 2, 2);
    in_parallel(b, [&](int64_t j, T* points, T* other) {
        FftLines<T> column = some;
        column.in += j * lines.in_point;
        column.in_point *= b;
        LineBlock<T> block{column, 0, count, lanes, false, points, other};
        block.gather(2, a, lanes);
        block.transform(*plan.columns, backward, T(1));
        block.weigh(plan.twists.data() + j, plan.twists.data() + plan.twist_step + j, 2 * plan.twist_step, a, backward);
        std::copy_n(block.points, a * vectors, turned.data() + j * a * vectors);
    });
    in_parallel(a, [&](int64_t k, T* points, T* other) {
        FftLines<T> row = some;
        row.out += k * lines.out_point;
        row.out_point *= a;
        for (int64_t j = 0; j < b; ++j)
            std::copy_n(turned.data() + (j * a + k) * vectors, vectors, points + j * vectors);
        LineBlock<T> block{row, 0, count, lanes, false, points, other};
        block.transform(*plan.rows, backward, scale);
        block.scatter(2, b, lanes);
    });
}

template <class T>
void by_convolution(const FftPlan<T>& plan, const T* in, int64_t in_step, T* out, int64_t out_step, bool backward,
                    T scale) {
    const FftLoops<T>& loops = fft_table().of<T>();
    const int64_t n = plan.points, m = plan.padded->points;
    const Scratch<T> memory(2 * m);
    T* line = memory.data();
    loops.gather(in, {2, in_step, 2}, n, 1, line, 1, nullptr);
    loops.multiply(line, plan.chirp.data(), line, n, backward);
    std::fill(line + 2 * n, line + 2 * m, T(0));
    transform_lines(*plan.padded, FftLines<T>::one(line, line), backward, T(1));
    loops.multiply(line, plan.spectrum.data(), line, m, backward);
    transform_lines(*plan.padded, FftLines<T>::one(line, line), !backward, scale);
    loops.multiply(line, plan.chirp.data(), line, n, backward);
    loops.scatter(out, {2, out_step, 2}, n, 1, line, 1, nullptr);
}

}  // namespace

template <class T>
void transform_lines(const FftPlan<T>& plan, const FftLines<T>& lines, bool backward, T scale) {
    if (plan.block_points() > 0) return by_blocks(plan, lines, backward, scale);
    const int64_t lanes = fft_table().of<T>().lanes;
    if (plan.columns && lines.grid.in_step() == 2 && lines.grid.out_step() == 2 && lines.grid.run() >= lanes / 2)
        return parallel_for(lines.grid.count(), lanes, [&](int64_t begin, int64_t end) {
            lines.grid.for_each_run(begin, end, [&](int64_t n, int64_t in, int64_t out) {
                for (int64_t i = 0; i < n; i += lanes) {
                    FftLines<T> some = lines;
                    some.in += in + 2 * i;
                    some.out += out + 2 * i;
                    by_matrix_together(plan, some, std::min(lanes, n - i), backward, scale);
                }
            });
        });
    const auto by = plan.columns ? by_matrix<T> : by_convolution<T>;
    for_each_line(lines,
                  [&](const T* in, T* out) { by(plan, in, lines.in_point, out, lines.out_point, backward, scale); });
}

template void transform_lines(const FftPlan<float>&, const FftLines<float>&, bool, float);
template void transform_lines(const FftPlan<double>&, const FftLines<double>&, bool, double);

}  // namespace wengert::kernels
