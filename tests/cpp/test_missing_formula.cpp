// A row without a derivative (`not_implemented: reason`): no row of the table is one now, so the node stands alone here.
#include <string>

#include "generated/ops/ops.h"
#include "graph_fixtures.h"
#include "ops/generated_support.h"

using namespace wengert;

TEST_CASE("L6 operations without a formula") {
    Tensor x = leaf({1, 2}), y = constant(3);
    ops::record_not_implemented("dream", collect_next_edges(x), {y});
    CHECK(requires_grad(y));
    CHECK(gradient_edge(y).function->name() == "NotImplemented");
    std::string message;
    try {
        autograd::backward({y});
    } catch (const Error& e) {
        message = e.what();
        CHECK(e.kind() == ErrorKind::NotImplemented);
    }
    CHECK(message.find("the derivative for 'dream' is not implemented") != std::string::npos);
}

TEST_CASE("nodes know the row that made them") {
    Tensor x = leaf({-1, 2});
    CHECK(std::string(gradient_edge(ops::abs(x)).function->operation()) == "abs");
    CHECK(std::string(gradient_edge(std::get<0>(ops::max_dim(x, 0))).function->operation()) == "max_dim");
    CHECK(gradient_edge(x).function->operation() == nullptr);
}
