#include "python/functions/random_functions.h"

#include <cmath>

#include "graph/autograd_meta.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/random/random.h"
#include "kernels/shape/shape.h"
#include "ops/overwrite.h"
#include "python/functions/creation.h"
#include "python/objects/tensor_type.h"
#include "python/operations.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

#define GENERATOR {"generator", ArgKind::Generator, kOptional | kNullable | kKeywordOnly}
#define ARGUMENTS(name, ...) constexpr ArgSpec name[] = {__VA_ARGS__, GENERATOR, WENGERT_TENSOR_OPTIONS}

template <OverloadSet& overloads, int first, auto make>
PyObject* create(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        return with_options(p, first, make(p));
    });
}

// --- New tensors. The generator stands before the options.
Tensor uniform(Tensor t, Generator* g) {
    kernels::uniform_(is_complex(t.dtype()) ? kernels::view_as_real(t) : t, 0, 1, g);
    return t;
}
Tensor normal(Tensor t, Generator* g, double mean = 0, double std = 1) {
    kernels::normal_(t, mean, std, g);
    return t;
}
Tensor integers(Tensor t, int64_t low, int64_t high, Generator* g) {
    kernels::random_integers_(t, low, high, g);
    return t;
}

ARGUMENTS(size_args, {"size", ArgKind::IntList});
constexpr Signature size_signatures[] = {size_args};
constinit OverloadSet rand_overloads{"rand", size_signatures};
constinit OverloadSet randn_overloads{"randn", size_signatures};
Tensor make_rand(const ParsedArgs& p) {
    return uniform(empty(p.ints(0), option_dtype(p, 2, default_dtype())), p.generator(1));
}
Tensor make_randn(const ParsedArgs& p) {
    return normal(empty(p.ints(0), option_dtype(p, 2, default_dtype())), p.generator(1));
}

ARGUMENTS(like_args, {"self", ArgKind::Tensor});
constexpr Signature like_signatures[] = {like_args};
constinit OverloadSet rand_like_overloads{"rand_like", like_signatures};
constinit OverloadSet randn_like_overloads{"randn_like", like_signatures};
Tensor make_like(const ParsedArgs& p, int first) {
    return empty_like(p.tensor(0), option_dtype(p, first, p.tensor(0).dtype()));
}
Tensor make_rand_like(const ParsedArgs& p) { return uniform(make_like(p, 2), p.generator(1)); }
Tensor make_randn_like(const ParsedArgs& p) { return normal(make_like(p, 2), p.generator(1)); }

ARGUMENTS(randint_high_args, {"high", ArgKind::Int}, {"size", ArgKind::IntList});
ARGUMENTS(randint_args, {"low", ArgKind::Int}, {"high", ArgKind::Int}, {"size", ArgKind::IntList});
constexpr Signature randint_signatures[] = {randint_high_args, randint_args};
constinit OverloadSet randint_overloads{"randint", randint_signatures};
PyObject* randint(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        const int matched = randint_overloads.parse(p, nullptr, args, nargs, kwnames);
        if (matched < 0) return p.finish();
        const int high = matched;  // where it stands
        Tensor t = empty(p.ints(high + 1), option_dtype(p, high + 3, DType::Int64));
        const int64_t low = matched == 0 ? 0 : p.integer(0);
        return with_options(p, high + 3, integers(std::move(t), low, p.integer(high), p.generator(high + 2)));
    });
}

ARGUMENTS(randint_like_high_args, {"self", ArgKind::Tensor}, {"high", ArgKind::Int});
ARGUMENTS(randint_like_args, {"self", ArgKind::Tensor}, {"low", ArgKind::Int}, {"high", ArgKind::Int});
constexpr Signature randint_like_signatures[] = {randint_like_high_args, randint_like_args};
constinit OverloadSet randint_like_overloads{"randint_like", randint_like_signatures};
PyObject* randint_like(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        const int matched = randint_like_overloads.parse(p, nullptr, args, nargs, kwnames);
        if (matched < 0) return p.finish();
        const int high = matched + 1;
        const int64_t low = matched == 0 ? 0 : p.integer(1);
        return with_options(p, high + 2, integers(make_like(p, high + 2), low, p.integer(high), p.generator(high + 1)));
    });
}

ARGUMENTS(randperm_args, {"n", ArgKind::Int});
constexpr Signature randperm_signatures[] = {randperm_args};
constinit OverloadSet randperm_overloads{"randperm", randperm_signatures};
Tensor make_randperm(const ParsedArgs& p) {
    return kernels::randperm(p.integer(0), option_dtype(p, 2, DType::Int64), p.generator(1));
}

