// From a form to functions of one element and of vectors, and of families and polynomials to those of their members
// (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/forms/series.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

template <class Form>
concept HasSecond = requires(double x) { Form::template second<double>(x); };

// Whether the second formula serves x, for which it gave y.
template <class Form, class P>
WENGERT_INLINE bool is_second(double x, double y) {
    if constexpr (requires { Form::is_second(x); })
        return Form::is_second(x);
    else
        return Form::template is_second<P>(x, y);
}

template <class Form, class T, class Other>
WENGERT_INLINE T one_element(T x, Other other) {
    if (Form::is_usual(x)) return static_cast<T>(Form::template usual<T>(x));
    if constexpr (HasSecond<Form>) {
        const auto y = Form::template second<T>(x);
        if (is_second<Form, T>(x, y)) return static_cast<T>(y);
    }
    return static_cast<T>(other(x));
}

template <class Form, class T, class V, class Other>
WENGERT_INLINE V all_lanes(V given, Other other) {
    constexpr int lanes = sizeof(V) / sizeof(T);
    T x[lanes], y[lanes];
    __builtin_memcpy(x, &given, sizeof(V));
    int rest = 0;
    for (int i = 0; i < lanes; ++i) {
        y[i] = static_cast<T>(Form::template usual<T>(x[i]));
        rest |= !Form::is_usual(x[i]);
    }
    T unknown[lanes] = {};
    if (rest) {
        if constexpr (HasSecond<Form>) {
            rest = 0;
            for (int i = 0; i < lanes; ++i) {
                const auto second = Form::template second<T>(x[i]);
                const bool usual = Form::is_usual(x[i]), known = usual | is_second<Form, T>(x[i], second);
                y[i] = select(usual, y[i], static_cast<T>(second));
                unknown[i] = select(known, T(0), T(1));
                rest |= !known;
            }
        } else {
            for (int i = 0; i < lanes; ++i) unknown[i] = select(Form::is_usual(x[i]), T(0), T(1));
        }
        if (rest)
            for (int i = 0; i < lanes; ++i)
                if (unknown[i] != 0) y[i] = static_cast<T>(other(x[i]));
    }
    __builtin_memcpy(&given, y, sizeof(V));
    return given;
}

// Of arrays, which the compiler compares as vectors; lanes it would take out one by one.
template <class T, class V>
WENGERT_INLINE bool lanes_differ(V given) {
    constexpr int lanes = sizeof(V) / sizeof(T);
    T x[lanes];
    __builtin_memcpy(x, &given, sizeof(V));
    int differ = 0;
    for (int i = 0; i < lanes; ++i) differ |= x[i] != x[0];
    return differ;
}

// --- Families: a vector looks at its orders, which are nearly always one number.
template <int Order, class Form>
struct Member {
    static constexpr int order = Order;
    using form = Form;
};
template <class T, class Other, class... Members>
struct Family {
    WENGERT_INLINE static T one(T n, T x) {
        T y;
        auto other = [n](double x) { return Other()(static_cast<double>(n), x); };
        const bool found =
            ((n == T(Members::order) && (y = one_element<typename Members::form>(x, other), true)) || ...);
        return found ? y : static_cast<T>(other(x));
    }
    template <class V>
    WENGERT_INLINE static V all(V n, V x) {
        constexpr int lanes = sizeof(V) / sizeof(T);
        const bool differ = lanes_differ<T>(n);
        V y;
        auto other = [n](double x) { return Other()(static_cast<double>(n[0]), x); };
        const bool found =
            !differ &&
            ((n[0] == T(Members::order) && (y = all_lanes<typename Members::form, T>(x, other), true)) || ...);
        if (!found)
            for (int i = 0; i < lanes; ++i) y[i] = one(n[i], x[i]);
        return y;
    }
};

// --- Orthogonal polynomials: a vector looks at its degrees, which are nearly always one number, and at the orders that some
// have as first argument.
template <class T, class Polynomial, class Other>
struct Recurrence {
    WENGERT_INLINE static T one(T x, T n) {
        return static_cast<T>(Other()(static_cast<double>(x), static_cast<double>(n)));
    }
    WENGERT_INLINE static T one(T order, T x, T n) {
        return static_cast<T>(Other()(static_cast<double>(order), static_cast<double>(x), static_cast<double>(n)));
    }
    template <class V>
    WENGERT_INLINE static V all(V x, V n) {
        if (!is_degree_of_all(n)) return one_by_one(x, n);
        return of_degree(Polynomial(), x, static_cast<int>(n[0]));
    }
    template <class V>
    WENGERT_INLINE static V all(V order, V x, V n) {
        if (!is_degree_of_all(n) || lanes_differ<T>(order)) return one_by_one(order, x, n);
        return of_degree(Polynomial(order[0]), x, static_cast<int>(n[0]));
    }

private:
    template <class V>
    WENGERT_INLINE static bool is_degree_of_all(V n) {
        return n[0] >= 1 && n[0] < 64 && !lanes_differ<T>(n);
    }
    template <class V, class... More>
    WENGERT_INLINE static V one_by_one(V first, More... more) {
        V y;
        for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(T)); ++i) y[i] = one(first[i], more[i]...);
        return y;
    }
    template <class V>
    WENGERT_INLINE static V of_degree(const Polynomial& p, V x, int degree) {
        constexpr int lanes = sizeof(V) / sizeof(T);
        T at[lanes];
        double value[lanes], before[lanes];
        __builtin_memcpy(at, &x, sizeof(V));
        for (int i = 0; i < lanes; ++i) before[i] = 1, value[i] = p.second(at[i]);
        for (int k = 1; k < degree; ++k) {
            const double back = p.back(k);
            for (int i = 0; i < lanes; ++i) {
                const double product = p.slope(k, at[i]) * value[i], next = product - back * before[i];
                before[i] = value[i];
                value[i] = select(abs(product) < inf<double>, next, product);
            }
        }
        for (int i = 0; i < lanes; ++i) at[i] = static_cast<T>(value[i]);
        __builtin_memcpy(&x, at, sizeof(V));
        return x;
    }
};

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
