// Rows E1-E13 of the acceptance list, as far as C++ can show them: saved variables, anomaly mode, custom functions, forward
// mode.
#include <doctest/doctest.h>

#include "graph/anomaly_mode.h"
#include "graph_fixtures.h"

using namespace wengert;

namespace {

struct Cube : Function<Cube> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale) {
        CHECK_FALSE(GradMode::is_enabled());
        ctx->save_for_backward({x});
        ctx->saved_data["scale"] = scale;
        return ops::mul(ops::mul(x, ops::mul(x, x)), scale);
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        Tensor x = ctx->get_saved_variables()[0];
        double scale = std::any_cast<double>(ctx->saved_data["scale"]);
        return {ops::mul(grads[0], ops::mul(ops::mul(x, x), 3.0 * scale)), Tensor()};
    }
};

// (a, list) -> (sum, difference); notes what it sees.
struct Several : Function<Several> {
    inline static bool materialize = true, second_defined = false, wants_first = false, wants_second = false;
    static TensorList forward(AutogradContext* ctx, const Tensor& a, const TensorList& list) {
        ctx->set_materialize_grads(materialize);
        return {ops::add(a, list[0]), ops::sub(a, list[0])};
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        second_defined = grads[1].defined();
        wants_first = ctx->needs_input_grad(0);
        wants_second = ctx->needs_input_grad(1);
        return {grads[0], grads[0]};
    }
};

struct AddOne : Function<AddOne> {
    static Tensor forward(AutogradContext* ctx, Tensor x) {
        ctx->mark_dirty({x});
        return ops::add_(x, 1.0);
    }
    static TensorList backward(AutogradContext*, TensorList grads) { return grads; }
};

struct Sorted : Function<Sorted> {
    static TensorList forward(AutogradContext* ctx, const Tensor& x) {
        Tensor same = ops::clone(x), other = ops::clone(x);
        ctx->mark_non_differentiable({other});
        return {same, other};
    }
    static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0]}; }
};

struct SavesOutput : CustomFunction<SavesOutput> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
        Tensor y = ops::exp(x);
        ctx->save_for_backward({y});
        return y;
    }
    static TensorList backward(AutogradContext* ctx, TensorList grads) {
        return {ops::mul(grads[0], ctx->get_saved_variables()[0])};
    }
    static TensorList jvp(AutogradContext*, TensorList tangents) { return {ops::mul(tangents[0], 100.0)}; }
};

struct TooMany : Function<TooMany> {
    static Tensor forward(AutogradContext*, const Tensor& x, int) { return ops::clone(x); }
    static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0], grads[0]}; }
};

struct TooFew : Function<TooFew> {
    static Tensor forward(AutogradContext*, const Tensor& x, const Tensor& y, int) { return ops::add(x, y); }
    static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0]}; }
};

// What follows the last tensor may be left out.
struct Enough : Function<Enough> {
    static Tensor forward(AutogradContext*, const Tensor& x, int) { return ops::clone(x); }
    static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0]}; }
};

struct Hooks final : SavedVariableHooks {
    explicit Hooks(int* packed) : packed(packed) {}
    int* packed;
    Tensor kept;
    void pack(const Tensor& t) override {
        ++*packed;
        kept = ops::mul(t, 2.0);
    }
    Tensor unpack() override { return ops::mul(kept, 0.5); }
};

}  // namespace

TEST_CASE("E1 SavedVariable: an input comes back itself, an output with its node, none as none") {
    Tensor x = leaf({1, 2});
    SavedVariable input(x, false);
    CHECK(input.unpack(nullptr).is_same(x));
    auto node = make_node<Counting>();
    Tensor y = result_of(node, {gradient_edge(x)});
    SavedVariable output(y, true);
    Tensor again = output.unpack(node.get());
    CHECK_FALSE(again.is_same(y));
    CHECK(again.data() == y.data());
    CHECK(grad_fn(again) == node);
    CHECK(SavedVariable().was_none());
    CHECK_FALSE(SavedVariable().unpack(nullptr).defined());
    CHECK_FALSE(SavedVariable(Tensor(), false).unpack(nullptr).defined());
}

TEST_CASE("E1 SavedVariable: writes after saving and use after release are errors") {
    Tensor x = constant(1);
    SavedVariable saved(x, false);
    ops::add_(x, 1.0);
    CHECK_THROWS_WITH_AS(saved.unpack(nullptr), doctest::Contains("modified by an inplace operation"), Error);
    SavedVariable other(x, false);
    other.reset_data();
    CHECK(other.released());
    CHECK_THROWS_WITH_AS(other.unpack(nullptr), doctest::Contains("second time"), Error);
}

