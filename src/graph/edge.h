// Edge: one input slot of a Node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/refcount.h"

namespace wengert {

class Node;

struct Edge {
    using PlainBytes = void;  // base/small_vector.h
    Ref<Node> function;
    uint32_t input_nr = 0;

    Edge() noexcept = default;
    Edge(Ref<Node> function, uint32_t input_nr) noexcept : function(std::move(function)), input_nr(input_nr) {}
    bool is_valid() const noexcept { return static_cast<bool>(function); }
    friend bool operator==(const Edge&, const Edge&) = default;
};

}  // namespace wengert

#include "graph/node.h"  // IWYU pragma: keep; what an edge leads to, and owns

template <>
struct std::hash<wengert::Edge> {
    size_t operator()(const wengert::Edge& e) const noexcept {
        return std::hash<const void*>()(e.function.get()) * 31 + e.input_nr;
    }
};
