// Nodes of one operation: which nodes of a graph did the same to the same argument.
#pragma once

#include "graph/node.h"

namespace wengert {

struct Repetitions {
    EdgeList edges;   // the first input of each node that repeats the given one, it itself included
    EdgeList others;  // that of each length (Node::is_length) that does not
};

// Searches all that `from` leads to. A node repeats another one if it is of the same row, keeps the same numbers, and the same
// tensors went in: its next edges are the same, or lead to nodes that repeat each other and keep the same tensors.
Repetitions repetitions_of(const Node& node, const Ref<Node>& from);

// Whether `from` leads to a leaf by a way on which no node repeats the given one.
bool leads_past(const Node& node, const Ref<Node>& from);

}  // namespace wengert
