// The gates of recurrent networks over rows of features (see nn/recurrent_loops.h).
#include "backends/cpu/nn/recurrent_loops.h"
#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/scalar/transcendental.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T>
void forward_row(T* __restrict i, T* __restrict f, T* __restrict g, T* __restrict o, T* __restrict c,
                 const T* __restrict before, T* __restrict h, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
        i[j] = scalar::sigmoid(i[j]);
        f[j] = scalar::sigmoid(f[j]);
        g[j] = scalar::tanh(g[j]);
        o[j] = scalar::sigmoid(o[j]);
        c[j] = f[j] * before[j] + i[j] * g[j];
        h[j] = o[j] * scalar::tanh(c[j]);
    }
}

template <class T>
void forward(T* seen, const T* before, int64_t stride, T* h, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r, seen += 5 * n, before += stride, h += n)
        forward_row(seen, seen + n, seen + 2 * n, seen + 3 * n, seen + 4 * n, before, h, n);
}

// x is finite where 0 x is 0.
template <class T, bool kGiven>
int backward_row(const T* __restrict seen, const T* __restrict before, const T* __restrict of_h,
                 const T* __restrict given, T* __restrict of_c, T* __restrict of_gates, int64_t n) {
    int not_finite = 0;
    for (int64_t j = 0; j < n; ++j) {
        const T i = seen[j], f = seen[n + j], g = seen[2 * n + j], o = seen[3 * n + j];
        const T squashed = scalar::tanh(seen[4 * n + j]), dh = kGiven ? of_h[j] + given[j] : of_h[j];
        const T dc = of_c[j] + dh * o * (T(1) - squashed * squashed);
        const T di = dc * g * i * (T(1) - i), df = dc * before[j] * f * (T(1) - f), dg = dc * i * (T(1) - g * g),
                d_o = dh * squashed * o * (T(1) - o), next = dc * f;
        of_gates[j] = di;
        of_gates[n + j] = df;
        of_gates[2 * n + j] = dg;
        of_gates[3 * n + j] = d_o;
        of_c[j] = next;
        not_finite |= ((di + df) + (dg + d_o) + next) * T(0) != T(0);
    }
    return not_finite;
}

template <class T>
bool backward(const T* seen, const T* before, int64_t stride, const T* of_h, const T* given, T* of_c, T* of_gates,
              int64_t rows, int64_t n) {
    int not_finite = 0;
    for (int64_t r = 0; r < rows; ++r, seen += 5 * n, before += stride, of_h += n, of_c += n, of_gates += 4 * n) {
        not_finite |= given ? backward_row<T, true>(seen, before, of_h, given + r * n, of_c, of_gates, n)
                            : backward_row<T, false>(seen, before, of_h, nullptr, of_c, of_gates, n);
    }
    return not_finite == 0;
}

template <class T>
constexpr LstmLoops<T> loops() {
    return {forward<T>, backward<T>};
}

}  // namespace

extern const LstmTable lstm_table;
constinit const LstmTable lstm_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