// normal(mean, std): numbers with a size, or tensors that broadcast.
ARGUMENTS(normal_size_args, {"mean", ArgKind::Float}, {"std", ArgKind::Float}, {"size", ArgKind::IntList});
ARGUMENTS(normal_args, {"mean", ArgKind::Operand}, {"std", ArgKind::Operand, kOptional});
constexpr Signature normal_signatures[] = {normal_size_args, normal_args};
constinit OverloadSet normal_overloads{"normal", normal_signatures};
PyObject* normal_function(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        switch (normal_overloads.parse(p, nullptr, args, nargs, kwnames)) {
            case 0: {
                Tensor t = empty(p.ints(2), option_dtype(p, 4, default_dtype()));
                return with_options(p, 4, normal(std::move(t), p.generator(3), p.floating(0), p.floating(1)));
            }
            case 1: {
                const Operand mean = p.operand(0), std = p.operand(1, 1);
                const NoGradGuard no_grad;
                const Tensor model = ops::add(mean, std);  // its shape and dtype
                return with_options(p, 3, ops::add(mean, ops::mul(normal(empty_like(model), p.generator(2)), std)));
            }
        }
        return p.finish();
    });
}

// --- Samples of given distributions
constexpr ArgSpec bernoulli_args[] = {{"self", ArgKind::Tensor}, GENERATOR};
constexpr ArgSpec bernoulli_p_args[] = {{"self", ArgKind::Tensor}, {"p", ArgKind::Float}, GENERATOR};
constexpr Signature bernoulli_signatures[] = {bernoulli_args, bernoulli_p_args};
constinit OverloadSet bernoulli_overloads{"bernoulli", bernoulli_signatures};
template <bool bound>
PyObject* bernoulli(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        switch (bernoulli_overloads.parse(p, bound ? self : nullptr, args, nargs, kwnames)) {
            case 0:
                return wrap(kernels::bernoulli(p.tensor(0), p.generator(1)));
            case 1: {
                Tensor t = empty_like(p.tensor(0));
                kernels::bernoulli_(t, p.floating(1), p.generator(2));
                return wrap(std::move(t));
            }
        }
        return p.finish();
    });
}

constexpr ArgSpec multinomial_args[] = {
    {"self", ArgKind::Tensor}, {"num_samples", ArgKind::Int}, {"replacement", ArgKind::Bool, kOptional}, GENERATOR};
constexpr Signature multinomial_signatures[] = {multinomial_args};
constinit OverloadSet multinomial_overloads{"multinomial", multinomial_signatures};
template <bool bound>
PyObject* multinomial(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (multinomial_overloads.parse(p, bound ? self : nullptr, args, nargs, kwnames) < 0) return p.finish();
        return wrap(kernels::multinomial(p.tensor(0), p.integer(1), p.boolean(2, false), p.generator(3)));
    });
}

// --- Filling in place. What was there does not matter any more.
template <OverloadSet& overloads, const char* operation, const char* node, auto fill>
PyObject* fill_in_place(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        overwrite(p.tensor(0), operation, node, [&] { fill(p); });
        return Py_NewRef(self);
    });
}
#define IN_PLACE(name, shown, ...)                                                               \
    constexpr ArgSpec fill_##name##args[] = {{"self", ArgKind::Tensor}, __VA_ARGS__, GENERATOR}; \
    constexpr Signature fill_##name##signatures[] = {fill_##name##args};                         \
    constinit OverloadSet fill_##name##overloads{#name, fill_##name##signatures};                \
    constexpr char fill_##name##operation[] = #name;                                             \
    constexpr char fill_##name##node[] = #shown;                                                 \
    void fill_##name##values(const ParsedArgs& p)
#define FILLING(name, doc)                                                                                             \
    fast_method(#name,                                                                                                 \
                fill_in_place<fill_##name##overloads, fill_##name##operation, fill_##name##node, fill_##name##values>, \
                doc)

IN_PLACE(uniform_, UniformBackward0, {"from", ArgKind::Float, kOptional}, {"to", ArgKind::Float, kOptional}) {
    kernels::uniform_(p.tensor(0), p.floating(1, 0), p.floating(2, 1), p.generator(3));
}
IN_PLACE(normal_, NormalBackward0, {"mean", ArgKind::Float, kOptional}, {"std", ArgKind::Float, kOptional}) {
    kernels::normal_(p.tensor(0), p.floating(1, 0), p.floating(2, 1), p.generator(3));
}
IN_PLACE(log_normal_, LogNormalBackward0, {"mean", ArgKind::Float, kOptional}, {"std", ArgKind::Float, kOptional}) {
    kernels::log_normal_(p.tensor(0), p.floating(1, 1), p.floating(2, 2), p.generator(3));
}
IN_PLACE(cauchy_, CauchyBackward0, {"median", ArgKind::Float, kOptional}, {"sigma", ArgKind::Float, kOptional}) {
    kernels::cauchy_(p.tensor(0), p.floating(1, 0), p.floating(2, 1), p.generator(3));
}
IN_PLACE(exponential_, ExponentialBackward0, {"lambd", ArgKind::Float, kOptional}) {
    kernels::exponential_(p.tensor(0), p.floating(1, 1), p.generator(2));
}
IN_PLACE(geometric_, GeometricBackward0, {"p", ArgKind::Float}) {
    kernels::geometric_(p.tensor(0), p.floating(1), p.generator(2));
}
IN_PLACE(bernoulli_, BernoulliBackward2, {"p", ArgKind::Operand, kOptional}) {
    if (p.has(1) && is_tensor(p.object(1)))
        kernels::copy_into(p.tensor(0),
                           kernels::bernoulli(ops::expand(p.tensor(1), p.tensor(0).sizes()), p.generator(2)));
    else
        kernels::bernoulli_(p.tensor(0), p.floating(1, 0.5), p.generator(2));
}

