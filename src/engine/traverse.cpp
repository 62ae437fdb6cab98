#include "engine/traverse.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/state.h"
#include "ops/basic_nodes.h"
#include "tensor/backend.h"

namespace wengert {
namespace {

size_t elements_of(const Node* node) {
    size_t n = 0;
    for (const InputMetadata& m : node->input_metadata()) {
        size_t elements = m.used;
        for (int64_t size : m.sizes) elements *= static_cast<size_t>(size);
        n += elements;
    }
    return n;
}

void count_all(GraphTask& task, Node* root, bool weigh) {
    task.claim(root);
    task.visited.emplace_first(root);
    for (size_t i = 0; i < task.visited.size(); ++i) {  // they become more on the way
        Node* node = task.visited[i];
        if (weigh) task.elements += elements_of(node);
        task.recorded_passes = std::max(task.recorded_passes, node->recorded_passes);
        for (const Edge& edge : node->next_edges()) {
            Node* next = edge.function.get();
            if (!next) continue;
            if (!task.visited.has_room()) task.visited.reserve(2 * task.visited.size());
            const bool is_new = task.claim(next);
            ++task.state_of(next).dependencies;
            if (is_new) task.visited.emplace_in_room(next);
        }
    }
}

// As above, in an order where next nodes come first.
void count_selected(GraphTask& task, Node* root, uint64_t least_topological_nr) {
    struct Frame {
        Node* node;
        uint32_t next_edge;
    };
    struct Path : SmallVector<Frame, 32> {
        explicit Path(SmallVector<Node*, 32>& visited) : visited(visited) {}
        ~Path() {  // after an error
            for (const Frame& frame : *this) visited.emplace_in_room(frame.node);
        }
        SmallVector<Node*, 32>& visited;
    } stack(task.visited);
    task.claim(root);
    stack.emplace_first(root, 0u);
    while (!stack.empty()) {
        Frame& frame = stack.back();
        const EdgeList& edges = frame.node->next_edges();
        if (frame.next_edge == edges.size()) {
            task.visited.emplace_in_room(frame.node);
            stack.pop_back();
            continue;
        }
        Node* next = edges[frame.next_edge++].function.get();
        if (!next || next->topological_nr() < least_topological_nr) continue;
        if (!stack.has_room()) stack.reserve(2 * stack.size());
        if (const size_t room = task.visited.size() + stack.size() + 1; room > task.visited.capacity())
            task.visited.reserve(2 * room);
        const bool is_new = task.claim(next);
        ++task.state_of(next).dependencies;
        if (is_new) stack.emplace_in_room(next, 0u);
    }
}

// In backward(inputs=) the targets run (accumulators, nodes with a retained gradient) instead of being captured.
void require(GraphTask& task, const EdgeList& outputs) {
    for (const Edge& e : outputs)
        if (e.is_valid() && task.contains(e.function.get())) task.state_of(e.function.get()).needed = true;
}

void capture(GraphTask& task, const EdgeList& outputs) {
    task.captured.resize(outputs.size());
    for (uint32_t i = 0; i < outputs.size(); ++i) {
        Node* node = outputs[i].function.get();
        if (!node || !task.contains(node)) continue;  // not reachable
        EngineState& s = task.state_of(node);
        if (!s.captures) {
            task.capture_lists.push_back(std::make_unique<Captures>());
            s.captures = task.capture_lists.back().get();
        }
        static_cast<Captures*>(s.captures)->push_back({outputs[i].input_nr, i});
    }
}

void note_streams(GraphTask& task) {
    if (!streams_in_use.load(std::memory_order_relaxed)) [[likely]]
        return;
    task.uses_streams = std::ranges::any_of(task.visited, [](const Node* node) { return node->stream().has_value(); });
}

}  // namespace

void count_dependencies(GraphTask& task, Node* root, const EdgeList& outputs, bool accumulate, bool weigh) {
    if (!task.selective) {
        count_all(task, root, weigh);
        note_streams(task);
        return;
    }
    uint64_t least = UINT64_MAX;
    for (const Edge& e : outputs)
        if (e.is_valid()) least = std::min(least, e.function->topological_nr());
    count_selected(task, root, least);
    accumulate ? require(task, outputs) : capture(task, outputs);
    for (Node* node : task.visited) {
        bool needed = task.state_of(node).needed;
        for (const Edge& edge : node->next_edges())
            if (edge.is_valid() && task.wants(edge)) {
                needed = true;
                break;
            }
        task.state_of(node).needed = needed;
        if (needed) task.recorded_passes = std::max(task.recorded_passes, node->recorded_passes);
        if (weigh && needed) task.elements += elements_of(node);
    }
    note_streams(task);
}

std::vector<Node*> predict_order(GraphTask& task, Node* root) {
    const auto& executed = task.executed_nodes();
    auto wanted = [&](const Edge& e) { return e.is_valid() && executed.contains(e.function.get()); };
    std::unordered_map<Node*, uint32_t> dependencies{{root, 0}};
    std::vector<Node*> stack{root}, order;
    while (!stack.empty()) {
        Node* node = stack.back();
        stack.pop_back();
        for (const Edge& e : node->next_edges())
            if (wanted(e) && dependencies[e.function.get()]++ == 0) stack.push_back(e.function.get());
    }
    ReadyQueue queue;
    queue.push(root);
    while (!queue.empty()) {
        Node* node = queue.pop();
        if (!dynamic_cast<GraphRoot*>(node)) order.push_back(node);  // what joins several roots is the engine's own
        for (const Edge& e : node->next_edges())
            if (wanted(e) && --dependencies[e.function.get()] == 0) queue.push(e.function.get());
    }
    return order;
}

}  // namespace wengert
