// Matrix multiplication, once per instruction set.
//
// The register tile holds kRows x 2 vectors of C. `multiply` walks down k: one row of B (two vectors) times each of the
// kRows elements of A's column. Everything else arranges that these reads are contiguous: `direct` takes them from where
// they lie (small matrices), `packed` first copies blocks of A and B into panels of tile width that stay in the cache
// (Goto & van de Geijn, Anatomy of high-performance matrix multiplication, 2008).
#include "backends/cpu/isa/transpose.h"
#include "backends/cpu/products/gemm_loops.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

#ifdef __AVX512F__
constexpr int kRows = 12;  // 24 accumulators of 32 registers
#else
constexpr int kRows = 6;  // 12 of 16
#endif
constexpr int kVecs = 2;
constexpr int64_t kBlockK = 256, kBlockCols = 2048;
constexpr int64_t kBlockRows = 96;

// acc[M,V] += a[M,k] b[k,V]; with `Tail` the last vector of each row of b has only `last` elements.
template <class T, int M, int V, bool Tail>
WENGERT_ALWAYS_INLINE void multiply(int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row,
                                    int last, Vec<T> (&acc)[M][V]) {
    for (int64_t p = 0; p < k; ++p, a += a_col, b += b_row) {
        Vec<T> row[V];
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v)
            row[v] = Tail && v == V - 1 ? load_first(b + v * kLanes<T>, last) : load(b + v * kLanes<T>);
#pragma GCC unroll 12
        for (int i = 0; i < M; ++i) {
            Vec<T> x = splat(a[i * a_row]);
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) acc[i][v] = fma(x, row[v], acc[i][v]);
        }
    }
}

// c = alpha acc + beta c for one row of the tile.
template <class T, int V, bool Tail>
WENGERT_ALWAYS_INLINE void store_row(T alpha, const Vec<T> (&acc)[V], T beta, T* c, int last) {
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
        T* at = c + v * kLanes<T>;
        bool partial = Tail && v == V - 1;
        Vec<T> x = acc[v] * splat(alpha);
        if (beta != 0) x = fma(splat(beta), partial ? load_first(at, last) : load(at), x);
        partial ? store_first(at, x, last) : store(at, x);
    }
}

template <class T, int M, int V, bool Tail>
void direct_tile(const GemmArgs<T>& g, const T* a, const T* b, T* c, int last) {
    Vec<T> acc[M][V] = {};
    multiply<T, M, V, Tail>(g.k, a, g.a_row, g.a_col, b, g.b_row, last, acc);
#pragma GCC unroll 12
    for (int i = 0; i < M; ++i) store_row<T, V, Tail>(g.alpha, acc[i], g.beta, c + i * g.c_row, last);
}

// The numbers of rows that may be left over.
#ifdef __AVX512F__
#define WENGERT_FEWER_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#else
#define WENGERT_FEWER_ROWS(X) X(1) X(2) X(3) X(4) X(5)
#endif

template <class T, int V, bool Tail>
void direct_columns(const GemmArgs<T>& g, const T* b, T* c, int last) {
    int64_t i = 0;
    for (; i + kRows <= g.m; i += kRows) direct_tile<T, kRows, V, Tail>(g, g.a + i * g.a_row, b, c + i * g.c_row, last);
    const T* a = g.a + i * g.a_row;
    c += i * g.c_row;
    switch (g.m - i) {
#define WENGERT_DIRECT(n) \
    case n:               \
        return direct_tile<T, n, V, Tail>(g, a, b, c, last);
        WENGERT_FEWER_ROWS(WENGERT_DIRECT)
#undef WENGERT_DIRECT
    }
}

template <class T>
void direct(const GemmArgs<T>& g) {
    constexpr int L = kLanes<T>;
    int64_t j = 0;
    for (; j + kVecs * L <= g.n; j += kVecs * L) direct_columns<T, kVecs, false>(g, g.b + j, g.c + j, L);
    int64_t left = g.n - j;
    if (left > L)
        direct_columns<T, 2, true>(g, g.b + j, g.c + j, static_cast<int>(left - L));
    else if (left == L)
        direct_columns<T, 1, false>(g, g.b + j, g.c + j, L);
    else if (left > 0)
        direct_columns<T, 1, true>(g, g.b + j, g.c + j, static_cast<int>(left));
}