TEST_CASE("E2 E3 hooks of a saved variable: pack at registration, unpack at use, once") {
    Tensor x = constant(3);
    SavedVariable saved(x, false);
    int packed = 0;
    saved.register_hooks(std::make_unique<Hooks>(&packed));
    CHECK(packed == 1);
    Tensor back = saved.unpack(nullptr);
    CHECK(at(back, 0) == 3);
    CHECK_FALSE(back.is_same(x));
    CHECK_THROWS_WITH_AS(saved.register_hooks(std::make_unique<Hooks>(&packed)), doctest::Contains("already been set"),
                         Error);
}

TEST_CASE("E4 default hooks of the thread apply to everything saved") {
    static int packed;
    packed = 0;
    Tensor x = leaf({3});
    SavedTensorDefaultHooks::factory = []() -> std::unique_ptr<SavedVariableHooks> {
        return std::make_unique<Hooks>(&packed);
    };
    Tensor y = ops::mul(x, x);
    SavedTensorDefaultHooks::factory = nullptr;
    CHECK(packed == 2);
    CHECK(at(autograd::grad({y}, {x})[0], 0) == 6);
}

TEST_CASE("E5 E6 E7 anomaly mode: guards nest, nan gradients are errors that name their function") {
    CHECK_FALSE(AnomalyMode::is_enabled());
    Tensor x = leaf({-1});
    {
        DetectAnomalyGuard outer;
        {
            DetectAnomalyGuard inner(false);
            CHECK_FALSE(AnomalyMode::should_check_nan());
        }
        CHECK(AnomalyMode::is_enabled());
        CHECK(AnomalyMode::should_check_nan());
        CHECK_THROWS_WITH_AS(autograd::backward({ops::sqrt(x)}),
                             doctest::Contains("'SqrtBackward0' returned nan values in its 0th output"), Error);
    }
    CHECK_FALSE(AnomalyMode::is_enabled());
    AnomalyMode::set_enabled(true, false);
    CHECK(AnomalyMode::is_enabled());
    AnomalyMode::set_enabled(false);
}

TEST_CASE("E8 E10 Function<T>: saved tensors and data, any derivative") {
    Tensor x = leaf({2});
    Tensor y = Cube::apply(x, 10.0);
    CHECK(at(y, 0) == 80);
    CHECK(grad_fn(y)->name() == "CubeBackward");
    Tensor first = autograd::grad({y}, {x}, {}, true, true)[0];
    CHECK(at(first, 0) == 120);
    CHECK(at(autograd::grad({first}, {x})[0], 0) == 120);
    autograd::backward({y});
    CHECK_THROWS_WITH_AS(autograd::backward({y}), doctest::Contains("second time"), Error);
    CHECK_FALSE(requires_grad(Cube::apply(constant(1), 1.0)));
}

TEST_CASE("E10 lists in and out, materialized gradients, needs_input_grad") {
    Tensor a = leaf({5}), b = leaf({3});
    TensorList out = Several::apply(a, TensorList{b});
    CHECK(at(out[1], 0) == 2);
    autograd::backward({out[0]});
    CHECK(Several::second_defined);
    CHECK(at(grad(a), 0) == 1);
    CHECK(at(grad(b), 0) == 1);
    Several::materialize = false;
    autograd::grad({Several::apply(a, TensorList{b})[0]}, {b});
    Several::materialize = true;
    CHECK_FALSE(Several::second_defined);
    CHECK_FALSE(Several::wants_first);
    CHECK(Several::wants_second);
}

TEST_CASE("E10 mark_dirty and mark_non_differentiable") {
    Tensor x = leaf({1});
    Tensor y = ops::mul(x, 2.0);
    Tensor z = AddOne::apply(y);
    CHECK(z.is_same(y));
    CHECK(grad_fn(y)->name() == "AddOneBackward");
    CHECK(at(autograd::grad({z}, {x})[0], 0) == 2);
    CHECK_THROWS_WITH_AS(AddOne::apply(leaf({1})), doctest::Contains("leaf Variable that requires grad"), Error);
    TensorList out = Sorted::apply(x);
    CHECK(requires_grad(out[0]));
    CHECK_FALSE(requires_grad(out[1]));
}