// The largest int that a dtype counts up to without gaps; what random_() without bounds stops at.
int64_t random_limit(DType d) {
    switch (d) {
        case DType::Float32:
        case DType::Complex64:
            return int64_t{1} << 24;
        case DType::Float64:
        case DType::Complex128:
            return int64_t{1} << 53;
        case DType::Bool:
            return 1;
        case DType::UInt8:
            return 255;
        case DType::Int64:
            return INT64_MAX - 1;
        default:
            return (int64_t{1} << (8 * item_size(d) - 1)) - 1;
    }
}
IN_PLACE(random_, RandomBackward2, {"from", ArgKind::Int, kOptional | kNullable},
         {"to", ArgKind::Int, kOptional | kNullable}) {
    const int64_t end = random_limit(p.tensor(0).dtype()) + 1;
    if (p.has(1) && !p.has(2))
        kernels::random_integers_(p.tensor(0), 0, p.integer(1), p.generator(3));  // random_(to)
    else
        kernels::random_integers_(p.tensor(0), p.integer(1, 0), p.integer(2, end), p.generator(3));
}

}  // namespace

PyMethodDef random_functions[] = {
    fast_method("rand", create<rand_overloads, 2, make_rand>,
                "rand(*size, generator=None, dtype=None, requires_grad=False)\n--\n\nUniform numbers in [0, 1)."),
    fast_method("randn", create<randn_overloads, 2, make_randn>,
                "randn(*size, generator=None, dtype=None, requires_grad=False)\n--\n\nStandard normal numbers."),
    fast_method("rand_like", create<rand_like_overloads, 2, make_rand_like>,
                "rand_like(input, *, dtype=None)\n--\n\nUniform numbers in the shape of another tensor."),
    fast_method("randn_like", create<randn_like_overloads, 2, make_randn_like>,
                "randn_like(input, *, dtype=None)\n--\n\nStandard normal numbers in the shape of another tensor."),
    fast_method("randint", randint,
                "randint(*args, **kwargs)\n--\n\nrandint(high, size, *, generator=None, dtype=None)\nrandint(low, "
                "high, size, *, generator=None, "
                "dtype=None)\n\nIntegers from low to high - 1."),
    fast_method("randint_like", randint_like,
                "randint_like(input, *args, **kwargs)\n--\n\nrandint_like(input, high, *, "
                "dtype=None)\nrandint_like(input, low, high, *, "
                "dtype=None)\n\nIntegers in the shape of another tensor."),
    fast_method("randperm", create<randperm_overloads, 2, make_randperm>,
                "randperm(n, *, generator=None, dtype=None)\n--\n\nThe integers 0 to n - 1 in random order."),
    fast_method("normal", normal_function,
                "normal(mean, std, size=None, *, generator=None)\n--\n\nNormal numbers; mean and std may be tensors."),
    fast_method("bernoulli", bernoulli<false>,
                "bernoulli(input, *, generator=None)\n--\n\n1 with the probability given by each element, else 0."),
    fast_method("multinomial", multinomial<false>,
                "multinomial(input, num_samples, replacement=False, *, generator=None)\n--\n\n"
                "Indices drawn with the weights in each row."),
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef random_methods[] = {
    fast_method(
        "bernoulli", bernoulli<true>,
        "bernoulli($self, p=None, *, generator=None)\n--\n\n1 with the probability given by each element, else 0."),
    fast_method("multinomial", multinomial<true>,
                "multinomial($self, num_samples, replacement=False, *, generator=None)\n--\n\nIndices drawn with the "
                "weights in each row."),
    FILLING(uniform_, "uniform_($self, *args, **kwargs)\n--\n\nFills with uniform numbers in [from, to)."),
    FILLING(normal_, "normal_($self, mean=0, std=1, *, generator=None)\n--\n\nFills with normal numbers."),
    FILLING(
        log_normal_,
        "log_normal_($self, mean=1, std=2, *, generator=None)\n--\n\nFills with numbers whose logarithms are normal."),
    FILLING(cauchy_,
            "cauchy_($self, median=0, sigma=1, *, generator=None)\n--\n\nFills with Cauchy-distributed numbers."),
    FILLING(exponential_,
            "exponential_($self, lambd=1, *, generator=None)\n--\n\nFills with exponentially distributed numbers."),
    FILLING(geometric_, "geometric_($self, p, *, generator=None)\n--\n\nFills with geometrically distributed numbers."),
    FILLING(bernoulli_, "bernoulli_($self, p=0.5, *, generator=None)\n--\n\nFills with 1 with probability p, else 0."),
    FILLING(random_, "random_($self, *args, **kwargs)\n--\n\nFills with integers from `from` to `to` - 1."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