template <class T, int Width>
WENGERT_ALWAYS_INLINE void copy_row(const T* from, T* to) {
    if constexpr (Width % kLanes<T> == 0)  // GCC would call memcpy for more than two vectors
        for (int v = 0; v < Width; v += kLanes<T>) store(to + v, load(from + v));
    else
        __builtin_memcpy(to, from, Width * sizeof(T));
}

// One panel for `pack` whose source runs along k, turned over block by block. Where a block is wider than what is left of
// the panel's row, its last lanes fall into the next row, or behind the panel; that is written later (hence blocks of a
// row from right to left), or nobody's (gemm.cpp leaves room).
template <class T, int Width>
void pack_turned(int64_t k, int width, const T* from, int64_t n_step, T* dst) {
    constexpr int L = kLanes<T>;
    int64_t p = 0;
    for (; p + L <= k; p += L)
        for (int i = (Width - 1) / L * L; i >= 0; i -= L) {
            Vec<T> block[L];
            load_rows(from + i * n_step + p, n_step, width - i, block);
            transpose_block<T>(block);
#pragma GCC unroll 16
            for (int q = 0; q < L; ++q) store(dst + (p + q) * Width + i, block[q]);
        }
    for (; p < k; ++p)
        for (int i = 0; i < Width; ++i) dst[p * Width + i] = i < width ? from[p + i * n_step] : T(0);
}

// All panels for `pack` whose source runs across them: a few rows at a time into every panel, so that what is read lies
// side by side.
template <class T, int Width>
void pack_rows(int64_t k, int64_t n, const T* src, int64_t k_step, T* dst) {
    constexpr int64_t kStrip = 16;
    for (int64_t p0 = 0; p0 < k; p0 += kStrip) {
        const int64_t end = p0 + kStrip < k ? p0 + kStrip : k;
        T* panel = dst;
        int64_t j = 0;
        for (; j + Width <= n; j += Width, panel += k * Width)
            for (int64_t p = p0; p < end; ++p) copy_row<T, Width>(src + p * k_step + j, panel + p * Width);
        if (j < n)
            for (int64_t p = p0; p < end; ++p)
                for (int i = 0; i < Width; ++i) panel[p * Width + i] = j + i < n ? src[p * k_step + j + i] : T(0);
    }
}

// One panel of a source that runs along neither. In strips of k, so that the lines of the destination are still in the
// cache for the next column.
template <class T, int Width>
void pack_strided(int64_t k, int width, const T* from, int64_t k_step, int64_t n_step, T* dst) {
    constexpr int64_t kStrip = 16;
    for (int64_t p0 = 0; p0 < k; p0 += kStrip) {
        const int64_t end = p0 + kStrip < k ? p0 + kStrip : k;
        for (int i = 0; i < Width; ++i)
            for (int64_t p = p0; p < end; ++p) dst[p * Width + i] = i < width ? from[p * k_step + i * n_step] : T(0);
    }
}

// dst[k, width] panels side by side: panel q holds columns q*width .. of src[k, n], the last one padded with zeros.
template <class T, int Width>
void pack(int64_t k, int64_t n, const T* src, int64_t k_step, int64_t n_step, T* dst) {
    if (n_step == 1) return pack_rows<T, Width>(k, n, src, k_step, dst);
    for (int64_t j = 0; j < n; j += Width, dst += k * Width) {
        const T* from = src + j * n_step;
        const int width = n - j < Width ? static_cast<int>(n - j) : Width;
        if (k_step == 1)
            pack_turned<T, Width>(k, width, from, n_step, dst);
        else
            pack_strided<T, Width>(k, width, from, k_step, n_step, dst);
    }
}

// The first M rows of a register tile of C from packed panels, where all columns are wanted and lie side by side.
template <class T, int M>
void packed_rows(const GemmArgs<T>& g, int64_t k, const T* a, const T* b, T beta, T* c) {
    Vec<T> acc[M][kVecs] = {};
    multiply<T, M, kVecs, false>(k, a, 1, kRows, b, kVecs * kLanes<T>, 0, acc);
#pragma GCC unroll 12
    for (int i = 0; i < M; ++i) store_row<T, kVecs, false>(g.alpha, acc[i], beta, c + i * g.c_row, 0);
}

