// Long short-term memories on the CPU (kernels/nn/recurrent.h).
//
// Samples of a batch have nothing to do with each other but for the weights: blocks of them run through all steps on their own,
// beside each other where there are several. A step multiplies few rows by the same matrix as the step before, so the
// matrix is cut once into tiles that stay in the first-level cache while the rows go by (`Tiles`).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/recurrent_loops.h"
#include "backends/cpu/products/gemm.h"
#include "backends/cpu/products/transpose_table.h"
#include "backends/cpu/reductions/finite_table.h"
#include "kernels/nn/recurrent.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(LstmTable, lstm_table)

namespace {

constexpr int64_t kSamples = 32;     // of a block
constexpr int64_t kTiled = 1024;     // rows and columns up to which a matrix is cut
constexpr int64_t kTileBytes = 128;  // of a tile's rows
constexpr int64_t kTileRows = 256;

template <class T>
const LstmLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return lstm_table().of_float;
    else
        return lstm_table().of_double;
}

// A matrix that many others are multiplied by, [m, K] x [K, N]; its rows or its columns are contiguous. Larger ones are left to `gemm`, which has threads.
template <class T>
class Tiles {
public:
    explicit Tiles(Matrix<const T> whole) : whole_(whole) {
        if (std::max(whole.rows, whole.cols) > kTiled) return;
        tiles_.emplace(whole.rows * whole.cols);
        T* to = *tiles_;
        for_each([&](int64_t row, int64_t rows, int64_t col, int64_t cols) {
            const Matrix<const T> tile = whole.block(row, col, rows, cols);
            if (whole.row_stride == 1)
                transpose_table().of<T>()(cols, rows, tile.data, whole.col_stride, to, cols);
            else
                for (int64_t k = 0; k < rows; ++k) std::copy_n(&tile(k, 0), cols, to + k * cols);
            to += rows * cols;
        });
    }
    // c = a W + beta c
    void multiply(Matrix<const T> a, T beta, Matrix<T> c) const {
        if (!tiles_) return gemm<T>(T(1), a, whole_, beta, c);
        const T* from = *tiles_;
        for_each([&](int64_t row, int64_t rows, int64_t col, int64_t cols) {
            gemm<T>(T(1), a.block(0, row, a.rows, rows), row_major(from, rows, cols), row == 0 ? beta : T(1),
                    c.block(0, col, c.rows, cols));
            from += rows * cols;
        });
    }

private:
    template <class F>
    void for_each(F&& f) const {
        constexpr auto kCols = kTileBytes / static_cast<int64_t>(sizeof(T));
        for (int64_t col = 0; col < whole_.cols; col += kCols)
            for (int64_t row = 0; row < whole_.rows; row += kTileRows)
                f(row, std::min(kTileRows, whole_.rows - row), col, std::min(kCols, whole_.cols - col));
    }

    Matrix<const T> whole_;
    std::optional<Scratch<T>> tiles_;
};

struct Sizes {
    int64_t steps, batch, hidden;
    bool reverse;
    explicit Sizes(const Tensor& outputs, bool reverse)
        : steps(outputs.size(0)), batch(outputs.size(1)), hidden(outputs.size(2)), reverse(reverse) {}
    // The place of the step that is taken as the k-th.
    int64_t at(int64_t k) const { return reverse ? steps - 1 - k : k; }
    // f(first, last) for blocks of samples.
    template <class F>
    void each_block(F&& f) const {
        if (batch <= kSamples) return f(int64_t{0}, batch);  // products may use threads
        parallel_for(batch, kSamples, [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; b += kSamples) f(b, std::min(b + kSamples, end));
        });
    }
};

// Rows of features that the steps write and read: what stands at a step for the samples from `b` on.
template <class T>
struct Rows {
    T* data;
    int64_t batch, width;
    T* of(int64_t step, int64_t b) const { return data + (step * batch + b) * width; }
};
template <class T>
Rows<T> rows_of_steps(const Tensor& t, int64_t batch, int64_t width) {
    return {t.data_as<T>(), batch, width};
}

// The state before the k-th step, and the distance of its rows.
template <class T>
struct Before {
    const T* c;
    int64_t stride;
    Before(const Sizes& s, const Rows<T>& seen, const T* first, int64_t k, int64_t b)
        : c(k == 0 ? first + b * s.hidden : seen.of(s.at(k - 1), b) + 4 * s.hidden),
          stride(k == 0 ? s.hidden : 5 * s.hidden) {}
};

