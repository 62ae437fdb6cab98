// The elementwise runtime: promotion, layouts, overlap and copies; then every loop of the table against itself.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/isa/loops.h"
#include "kernels/elementwise/elementwise.h"

using namespace wengert;
using namespace wengert::kernels;

namespace {

struct Add {
    template <class T>
    auto operator()(T a, T b) const {
        return a + b;
    }
};
struct Less {
    template <class T>
    auto operator()(T a, T b) const {
        return scalar::lt(a, b);
    }
};
struct Exp {
    template <class T>
    auto operator()(T x) const {
        return scalar::exp(x);
    }
};
struct FloorDivide {
    template <class T>
    auto operator()(T a, T b) const {
        return scalar::floor_divide(a, b);
    }
};
struct Choose {
    template <class T>
    auto operator()(bool c, T a, T b) const {
        return scalar::where(c, a, b);
    }
};
struct SumOfFive {
    template <class T>
    auto operator()(T a, T b, T c, T d, T e) const {
        return a + b + c + d + e;
    }
};

// A kernel with a loop of signature Out(In...) for each listed dtype.
struct Builder {
    Kernel kernel;
    template <class F, class Signature>
    Builder& loop(DType d) {
        kernel.loops[static_cast<int>(d)] = base::entry<F, Signature>(0, d).loop;
        return *this;
    }
};
Builder builder(const char* name, int inputs, ResultRule rule, bool float_compute = false, int conditions = 0) {
    return {{name, static_cast<uint8_t>(inputs), static_cast<uint8_t>(conditions), rule, float_compute, {}}};
}

const Kernel add = builder("add", 2, ResultRule::Same)
                       .loop<Add, float(float, float)>(DType::Float32)
                       .loop<Add, double(double, double)>(DType::Float64)
                       .loop<Add, int64_t(int64_t, int64_t)>(DType::Int64)
                       .loop<Add, complex64(complex64, complex64)>(DType::Complex64)
                       .kernel;
const Kernel less = builder("lt", 2, ResultRule::Bool)
                        .loop<Less, bool(float, float)>(DType::Float32)
                        .loop<Less, bool(int64_t, int64_t)>(DType::Int64)
                        .kernel;
const Kernel exponential = builder("exp", 1, ResultRule::Floating, true)
                               .loop<Exp, float(float)>(DType::Float32)
                               .loop<Exp, double(double)>(DType::Float64)
                               .kernel;
const Kernel floor_divide = builder("floor_divide", 2, ResultRule::Same)
                                .loop<FloorDivide, int64_t(int64_t, int64_t)>(DType::Int64)
                                .loop<FloorDivide, double(double, double)>(DType::Float64)
                                .kernel;
const Kernel choose = builder("where", 3, ResultRule::Same, false, 1)
                          .loop<Choose, double(bool, double, double)>(DType::Float64)
                          .loop<Choose, float(bool, float, float)>(DType::Float32)
                          .kernel;
const Kernel sum_of_five = builder("sum5", 5, ResultRule::Same)
                               .loop<SumOfFive, float(float, float, float, float, float)>(DType::Float32)
                               .kernel;

Tensor arange(Dims sizes, DType dtype = DType::Float32, double start = 0) {
    Tensor t = empty(sizes, dtype);
    dispatch(dtype, [&]<class T> {
        for (int64_t i = 0; i < t.numel(); ++i) t.data_as<T>()[i] = Scalar(start + static_cast<double>(i)).to<T>();
    });
    return t;
}

Tensor transposed(const Tensor& t) {
    return alias(t, Dims{t.size(1), t.size(0)}, Dims{t.stride(1), t.stride(0)}, t.offset());
}

double at(const Tensor& t, std::initializer_list<int64_t> index) {
    int64_t offset = 0;
    size_t d = 0;
    for (int64_t i : index) offset += i * t.strides()[d++];
    return dispatch(t.dtype(),
                    [&]<class T>() -> double { return Scalar(t.data_as<T>()[offset]).template to<double>(); });
}

std::string message_of(auto&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a reusable cotangent becomes the result where nobody else can see it") {
    const auto result_of = [](const Tensor& grad, const Tensor& x) {
        return run_as(grad.dtype(), add, {grad, x}, &grad);
    };
    Tensor x = arange({3}), grad = arange({3});
    Tensor result = result_of(grad, x);
    CHECK(result.is_same(grad));
    CHECK(at(result, {2}) == 4);
    CHECK_FALSE(result_of(grad, x).is_same(grad));  // `result` sees it
    result.reset();
    CHECK(result_of(grad, grad).is_same(grad));
    CHECK(at(grad, {2}) == 8);

    Tensor seen = alias(grad);
    CHECK_FALSE(result_of(grad, x).is_same(grad));
    seen.reset();
    grad.storage()->lend();
    CHECK_FALSE(result_of(grad, x).is_same(grad));
    grad.storage()->take_back();
    CHECK_FALSE(result_of(full({}, 2.0, DType::Float32), x).dim() == 0);  // broadcast
    CHECK(result_of(x, grad).is_same(x));
    const Tensor turned = alias(arange({2, 2}), Dims{2, 2}, Dims{1, 2}, 0);
    CHECK_FALSE(result_of(turned, arange({2, 2})).is_same(turned));
}

TEST_CASE("promotion and result dtypes") {
    Tensor f = arange({3}), d = arange({3}, DType::Float64), i = arange({3}, DType::Int64);
    CHECK(run(add, {f, f}).dtype() == DType::Float32);
    CHECK(run(add, {f, d}).dtype() == DType::Float64);
    CHECK(run(add, {i, 1}).dtype() == DType::Int64);
    CHECK(run(add, {i, 1.5}).dtype() == DType::Float32);
    CHECK(at(run(add, {i, 1.5}), {2}) == 3.5);
    CHECK(at(run(add, {1.5, i}), {1}) == 2.5);
    CHECK(run(add, {f, std::complex<double>(0, 1)}).dtype() == DType::Complex64);
    CHECK(run(less, {i, 1}).dtype() == DType::Bool);
    CHECK(run(exponential, {i}).dtype() == DType::Float32);
    CHECK(run(add, {f, scalar_tensor(1.0, DType::Float64)}).dtype() == DType::Float32);
    CHECK(run_as(DType::Float64, add, {f, 2}).dtype() == DType::Float64);
    CHECK(run(add, {1, 2}).dim() == 0);
    CHECK(at(run(choose, {arange({3}, DType::Int64), d, 7}), {0}) == 7);
    CHECK(run(choose, {arange({3}, DType::Bool), 1.0, f}).dtype() == DType::Float32);
    CHECK(at(run(choose, {arange({3}, DType::Bool), d, 7}), {2}) == 2);
    CHECK(at(run(choose, {d, d, 7}), {0}) == 7);  // a condition that is no bool is converted
    std::string text = message_of([&] { run(less, {d, d}); });
    CHECK(contains(text, "\"lt\" not implemented for 'Double'"));
}

TEST_CASE("broadcasting") {
    Tensor m = arange({2, 3}), row = arange({3}), column = arange({2, 1});
    Tensor out = run(add, {m, row});
    CHECK(out.sizes() == Dims{2, 3});
    CHECK(at(out, {1, 2}) == 5 + 2);
    out = run(add, {column, row});
    CHECK(out.sizes() == Dims{2, 3});
    CHECK(at(out, {1, 2}) == 3);
    CHECK(run(add, {arange({4, 1, 3}), arange({5, 1})}).sizes() == Dims{4, 5, 3});
    CHECK(run(add, {arange({0, 3}), row}).sizes() == Dims{0, 3});
    CHECK(contains(message_of([&] { run(add, {m, arange({4})}); }), "must match the size of tensor b"));
}

TEST_CASE("results follow the layout of their inputs") {
    Tensor a = transposed(arange({3, 4})), b = transposed(arange({3, 4}));
    CHECK(run(add, {a, b}).strides() == Dims{1, 4});
    CHECK(run(exponential, {a}).strides() == Dims{1, 4});
    CHECK(run(add, {a, 1}).strides() == Dims{1, 4});
    CHECK(run(add, {arange({4, 3}), a}).strides() == Dims{3, 1});
    Tensor mixed = run(add, {arange({4, 3}), a});
    for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 3; ++j) CHECK(at(mixed, {i, j}) == (i * 3 + j) + (j * 4 + i));
}