// One register tile of C from packed panels; rows x cols of it are wanted.
template <class T>
void packed_tile(const GemmArgs<T>& g, int64_t k, const T* a, const T* b, T beta, T* c, int64_t rows, int64_t cols) {
    constexpr int width = kVecs * kLanes<T>;
    if (cols == width && g.c_col == 1) {
        if (rows == kRows) return packed_rows<T, kRows>(g, k, a, b, beta, c);
        switch (rows) {
#define WENGERT_PACKED(n) \
    case n:               \
        return packed_rows<T, n>(g, k, a, b, beta, c);
            WENGERT_FEWER_ROWS(WENGERT_PACKED)
#undef WENGERT_PACKED
        }
    }
    Vec<T> acc[kRows][kVecs] = {};
    multiply<T, kRows, kVecs, false>(k, a, 1, kRows, b, width, 0, acc);
    T tile[kRows][width];
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
        for (int v = 0; v < kVecs; ++v) store(tile[i] + v * kLanes<T>, acc[i][v]);
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j) {
            T& out = c[i * g.c_row + j * g.c_col];
            out = beta == 0 ? g.alpha * tile[i][j] : g.alpha * tile[i][j] + beta * out;
        }
}

template <class T>
void packed(const GemmArgs<T>& g, T* packed_a, T* packed_b) {
    constexpr int width = kVecs * kLanes<T>;
    for (int64_t j0 = 0; j0 < g.n; j0 += kBlockCols) {
        int64_t n = g.n - j0 < kBlockCols ? g.n - j0 : kBlockCols;
        for (int64_t p0 = 0; p0 < g.k; p0 += kBlockK) {
            int64_t k = g.k - p0 < kBlockK ? g.k - p0 : kBlockK;
            T beta = p0 == 0 ? g.beta : T(1);
            pack<T, width>(k, n, g.b + p0 * g.b_row + j0 * g.b_col, g.b_row, g.b_col, packed_b);
            for (int64_t i0 = 0; i0 < g.m; i0 += kBlockRows) {
                int64_t m = g.m - i0 < kBlockRows ? g.m - i0 : kBlockRows;
                pack<T, kRows>(k, m, g.a + i0 * g.a_row + p0 * g.a_col, g.a_col, g.a_row, packed_a);
                for (int64_t j = 0; j < n; j += width)
                    for (int64_t i = 0; i < m; i += kRows)
                        packed_tile<T>(g, k, packed_a + i * k, packed_b + j * k, beta,
                                       g.c + (i0 + i) * g.c_row + (j0 + j) * g.c_col, m - i < kRows ? m - i : kRows,
                                       n - j < width ? n - j : width);
            }
        }
    }
}

template <class T>
T dot(int64_t n, const T* x, const T* y) {
    constexpr int L = kLanes<T>;
    Vec<T> acc[4] = {};
    int64_t i = 0;
    for (; i + 4 * L <= n; i += 4 * L)
#pragma GCC unroll 16
        for (int v = 0; v < 4; ++v) acc[v] = fma(load(x + i + v * L), load(y + i + v * L), acc[v]);
    for (; i + L <= n; i += L) acc[0] = fma(load(x + i), load(y + i), acc[0]);
    if (i < n) {
        int left = static_cast<int>(n - i);
        acc[1] = fma(load_first(x + i, left), load_first(y + i, left), acc[1]);
    }
    return sum_lanes<T>((acc[0] + acc[1]) + (acc[2] + acc[3]));
}

// Rows of A contiguous: y is a column of dot products, four rows at a time so that x is read once for them.
template <class T>
void gemv_rows(const GemvArgs<T>& g) {
    constexpr int L = kLanes<T>;
    auto put = [&](int64_t i, T value) {
        T& y = g.y[i * g.y_step];
        y = g.beta == 0 ? g.alpha * value : g.alpha * value + g.beta * y;
    };
    int64_t i = 0;
    for (; i + 4 <= g.m; i += 4) {
        const T* a = g.a + i * g.a_row;
        Vec<T> acc[4][2] = {};
        int64_t p = 0;
        for (; p + 2 * L <= g.k; p += 2 * L)
#pragma GCC unroll 16
            for (int v = 0; v < 2; ++v) {
                Vec<T> x = load(g.x + p + v * L);
#pragma GCC unroll 16
                for (int r = 0; r < 4; ++r) acc[r][v] = fma(load(a + r * g.a_row + p + v * L), x, acc[r][v]);
            }
        for (; p < g.k; p += L) {
            int left = g.k - p < L ? static_cast<int>(g.k - p) : L;
            Vec<T> x = load_first(g.x + p, left);
#pragma GCC unroll 16
            for (int r = 0; r < 4; ++r) acc[r][0] = fma(load_first(a + r * g.a_row + p, left), x, acc[r][0]);
        }
#pragma GCC unroll 16
        for (int r = 0; r < 4; ++r) put(i + r, sum_lanes<T>(acc[r][0] + acc[r][1]));
    }
    for (; i < g.m; ++i) put(i, dot<T>(g.k, g.a + i * g.a_row, g.x));
}

