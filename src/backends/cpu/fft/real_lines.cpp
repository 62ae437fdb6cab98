// Lines of real points: of n = 2h as h complex ones (isa/fft/loops.cpp), of an odd number as n whose imaginary parts are zero.
#include "backends/cpu/fft/blocks.h"

namespace wengert::kernels {
namespace {

template <class T>
void mirror_line(T* line, int64_t n) {
    for (int64_t k = n / 2 + 1; k < n; ++k) {
        line[2 * k] = line[2 * (n - k)];
        line[2 * k + 1] = -line[2 * (n - k) + 1];
    }
}

template <class T>
void copy(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
    for (int64_t k = 0; k < n; ++k) to[k * to_step] = from[k * from_step];
}

}  // namespace

template <class T>
void transform_real_lines(const RealFftPlan<T>& plan, const FftLines<T>& lines, bool all, T scale) {
    const FftLoops<T>& loops = fft_table().of<T>();
    const int64_t n = plan.points, half = n / 2, results = all ? n : half + 1;
    const bool even = n % 2 == 0;
    if (const int64_t room = plan.complex->block_points())
        return for_each_block(lines, std::max(room, results + 1), [&](LineBlock<T> block) {
            if (even) {
                block.gather(1, n, block.width);
                block.transform(*plan.complex, false, scale / 2);
                loops.untangle(block.points, block.other, plan.roots.data(), half, block.width, all);
                std::swap(block.points, block.other);
            } else {
                block.gather(1, n, 2 * block.width);
                for (int64_t k = 0; k < n; ++k)
                    std::fill_n(block.points + (2 * k + 1) * block.width, block.width, T(0));
                block.transform(*plan.complex, false, scale);
            }
            block.scatter(2, results, block.width);
        });
    for_each_line(lines, [&](const T* in, T* out) {
        const Scratch<T> memory(2 * (n + 1));
        T* line = memory.data();
        if (even) {
            copy(in, lines.in_point, line, 1, n);
            transform_lines(*plan.complex, FftLines<T>::one(line, line), false, scale / 2);
            loops.untangle_line(line, line, plan.roots.data(), half);
            if (all) mirror_line(line, n);
        } else {
            copy(in, lines.in_point, line, 2, n);
            for (int64_t k = 0; k < n; ++k) line[2 * k + 1] = 0;
            transform_lines(*plan.complex, FftLines<T>::one(line, line), false, scale);
        }
        copy(line, 2, out, lines.out_point, results);
        copy(line + 1, 2, out + 1, lines.out_point, results);
    });
}

template <class T>
void transform_half_lines(const RealFftPlan<T>& plan, const FftLines<T>& lines, T scale) {
    const FftLoops<T>& loops = fft_table().of<T>();
    const int64_t n = plan.points, half = n / 2;
    const bool even = n % 2 == 0;
    if (const int64_t room = plan.complex->block_points())
        return for_each_block(lines, std::max(room, half + 1), [&](LineBlock<T> block) {
            const int64_t width = block.width;
            block.gather(2, half + 1, width);
            if (even) {
                loops.tangle(block.points, block.other, plan.roots.data(), half, width);
                std::swap(block.points, block.other);
            } else {
                std::fill_n(block.points + width, width, T(0));
                loops.mirror(block.points, n, width);
            }
            block.transform(*plan.complex, true, scale);
            block.scatter(1, n, even ? width : 2 * width);
        });
    for_each_line(lines, [&](const T* in, T* out) {
        const Scratch<T> memory(2 * (n + 1));
        T* line = memory.data();
        copy(in, lines.in_point, line, 2, half + 1);
        copy(in + 1, lines.in_point, line + 1, 2, half + 1);
        if (even) {
            loops.tangle_line(line, line, plan.roots.data(), half);
        } else {
            line[1] = 0;
            mirror_line(line, n);
        }
        transform_lines(*plan.complex, FftLines<T>::one(line, line), true, scale);
        copy(line, even ? 1 : 2, out, lines.out_point, n);
    });
}

template void transform_real_lines(const RealFftPlan<float>&, const FftLines<float>&, bool, float);
template void transform_real_lines(const RealFftPlan<double>&, const FftLines<double>&, bool, double);
template void transform_half_lines(const RealFftPlan<float>&, const FftLines<float>&, float);
template void transform_half_lines(const RealFftPlan<double>&, const FftLines<double>&, double);

}  // namespace wengert::kernels
