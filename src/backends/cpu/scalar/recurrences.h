// Three-term recurrences of orthogonal polynomials, https://dlmf.nist.gov/18.9:
//
//     p_0 = 1,    p_1 = second(x),    p_(k+1) = slope(k, x) p_k - back(k) p_(k-1)
//
// They are run element by element (backends/cpu/special/polynomials.cpp), and for all lanes of a vector whose degrees are equal
// (backends/cpu/isa/vector_forms.cpp), with the same operations in the same order.
#pragma once

#include "backends/cpu/scalar/config.h"

namespace wengert::special {

struct ChebyshevRecurrence {
    WENGERT_INLINE static double slope(int, double x) { return 2 * x; }
    WENGERT_INLINE static double back(int) { return 1; }
    static constexpr int kMost = 63;  // beyond this degree their closed forms are computed
};
struct ChebyshevT : ChebyshevRecurrence {
    WENGERT_INLINE static double second(double x) { return x; }
};
struct ChebyshevU : ChebyshevRecurrence {
    WENGERT_INLINE static double second(double x) { return 2 * x; }
};
struct ChebyshevV : ChebyshevRecurrence {
    WENGERT_INLINE static double second(double x) { return 2 * x - 1; }
};
struct ChebyshevW : ChebyshevRecurrence {
    WENGERT_INLINE static double second(double x) { return 2 * x + 1; }
};

struct LongRecurrence {
    static constexpr int kMost = 1'000'000;
};
struct Gegenbauer : LongRecurrence {
    double order;
    WENGERT_INLINE explicit Gegenbauer(double order) : order(order) {}
    WENGERT_INLINE double second(double x) const { return 2 * order * x; }
    WENGERT_INLINE double slope(int k, double x) const { return 2 * (k + order) / (k + 1) * x; }
    WENGERT_INLINE double back(int k) const { return (k + 2 * order - 1) / (k + 1); }
};
struct Legendre : Gegenbauer {
    WENGERT_INLINE Legendre() : Gegenbauer(0.5) {}
};
struct Laguerre : LongRecurrence {
    double order;
    WENGERT_INLINE explicit Laguerre(double order) : order(order) {}
    WENGERT_INLINE double second(double x) const { return 1 + order - x; }
    WENGERT_INLINE double slope(int k, double x) const { return (2 * k + 1 + order - x) * (1.0 / (k + 1)); }
    WENGERT_INLINE double back(int k) const { return (k + order) / (k + 1); }
};
struct HermiteH : LongRecurrence {
    WENGERT_INLINE static double second(double x) { return 2 * x; }
    WENGERT_INLINE static double slope(int, double x) { return 2 * x; }
    WENGERT_INLINE static double back(int k) { return 2.0 * k; }
};
struct HermiteHe : LongRecurrence {
    WENGERT_INLINE static double second(double x) { return x; }
    WENGERT_INLINE static double slope(int, double x) { return x; }
    WENGERT_INLINE static double back(int k) { return k; }
};

}  // namespace wengert::special