// Columns of A contiguous (and y): y += a_p x_p, four columns at a time.
template <class T>
void gemv_columns(const GemvArgs<T>& g) {
    for (int64_t i = 0; i < g.m; ++i) g.y[i] = g.beta == 0 ? T(0) : g.beta * g.y[i];
    int64_t p = 0;
    for (; p + 4 <= g.k; p += 4) {
        const T* a = g.a + p * g.a_col;
        T x0 = g.alpha * g.x[p], x1 = g.alpha * g.x[p + 1], x2 = g.alpha * g.x[p + 2], x3 = g.alpha * g.x[p + 3];
        for (int64_t i = 0; i < g.m; ++i)
            g.y[i] += (a[i] * x0 + a[g.a_col + i] * x1) + (a[2 * g.a_col + i] * x2 + a[3 * g.a_col + i] * x3);
    }
    for (; p < g.k; ++p) {
        T x = g.alpha * g.x[p];
        for (int64_t i = 0; i < g.m; ++i) g.y[i] += g.a[p * g.a_col + i] * x;
    }
}

template <class T>
void gemv(const GemvArgs<T>& g) {
    if (g.a_col == 1) return gemv_rows(g);
    if (g.a_row == 1 && g.y_step == 1) return gemv_columns(g);
    for (int64_t i = 0; i < g.m; ++i) {
        T sum = 0;
        for (int64_t p = 0; p < g.k; ++p) sum += g.a[i * g.a_row + p * g.a_col] * g.x[p];
        T& y = g.y[i * g.y_step];
        y = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * y;
    }
}

template <class T>
void plain(const GemmArgs<T>& g) {
    for (int64_t i = 0; i < g.m; ++i) {
        T* c = g.c + i * g.c_row;
        for (int64_t j = 0; j < g.n; ++j) c[j * g.c_col] = g.beta == 0 ? T(0) : static_cast<T>(g.beta * c[j * g.c_col]);
        for (int64_t p = 0; p < g.k; ++p) {
            T x = g.alpha * g.a[i * g.a_row + p * g.a_col];
            const T* b = g.b + p * g.b_row;
            if (g.b_col == 1 && g.c_col == 1)
                for (int64_t j = 0; j < g.n; ++j) c[j] += x * b[j];
            else
                for (int64_t j = 0; j < g.n; ++j) c[j * g.c_col] += x * b[j * g.b_col];
        }
    }
}

// C += A B on interleaved complex numbers; alpha and beta are 1 (gemm.cpp scales before and after).
template <class T>
void plain_complex(const GemmArgs<T>& g) {
    for (int64_t i = 0; i < g.m; ++i) {
        T* c = g.c + 2 * i * g.c_row;
        for (int64_t p = 0; p < g.k; ++p) {
            const T* a = g.a + 2 * (i * g.a_row + p * g.a_col);
            const T* b = g.b + 2 * p * g.b_row;
            T re = a[0], im = a[1];
            if (g.b_col == 1 && g.c_col == 1)
                for (int64_t j = 0; j < 2 * g.n; j += 2) {
                    c[j] += re * b[j] - im * b[j + 1];
                    c[j + 1] += re * b[j + 1] + im * b[j];
                }
            else
                for (int64_t j = 0; j < g.n; ++j) {
                    const T* y = b + 2 * j * g.b_col;
                    c[2 * j * g.c_col] += re * y[0] - im * y[1];
                    c[2 * j * g.c_col + 1] += re * y[1] + im * y[0];
                }
        }
    }
}

template <class T>
constexpr GemmLoops<T> loops = {kRows,     kVecs* kLanes<T>, kBlockRows, kBlockCols, kBlockK,
                                direct<T>, packed<T>,        gemv<T>,    dot<T>};

}  // namespace

extern const GemmTable gemm_table;
const GemmTable gemm_table = {loops<float>,          loops<double>,  plain_complex<float>,
                              plain_complex<double>, plain<int64_t>, plain<int32_t>};

}  // namespace wengert::kernels::WENGERT_ISA