TEST_CASE("E10 a tensor that was marked dirty makes no cycle with its node") {
    Tensor x = leaf({1});
    const uint32_t before = x.use_count();
    AddOne::apply(ops::mul(x, 2.0));
    CHECK(x.use_count() == before);
}

TEST_CASE("E10 saved outputs, a jvp, and a gradient for an argument that is no tensor") {
    Tensor x = leaf({1});
    Tensor y = SavesOutput::apply(x);
    CHECK(at(autograd::grad({y}, {x})[0], 0) == doctest::Approx(std::exp(1.0)));
    int32_t level = enter_dual_level();
    Tensor dual = constant(1);
    set_tangent(dual, level, constant(2));
    CHECK(at(tangent_at(SavesOutput::apply(dual), level), 0) == 200);
    exit_dual_level(level);
    CHECK_THROWS_WITH_AS(autograd::backward({TooMany::apply(x, 3)}), doctest::Contains("was not a Tensor"), Error);
}

TEST_CASE("E10 a graph of custom functions dies without the help of a collector") {
    Tensor x = leaf({1});
    uint32_t before = x.use_count();
    {
        Tensor y = SavesOutput::apply(x);
        for (int i = 0; i < 100'000; ++i) y = SavesOutput::apply(ops::mul(y, 0.1));
    }
    CHECK(x.use_count() == before);
}

TEST_CASE("E11 ForwardGrad: tangents by level, cleared when the level ends") {
    int32_t level = enter_dual_level();
    Tensor x = constant(3);
    CHECK_FALSE(tangent_at(x, level).defined());
    set_tangent(x, level, constant(1));
    CHECK(visible_level(x.impl()) == level);
    Tensor y = ops::mul(x, x);
    CHECK(at(tangent_at(y, level), 0) == 6);
    exit_dual_level(level);
    CHECK((x.flags() & kHasTangent) == 0);
    CHECK_THROWS_AS(exit_dual_level(level), Error);
}

TEST_CASE("E13 forward over reverse") {
    Tensor x = leaf({2});
    int32_t level = enter_dual_level();
    Tensor dual = ops::alias(x);
    set_tangent(dual, level, constant(1));
    Tensor y = ops::mul(ops::mul(dual, dual), dual);
    Tensor first = autograd::grad({y}, {x})[0];
    CHECK(at(first, 0) == 12);
    CHECK(at(tangent_at(first, level), 0) == 12);
    exit_dual_level(level);
}

TEST_CASE("E8 Function<T>: too few gradients are an error, as in Python") {
    Tensor x = leaf({1, 2}), y = leaf({3, 4});
    CHECK_THROWS_WITH_AS(autograd::grad({ops::sum(TooFew::apply(x, y, 1))}, {x, y}),
                         doctest::Contains("returned an incorrect number of gradients (expected 3, got 1)"), Error);
    CHECK(at(autograd::grad({ops::sum(Enough::apply(x, 1))}, {x})[0], 0) == 1);
}

TEST_CASE("E6 anomaly mode in C++: a node has metadata, and its forward frames are shown") {
    static std::string shown;
    const WarningHandler before = set_warning_handler([](WarningKind, const std::string& text) { shown += text; });
    shown.clear();
    {
        DetectAnomalyGuard anomaly;
        Tensor x = leaf({-1.0, 4.0});
        Tensor y = ops::sqrt(x);
        REQUIRE(grad_fn(y)->anomaly_metadata());
        CHECK_THROWS_WITH_AS(autograd::backward({ops::sum(y)}),
                             doctest::Contains("Function 'SqrtBackward0' returned nan values"), Error);
    }
    set_warning_handler(before);
    CHECK(shown.find("Error detected in SqrtBackward0. Traceback of forward call") != std::string::npos);
}

TEST_CASE("InferenceMode marks what factories make") {
    Tensor inside;
    {
        InferenceMode guard;
        for (const Tensor& t :
             {empty(Dims{2}, DType::Float32), zeros(Dims{2}, DType::Float32), full(Dims{2}, 1, DType::Float64),
              scalar_tensor(1, DType::Float32), empty_strided(Dims{2}, Dims{2}, DType::Float32)})
            CHECK((t.flags() & kInference) != 0);
        inside = zeros(Dims{2}, DType::Float32);
    }
    CHECK((zeros(Dims{2}, DType::Float32).flags() & kInference) == 0);
    CHECK_THROWS_WITH_AS(ops::fill_(inside, 3), doctest::Contains("Inplace update to inference tensor"), Error);
    CHECK(inside.data_as<float>()[0] == 0);  // what raises has changed nothing
}
