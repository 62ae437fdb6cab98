// Transforms of many lines, wherever they lie in memory.
#pragma once

#include <algorithm>
#include <span>

#include "backends/cpu/fft/plan.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

// Where lines begin, in elements of T, in two arrays at once: a grid of sizes and steps, the last dimension innermost.
class LineGrid {
public:
    LineGrid() = default;  // one line
    // The innermost dimension becomes one that is long enough for vectors, if there is any, where lines are close together.
    void add(int64_t size, int64_t in_step, int64_t out_step);
    void arrange();

    int64_t count() const noexcept { return count_; }
    int64_t run() const noexcept { return dims_.empty() ? 1 : dims_.back().size; }
    int64_t in_step() const noexcept { return dims_.empty() ? 0 : dims_.back().in_step; }  // innermost
    int64_t out_step() const noexcept { return dims_.empty() ? 0 : dims_.back().out_step; }

    // f(n, in, out) for runs of lines that are equally far apart, of which the first is at in and out.
    template <class F>
    void for_each_run(int64_t begin, int64_t end, F f) const {
        if (dims_.empty()) return f(end - begin, int64_t{0}, int64_t{0});
        for (int64_t n; begin < end; begin += n) {
            const int64_t inner = dims_.back().size;
            n = std::min(end - begin, inner - begin % inner);
            int64_t in = 0, out = 0, index = begin;
            for (size_t d = dims_.size(); d-- > 0; index /= dims_[d].size) {
                in += index % dims_[d].size * dims_[d].in_step;
                out += index % dims_[d].size * dims_[d].out_step;
            }
            f(n, in, out);
        }
    }

private:
    struct Dim {
        int64_t size, in_step, out_step;
    };
    SmallVector<Dim, 4> dims_;
    int64_t count_ = 1;
};

template <class T>
struct FftLines {
    const T* in;
    T* out;
    int64_t in_point, out_point;  // steps from point to point
    LineGrid grid = {};

    // A line of complex numbers, one behind the other.
    static FftLines one(const T* in, T* out) { return {.in = in, .out = out, .in_point = 2, .out_point = 2}; }
};

// out = scale times the transform of complex lines; out may be in.
template <class T>
void transform_lines(const FftPlan<T>& plan, const FftLines<T>& lines, bool backward, T scale);

// Of real points; out may not be in. All points of the result, or the first n / 2 + 1.
template <class T>
void transform_real_lines(const RealFftPlan<T>& plan, const FftLines<T>& lines, bool all, T scale);
// The reverse, from the first n / 2 + 1.
template <class T>
void transform_half_lines(const RealFftPlan<T>& plan, const FftLines<T>& lines, T scale);

}  // namespace wengert::kernels