TEST_CASE("rows with gaps go through blocks") {
    for (int64_t n : {1, 7, 8, 255, 256, 257, 1000}) {
        Tensor wide = arange({n, 3}), thin = alias(wide, Dims{n}, Dims{3}, 1);
        Tensor out = run(add, {thin, thin});
        for (int64_t i = 0; i < n; ++i) REQUIRE(at(out, {i}) == 2 * (3 * i + 1));
        run_into(thin, add, {thin, 1});
        for (int64_t i = 0; i < n; ++i) {
            REQUIRE(at(wide, {i, 0}) == 3 * i);
            REQUIRE(at(wide, {i, 1}) == 3 * i + 2);
            REQUIRE(at(wide, {i, 2}) == 3 * i + 2);
        }
    }
}

TEST_CASE("results are summed block by block, whatever the layout") {
    const int64_t rows = 70, columns = 101;  // more than one block, none of them full at the end of a row
    Tensor a = empty(Dims{rows, columns}, DType::Float64), b = empty(Dims{columns, rows}, DType::Float64);
    double expected = 0;
    for (int64_t i = 0; i < rows * columns; ++i) {
        a.data_as<double>()[i] = std::sin(static_cast<double>(i));
        b.data_as<double>()[i] = std::cos(static_cast<double>(i));
        expected += a.data_as<double>()[i] + b.data_as<double>()[i];
    }
    Tensor turned = alias(b, Dims{rows, columns}, Dims{1, rows}, 0);
    for (const Tensor& second : {alias(b, Dims{rows, columns}, Dims{columns, 1}, 0), turned}) {
        const Operand operands[] = {a, second};
        CHECK(run_reduced(add, operands, false).data_as<double>()[0] == doctest::Approx(expected));
        CHECK(run_reduced(add, operands, true).data_as<double>()[0] ==
              doctest::Approx(expected / static_cast<double>(rows * columns)));
    }
    const Tensor row = alias(b, Dims{1, columns}, Dims{columns, 1}, 0), nothing = empty(Dims{0, 3}, DType::Float32);
    const Operand repeated[] = {a, row};
    double sum = 0;
    for (int64_t i = 0; i < rows * columns; ++i) sum += a.data_as<double>()[i] + b.data_as<double>()[i % columns];
    CHECK(run_reduced(add, repeated, false).data_as<double>()[0] == doctest::Approx(sum));
    const Operand none[] = {nothing, 1};
    CHECK(run_reduced(add, none, false).data_as<float>()[0] == 0);
    CHECK(std::isnan(run_reduced(add, none, true).data_as<float>()[0]));
}

