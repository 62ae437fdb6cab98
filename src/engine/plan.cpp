#include "engine/plan.h"

#include <algorithm>

#include "engine/evaluate.h"

namespace wengert {
namespace {

constexpr double kLeastGain = 1.25;

uint64_t elements_of(const InputMetadata& m) {
    uint64_t n = m.used;
    for (int64_t size : m.sizes) n *= static_cast<uint64_t>(size);
    return n;
}

// Gradients that go in and come out.
uint64_t elements_of(const Node& node) {
    uint64_t n = 0;
    for (const InputMetadata& m : node.input_metadata()) n += elements_of(m);
    for (const Edge& e : node.next_edges())
        if (e.is_valid()) n += elements_of(e.function->input_metadata()[e.input_nr]);
    return n;
}

class Planner {
public:
    explicit Planner(GraphTask& task) : task_(task) {}

    Plan make() {
        Node* root = task_.roots[0].function.get();
        push(meet(root));
        while (!ready_.empty()) run(task_.state_of(ready_.pop()).step - 1);
        return std::move(plan_);
    }

private:
    uint32_t meet(Node* node) {
        EngineState& s = task_.state_of(node);
        if (s.step == 0) {
            plan_.steps.push_back({.node = node, .arrivals = s.dependencies});
            arrived_.push_back(0);
            s.step = static_cast<uint32_t>(plan_.steps.size()) & INT32_MAX;
        }
        return s.step - 1;
    }

    void push(uint32_t at) { ready_.push(plan_.steps[at].node); }

    // What GraphTask's one thread does with a node, without doing it.
    void run(uint32_t at) {
        Node* node = plan_.steps[at].node;
        plan_.steps[at].rank = next_rank_++;
        plan_.steps[at].first_delivery = static_cast<uint32_t>(plan_.deliveries.size());
        uint64_t work = elements_of(*node);
        uint64_t path = plan_.steps[at].longest_path += work;
        plan_.elements += work;
        plan_.longest_path = std::max(plan_.longest_path, path);
        if (node->is_python()) plan_.python_elements += work;
        bool executes = runs(task_, node);
        for (const Edge& edge : node->next_edges()) {
            if (!executes || !edge.is_valid() || (task_.selective && !task_.wants(edge))) {
                plan_.deliveries.push_back(Plan::kNotDelivered);
                continue;
            }
            uint32_t target = meet(edge.function.get());
            plan_.deliveries.push_back(arrived_[target]++);
            Plan::Step& next = plan_.steps[target];
            next.longest_path = std::max(next.longest_path, path);
            if (arrived_[target] == next.arrivals) push(target);
        }
    }

    GraphTask& task_;
    Plan plan_;
    ReadyQueue ready_;
    std::vector<uint32_t> arrived_;
    uint32_t next_rank_ = 0;
};

}  // namespace

bool Plan::is_worthwhile() const noexcept {
    uint64_t serial = std::max<uint64_t>({longest_path, python_elements, 1});
    return elements >= kLeastElements && elements >= kLeastPerNode * steps.size() &&
           static_cast<double>(elements) >= kLeastGain * static_cast<double>(serial);
}

Plan make_plan(GraphTask& task) { return Planner(task).make(); }

}  // namespace wengert
