// Lines by blocks of as many lanes as stay in the caches (fft/loops.h), on all threads.
#pragma once

#include "backends/cpu/fft/lines.h"
#include "backends/cpu/isa/blocks.h"
#include "backends/cpu/products/gemm.h"
#include "base/threads/parallel_for.h"

namespace wengert::kernels {

inline constexpr int64_t kBlockBytes = 16 << 10;  // one of two; of long lines it is as many as there are lanes
inline constexpr int64_t kMostLanes = 256;

// Some lines in a block of `width` lanes, those that are left over being zero, and another block for results.
template <class T>
struct LineBlock {
    const FftLines<T>& lines;
    int64_t first, count, width;
    bool streamed;  // results are more than the caches hold
    T *points, *other;

    void gather(int parts, int64_t n, int64_t row) {
        if (count < width) std::fill_n(points, n * parts * row, T(0));
        int64_t lane = 0;
        lines.grid.for_each_run(first, first + count, [&](int64_t some, int64_t in, int64_t) {
            fft_table().of<T>().gather(lines.in + in, {lines.grid.in_step(), lines.in_point, parts}, n, some,
                                       points + lane, row, streamed ? other : nullptr);
            lane += some;
        });
    }
    void scatter(int parts, int64_t n, int64_t row) const {
        int64_t lane = 0;
        lines.grid.for_each_run(first, first + count, [&](int64_t some, int64_t, int64_t out) {
            fft_table().of<T>().scatter(lines.out + out, {lines.grid.out_step(), lines.out_point, parts}, n, some,
                                        points + lane, row, streamed ? other : nullptr);
            lane += some;
        });
    }
    void transform(const FftPlan<T>& plan, bool backward, T scale) {
        if (plan.has_stages()) return run_stages(plan, backward, scale);
        const int64_t n = plan.points, m = plan.padded->points;
        weigh(plan.chirp.data(), plan.chirp.data() + 1, 2, n, backward);
        std::fill(points + 2 * n * width, points + 2 * m * width, T(0));
        run_stages(*plan.padded, backward, T(1));
        weigh(plan.spectrum.data(), plan.spectrum.data() + 1, 2, m, backward);
        run_stages(*plan.padded, !backward, scale);
        weigh(plan.chirp.data(), plan.chirp.data() + 1, 2, n, backward);
    }
    void weigh(const T* re, const T* im, int64_t step, int64_t n, bool backward) const {
        fft_table().of<T>().weigh(points, re, im, step, n, width, backward);
    }

private:
    void run_stages(const FftPlan<T>& plan, bool backward, T scale) {
        for (const FftStage<T>& stage : plan.stages) {
            fft_table().of<T>().stage(stage, points, other, width, backward, scale);
            std::swap(points, other);
        }
    }
};

// f(block) for all lines; a block has room for so many complex points.
template <class T, class F>
void for_each_block(const FftLines<T>& lines, int64_t room, F f) {
    const int64_t lanes = fft_table().of<T>().lanes, all = lines.grid.count();
    const int64_t fit = kBlockBytes / (2 * static_cast<int64_t>(sizeof(T)) * room) / lanes * lanes;
    const int64_t most = std::min(std::clamp(fit, lanes, kMostLanes), (all + lanes - 1) / lanes * lanes);
    const bool streamed =
        lines.in != lines.out && 2 * room * all * static_cast<int64_t>(sizeof(T)) >= WENGERT_ISA::kStreamedBytes;
    parallel_for(all, most, [&](int64_t begin, int64_t end) {
        const int64_t block = 2 * room * most + 64 / static_cast<int64_t>(sizeof(T));
        const Scratch<T> memory(2 * block);
        for (int64_t first = begin; first < end; first += most) {
            const int64_t count = std::min(most, end - first), width = (count + lanes - 1) / lanes * lanes;
            f(LineBlock<T>{lines, first, count, width, streamed, memory.data(), memory.data() + block});
        }
        if (streamed) WENGERT_ISA::end_streaming();
    });
}

// f(in, out) for each line: of those that are more than a block.
template <class T, class F>
void for_each_line(const FftLines<T>& lines, F f) {
    parallel_for(lines.grid.count(), 1, [&](int64_t begin, int64_t end) {
        lines.grid.for_each_run(begin, end, [&](int64_t some, int64_t in, int64_t out) {
            for (int64_t i = 0; i < some; ++i)
                f(lines.in + in + i * lines.grid.in_step(), lines.out + out + i * lines.grid.out_step());
        });
    });
}

}  // namespace wengert::kernels
