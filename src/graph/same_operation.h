// Nodes of one operation: which nodes of a graph did the same to the same argument.
#pragma once

#include "graph/node.h"

namespace wengert {

struct Repetitions {
    EdgeList edges;       // the first input of each node that repeats the given one, it itself included
    bool others = false;  // there is a length (Node::is_length) that does not
};

// Searches all that `from` leads to. A node repeats another one if it is of the same row, has the same next edges (the same
// tensors went in) and keeps the same numbers.
Repetitions repetitions_of(const Node& node, const Ref<Node>& from);

}  // namespace wengert