void lstm_steps(Result outputs, Result state, Result seen, const Tensor& gates, const Tensor& h, const Tensor& c,
                const Tensor& w_hh, bool reverse) {
    const Sizes s(*outputs, reverse);
    const int64_t n = s.hidden;
    dispatch_floating(gates.dtype(), "lstm", [&]<class T> {
        const Tiles<T> weights(row_major<const T>(w_hh.data_as<T>(), 4 * n, n).transposed());
        const auto given = rows_of_steps<T>(gates, s.batch, 4 * n), kept = rows_of_steps<T>(*seen, s.batch, 5 * n),
                   out = rows_of_steps<T>(*outputs, s.batch, n);
        const T *first_h = h.data_as<T>(), *first_c = c.data_as<T>();
        T* last_c = state->data_as<T>();
        s.each_block([&](int64_t begin, int64_t end) {
            const int64_t rows = end - begin;
            for (int64_t k = 0; k < s.steps; ++k) {
                const int64_t t = s.at(k);
                T* here = kept.of(t, begin);
                for (int64_t r = 0; r < rows; ++r) std::copy_n(given.of(t, begin + r), 4 * n, here + r * 5 * n);
                const T* before = k == 0 ? first_h + begin * n : out.of(s.at(k - 1), begin);
                weights.multiply(row_major(before, rows, n), T(1), {here, rows, 4 * n, 5 * n, 1});
                const Before<T> from(s, kept, first_c, k, begin);
                loops<T>().forward(here, from.c, from.stride, out.of(t, begin), rows, n);
            }
            for (int64_t b = begin; b < end; ++b) std::copy_n(kept.of(s.at(s.steps - 1), b) + 4 * n, n, last_c + b * n);
        });
    });
}

template <class T>
bool is_finite(const Tensor& t) {
    if (!t.defined()) return true;
    if constexpr (std::is_same_v<T, float>)
        return finite_table().float32(t.data_as<T>(), t.numel());
    else
        return finite_table().float64(t.data_as<T>(), t.numel());
}

// [4H, steps B] x [steps B, H]: with each step goes the output of the one before it, with the first one h.
template <class T>
void weight_gradient(const Sizes& s, const T* of_gates, const T* outputs, const T* h, T* to) {
    const int64_t n = s.hidden, rows = (s.steps - 1) * s.batch;
    const auto product = [&](int64_t step, int64_t count, const T* before, T beta) {
        gemm<T>(T(1), row_major(of_gates + step * s.batch * 4 * n, count, 4 * n).transposed(),
                row_major(before, count, n), beta, row_major(to, 4 * n, n));
    };
    product(s.at(0), s.batch, h, T(0));
    if (rows > 0) product(s.reverse ? 0 : 1, rows, outputs + (s.reverse ? s.batch * n : 0), T(1));
}

bool lstm_steps_backward(Result of_gates, Result of_h, Result of_c, Result of_w, const Tensor& grad_outputs,
                         const Tensor& grad_state, const Tensor& h, const Tensor& c, const Tensor& w_hh, bool reverse,
                         const Tensor& outputs, const Tensor& seen) {
    const Sizes s(outputs, reverse);
    const int64_t n = s.hidden;
    return dispatch_floating(outputs.dtype(), "lstm_backward", [&]<class T> {
        const Tiles<T> weights(row_major<const T>(w_hh.data_as<T>(), 4 * n, n));
        const auto kept = rows_of_steps<T>(seen, s.batch, 5 * n), to = rows_of_steps<T>(*of_gates, s.batch, 4 * n);
        const auto pointer = [](const Tensor& t) { return t.defined() ? t.data_as<T>() : nullptr; };
        const T *given = pointer(grad_outputs), *last = pointer(grad_state), *first_c = c.data_as<T>();
        T *first_h_grad = pointer(*of_h), *first_c_grad = pointer(*of_c);
        std::atomic<bool> finite = true;
        s.each_block([&](int64_t begin, int64_t end) {
            const int64_t rows = end - begin;
            Scratch<T> dh(rows * n), dc(rows * n);
            std::fill_n(dh.data(), rows * n, T(0));
            if (last)
                std::copy_n(last + begin * n, rows * n, dc.data());
            else
                std::fill_n(dc.data(), rows * n, T(0));
            bool all = true;
            for (int64_t k = s.steps; k-- > 0;) {
                const int64_t t = s.at(k);
                const Before<T> from(s, kept, first_c, k, begin);
                T* gates = to.of(t, begin);
                all &= loops<T>().backward(kept.of(t, begin), from.c, from.stride, dh,
                                           given ? given + (t * s.batch + begin) * n : nullptr, dc, gates, rows, n);
                if (k > 0 || first_h_grad)
                    weights.multiply(row_major<const T>(gates, rows, 4 * n), T(0), row_major(dh.data(), rows, n));
            }
            if (first_h_grad) std::copy_n(dh.data(), rows * n, first_h_grad + begin * n);
            if (first_c_grad) std::copy_n(dc.data(), rows * n, first_c_grad + begin * n);
            if (!all) finite.store(false, std::memory_order_relaxed);
        });
        if (of_w->defined())
            weight_gradient(s, of_gates->data_as<T>(), outputs.data_as<T>(), h.data_as<T>(), of_w->data_as<T>());
        return finite.load() && is_finite<T>(*of_h) && is_finite<T>(*of_w);
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool)>
    lstm_steps_kernel{"lstm_steps", lstm_steps};
constinit DeviceKernel<bool(Result, Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                            const Tensor&, bool, const Tensor&, const Tensor&)>
    lstm_steps_backward_kernel{"lstm_steps_backward", lstm_steps_backward};

}  // namespace wengert::kernels
