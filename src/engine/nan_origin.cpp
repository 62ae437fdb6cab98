#include "engine/nan_origin.h"

#include <unordered_set>

#include "kernels/reductions/nan_check.h"
#include "ops/accumulate_grad.h"

namespace wengert {
namespace {

bool is_nan_leaf(const Node& node) {
    auto* leaf = dynamic_cast<const AccumulateGrad*>(&node);
    return leaf && kernels::any_nan(leaf->variable());
}

bool has_nan_result(const Node& node) {
    return (node.anomaly_metadata() && node.anomaly_metadata()->nan_result) || is_nan_leaf(node);
}

}  // namespace

std::string nan_origin(const Node& node) {
    const Node* first = nullptr;
    std::vector<const Node*> waiting{&node};
    std::unordered_set<const Node*> seen{&node};
    while (!waiting.empty()) {
        const Node* each = waiting.back();
        waiting.pop_back();
        bool inherited = false;
        for (const Edge& edge : each->next_edges()) {
            const Node* next = edge.function.get();
            if (!next || !has_nan_result(*next)) continue;
            inherited = true;
            if (seen.insert(next).second) waiting.push_back(next);
        }
        if (!inherited && has_nan_result(*each) && (!first || each->sequence_nr() < first->sequence_nr())) first = each;
    }
    if (!first) return "";
    if (is_nan_leaf(*first)) {
        const Tensor& leaf = static_cast<const AccumulateGrad*>(first)->variable();
        std::ostringstream text;
        text << " The forward pass was nan before: a leaf of shape " << ShapeOf{leaf.sizes()} << " contains nan.";
        return std::move(text).str();
    }
    return " The forward pass was nan before: the first operation whose result contained nan is that of " +
           name_and_place(*first) + ".";
}

}  // namespace wengert