TEST_CASE("in place and overlap") {
    Tensor t = arange({6});
    run_into(t, add, {t, t});
    CHECK(at(t, {5}) == 10);

    Tensor base = arange({5}), head = alias(base, Dims{4}, Dims{1}, 0), tail = alias(base, Dims{4}, Dims{1}, 1);
    run_into(tail, add, {head, 10});  // reads what it would have written
    for (int64_t i = 1; i < 5; ++i) CHECK(at(base, {i}) == i - 1 + 10);

    Tensor square = arange({3, 3}), flipped = transposed(square);
    run_into(square, add, {flipped, 0});
    CHECK(at(square, {0, 1}) == 3);
    CHECK(at(square, {1, 0}) == 1);

    Tensor wide = empty(Dims{6}, DType::Float64);
    run_into(wide, add, {t, 1});
    CHECK(at(wide, {5}) == 11);
    Tensor integers = arange({6}, DType::Int64);
    CHECK(contains(message_of([&] { run_into(integers, add, {integers, 0.5}); }),
                   "can't be cast to the desired output type"));
    CHECK(contains(message_of([&] { run_into(arange({3}), add, {arange({2, 3}), 1}); }),
                   "doesn't match the broadcast shape"));
    Tensor repeated = alias(t, Dims{4}, Dims{0}, 0);
    CHECK(contains(message_of([&] { run_into(repeated, add, {repeated, 1}); }), "single memory location"));
}

TEST_CASE("many operands") {
    Tensor t = arange({300});
    Tensor out = run(sum_of_five, {t, 1, t, 2, alias(t, Dims{300}, Dims{0}, 4)});
    CHECK(at(out, {299}) == 299 + 1 + 299 + 2 + 4);
}

TEST_CASE("integer division by zero raises") {
    Tensor a = arange({4}, DType::Int64), b = arange({4}, DType::Int64, -1);
    CHECK(contains(message_of([&] { run(floor_divide, {a, b}); }), "ZeroDivisionError"));
    CHECK(at(run(floor_divide, {a, -1}), {3}) == -3);
    Tensor least = full(Dims{1}, std::numeric_limits<int64_t>::min(), DType::Int64);
    CHECK(run(floor_divide, {least, -1}).data_as<int64_t>()[0] == std::numeric_limits<int64_t>::min());
    CHECK(at(run(floor_divide, {full(Dims{1}, -7.0, DType::Float64), 2.0}), {0}) == -4);
}

