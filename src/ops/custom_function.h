// What C++ and Python custom functions share: turning the tensors that a user's forward returned into outputs of its
// node, and asking the user's jvp for their tangents.
//
// For each output the question is what it is: a fresh tensor, an input returned as it is (becomes a view of it, so that
// hooks and history stay apart), an input changed in place ("dirty": keeps its identity, its history is rebased), or a
// view of an input (tagged, since a later in-place write could not respect the user's backward).
//
// Tangents are computed level by level, the lowest first: under LevelGuard(level) the user's jvp sees tangents and saved
// tensors as numbers that carry only lower levels, so nesting gives derivatives of derivatives.
#pragma once

#include <functional>
#include <unordered_map>

#include "graph/autograd_meta.h"

namespace wengert {

// Keeps its tensors alive, so that none can take the place of another.
using TensorSet = std::unordered_map<const TensorImpl*, Tensor>;

struct CustomOutputs {
    const TensorList& inputs;  // the tensor arguments
    const TensorSet& non_differentiable;
    const TensorSet& dirty;
    Ref<Node> node;  // null: nothing is recorded
    // The user's jvp: input tangents (undefined: zero) to output tangents. Empty: there is none.
    std::function<TensorList(const TensorList& tangents)> jvp;
};

// `raw` may hold undefined tensors at positions of non-tensor outputs; they keep a slot of the node.
TensorList wrap_outputs(const CustomOutputs& custom, const TensorList& raw);

}  // namespace wengert
