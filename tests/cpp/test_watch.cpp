// Observers and modes without Python.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/autograd.h"
#include "generated/ops/ops.h"
#include "graph/autograd_meta.h"
#include "kernels/on_host.h"
#include "ops/watch.h"

using namespace wengert;

namespace {

struct Names final : OperationObserver {
    std::vector<std::string> seen;
    int depth = 0;
    void enter(const OperationCall& call) override {
        seen.push_back(std::string(static_cast<size_t>(depth++), ' ') + call.operation.name);
    }
    void leave() noexcept override { --depth; }
    void enter_node(const Node& node, const TensorList&, bool body) override {
        if (body) seen.push_back(node.name());
    }
};

struct Zeros final : OperationMode {
    int calls = 0;
    bool recorded = true;
    TensorList compute(const OperationCall& call) override {
        ++calls;
        recorded = GradMode::is_enabled();
        return {zeros(call.arguments[0].as<Tensor>().sizes(), DType::Float32)};
    }
};

struct Twice final : OperationMode {
    TensorList compute(const OperationCall& call) override {
        if (call.arguments[0].kind == ArgumentKind::Tensor)
            return {ops::mul(ops::exp(call.arguments[0].as<Tensor>()), 2)};
        return {};
    }
};

Tensor leaf() {
    Tensor x = full(Dims{2}, 1, DType::Float32);
    set_requires_grad(x, true);
    return x;
}

}  // namespace

TEST_CASE("observers see operations, their nesting and nodes; nothing when they are gone") {
    const Tensor x = leaf();
    Names names;
    names.push();
    const Tensor y = ops::sum(ops::matmul(ops::exp(x), x));
    autograd::backward({y});
    names.pop();
    CHECK(state.watch == 0);
    const size_t count = names.seen.size();
    ops::exp(x);
    CHECK(names.seen.size() == count);
    CHECK(names.depth == 0);
    CHECK(names.seen[0] == "exp");
    CHECK(names.seen[1] == "matmul");
    CHECK(names.seen[2] == " dot");
    CHECK(std::ranges::find(names.seen, "ExpBackward0") != names.seen.end());
}

TEST_CASE("observers leave in any order, and after errors") {
    Names first, second;
    first.push();
    second.push();
    first.pop();
    CHECK_THROWS(ops::mm(leaf(), leaf()));
    CHECK(second.depth == 0);
    second.pop();
    CHECK(state.watch == 0);
}

TEST_CASE("a mode computes in the kernel's place, unrecorded; its result gets the history") {
    const Tensor x = leaf();
    Zeros mode;
    mode.push();
    const Tensor y = ops::sum(x);
    mode.pop();
    CHECK(mode.calls == 1);
    CHECK_FALSE(mode.recorded);
    CHECK(grad_fn(y)->name() == "SumBackward0");
    CHECK(state.watch == 0);
    CHECK(GradMode::is_enabled());
}

TEST_CASE("a mode is not active inside itself") {
    Twice mode;
    mode.push();
    const Tensor y = ops::exp(leaf());
    mode.pop();
    CHECK(y.numel() == 2);
    CHECK(*reinterpret_cast<const float*>(y.data()) == doctest::Approx(2 * 2.718281828f));
}

namespace {

// Of tensors without memory: each operation gives another one, of the shape of the first argument.
struct Hollow final : OperationMode {
    std::vector<std::string> seen;
    TensorList compute(const OperationCall& call) override {
        seen.emplace_back(call.operation.name);
        const ArgumentRef& first = call.arguments[0];
        const Tensor& like = first.kind == ArgumentKind::Operand ? first.as<Operand>().tensor() : first.as<Tensor>();
        return {make(like.sizes())};
    }
    Tensor make(IntSpan sizes) {
        Tensor t = without_memory(sizes, contiguous_strides(sizes), 0, DType::Float32);
        set_mode_of(t, this);
        return t;
    }
};

}  // namespace

TEST_CASE("a tensor may have a mode of its own, and no memory") {
    static Hollow hollow;  // outlives its tensors
    const Tensor x = hollow.make(Dims{2});
    set_requires_grad(x, true);
    const Tensor y = ops::mul(ops::exp(x), 2);
    CHECK(hollow.seen == std::vector<std::string>{"exp", "detach", "mul"});
    CHECK(requires_grad(y));
    hollow.seen.clear();
    autograd::backward({y}, {hollow.make(Dims{2})});
    CHECK((grad(x).flags() & kDispatched) != 0);
    CHECK_FALSE(hollow.seen.empty());
}

TEST_CASE("writes count for such a tensor, and reading its elements is an error") {
    static Hollow hollow;
    const Tensor x = hollow.make(Dims{2});
    ops::add_(x, 1);
    CHECK(x.version() == 1);
    CHECK_THROWS_AS(kernels::on_host(x, "test"), Error);
}