TEST_CASE("copies") {
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {33, 70}, {64, 31}})
        for (DType d : {DType::Bool, DType::Int16, DType::Float32, DType::Float64, DType::Complex128}) {
            Tensor t = arange({rows, columns}, d), dense = contiguous(transposed(t));
            REQUIRE(dense.is_contiguous());
            for (int64_t i = 0; i < columns; ++i)
                for (int64_t j = 0; j < rows; ++j) REQUIRE(at(dense, {i, j}) == at(t, {j, i}));
        }
    Tensor t = arange({3, 4}), turned = transposed(t);
    CHECK(clone(turned).strides() == turned.strides());
    CHECK(!clone(t).is_same(t));
    CHECK(contiguous(t).is_same(t));
    CHECK(to_dtype(t, DType::Float32).is_same(t));
    Tensor square = arange({3, 3});
    copy_into(square, transposed(square));
    CHECK(at(square, {0, 2}) == 6);
    CHECK(at(square, {2, 0}) == 2);
    Tensor target = empty(Dims{2, 3}, DType::Int64);
    copy_into(target, arange({3}));
    CHECK(at(target, {1, 2}) == 2);
    fill_(transposed(target), 9);
    CHECK(at(target, {0, 1}) == 9);
    CHECK(sum_to_size(t, t.sizes()).is_same(t));
    Tensor summed = sum_to_size(t, Dims{3, 1});
    CHECK(summed.sizes() == Dims{3, 1});
    CHECK(at(summed, {2, 0}) == 8 + 9 + 10 + 11);
    CHECK(at(sum_to_size(t, Dims{4}), {1}) == 1 + 5 + 9);
    CHECK(at(sum_to_size(t, Dims{}), {}) == 66);
}

TEST_CASE("conversion") {
    Tensor f = full(Dims{9}, -1.5, DType::Float64);
    CHECK(at(to_dtype(f, DType::Int32), {8}) == -1);
    CHECK(at(to_dtype(f, DType::UInt8), {0}) == 255);
    CHECK(at(to_dtype(f, DType::Bool), {0}) == 1);
    CHECK(at(to_dtype(full(Dims{1}, std::nan(""), DType::Float64), DType::Bool), {0}) == 1);
    CHECK(to_dtype(f, DType::Complex64).data_as<complex64>()[3] == complex64(-1.5f, 0));
    CHECK(at(to_dtype(to_dtype(f, DType::Complex64), DType::Float32), {0}) == -1.5);
}

// Every loop gives the same result whatever the layout: as one dense row, through blocks, and element by element. The C
// library's vector functions may differ from its scalar ones in the last digits.
TEST_CASE("loops of the table do not depend on layout") {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0.1, 3);
    constexpr int64_t n = 300;
    for (const Kernel* listed : all_kernels())
        for (int c = 0; c < kNumDTypes; ++c) {
            const Kernel& kernel = *listed;
            if (!kernel.loops[c]) continue;
            DType compute = static_cast<DType>(c);
            std::vector<Tensor> dense, gapped;
            std::vector<Operand> dense_inputs, gapped_inputs;
            for (int i = 0; i < kernel.inputs; ++i) {
                DType d = (kernel.condition_mask >> i) & 1 ? DType::Bool : compute;
                Tensor t = empty(Dims{n, 2}, d);
                dispatch(d, [&]<class T> {
                    for (int64_t j = 0; j < 2 * n; ++j) t.data_as<T>()[j] = Scalar(uniform(random)).to<T>();
                    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
                        for (int64_t j = 0; j < 2 * n; ++j) ++t.data_as<T>()[j];  // no zero divisors
                });
                gapped.push_back(alias(t, Dims{n}, Dims{2}, 0));
                dense.push_back(contiguous(gapped.back()));
            }
            for (int i = 0; i < kernel.inputs; ++i) {
                dense_inputs.push_back(dense[static_cast<size_t>(i)]);
                gapped_inputs.push_back(gapped[static_cast<size_t>(i)]);
            }
            Tensor one = run_as(compute, kernel, dense_inputs), two = run_as(compute, kernel, gapped_inputs);
            INFO(kernel.name, " ", dtype_name(compute));
            REQUIRE(std::memcmp(one.data(), two.data(), static_cast<size_t>(n * item_size(one.dtype()))) == 0);
            double tolerance = real_dtype(one.dtype()) == DType::Float32 ? 1e-5 : 1e-13;
            for (int64_t j = 0; j < n; j += 13) {
                std::vector<Tensor> elements;
                std::vector<Operand> inputs;
                for (const Tensor& t : dense) elements.push_back(alias(t, Dims{1}, Dims{1}, j));
                for (const Tensor& t : elements) inputs.push_back(t);
                Tensor single = run_as(compute, kernel, inputs);
                dispatch(one.dtype(), [&]<class T> {
                    auto a = Scalar(one.data_as<T>()[j]).template to<complex128>();
                    auto b = Scalar(single.data_as<T>()[0]).template to<complex128>();
                    bool same = a == b || (a != a && b != b) || std::abs(a - b) <= tolerance * (1 + std::abs(a));
                    CHECK_MESSAGE(same, a.real(), " ", b.real());
                });
            }
        }
}
