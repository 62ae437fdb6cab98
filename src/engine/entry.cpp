#include "engine/entry.h"

#include "generated/ops/creation.h"
#include "graph/batched.h"
#include "ops/hooks.h"

namespace wengert {
namespace {

// What is known of a root, be it a tensor or a node's record of its output (InputMetadata).
struct RootFacts {
    const Dims& sizes;
    DType dtype;
    Device device;
};

void check_gradient(const RootFacts& root, const Tensor& given, size_t index, bool batched) {
    const IntSpan sizes = given.sizes();
    const IntSpan one = batched && !sizes.empty() ? sizes.subspan(1) : sizes;
    if (!std::ranges::equal(one, IntSpan(root.sizes)) || (batched && sizes.empty()))
        fail(ErrorKind::Runtime,
             batched ? "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                       "dimension, and the others must match the output, but "
                     : "Mismatch in shape: ",
             "grad_output[", index, "] has a shape of ", ShapeOf{sizes}, " and output[", index, "] has a shape of ",
             ShapeOf{root.sizes}, batched ? "." : ". Broadcast or reshape the gradient to the output's shape.");
    check(is_complex(given.dtype()) == is_complex(root.dtype), ErrorKind::Runtime,
          "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
          "grad_output[",
          index, "] has a dtype of ", given.dtype(), " and output[", index, "] has a dtype of ", root.dtype, ".");
}

void check_implicit_gradient(const RootFacts& root, size_t index) {
    check(numel_of(root.sizes) == 1, ErrorKind::Runtime,
          "grad can be implicitly created only for scalar outputs, but output ", index, " has shape ",
          ShapeOf{root.sizes}, "; reduce it, for example with sum(), or pass its gradient");
    check(is_floating(root.dtype), ErrorKind::Runtime,
          "grad can be implicitly created only for real scalar outputs but got ", root.dtype,
          "; pass the gradient of output ", index, ", or differentiate its real part");
}

Tensor gradient_of(const RootFacts& root, const Tensor& given, size_t index, bool batched) {
    if (!given.defined()) {
        check_implicit_gradient(root, index);
        return full(root.sizes, 1, root.dtype, root.device);
    }
    check_gradient(root, given, index, batched);
    return given;
}

}  // namespace

void check_number_of_gradients(size_t roots, size_t gradients) {
    check(roots == gradients, ErrorKind::Runtime, "got ", roots, " tensors and ", gradients,
          " gradients; give one gradient (or None) a tensor");
}

Tensor root_gradient(const Tensor& root, const Tensor& given, size_t index, bool batched) {
    // the history of a sample is that of the batch inside
    if (!given.defined() && !requires_grad(root) && !(is_batched(root) && requires_grad(unbatched(root)))) return {};
    const RootFacts facts{root.sizes(), root.dtype(), root.device()};
    if (!given.defined() && (root.flags() & kDispatched)) {  // it is as its mode makes it
        check_implicit_gradient(facts, index);
        return ops::ones_like(root, {});
    }
    return gradient_of(facts, given, index, batched);
}

Tensor root_gradient(const Edge& root, const Tensor& given, size_t index, bool batched) {
    const InputMetadata& m = root.function->input_metadata()[root.input_nr];
    return gradient_of({m.sizes, m.dtype, m.device}, given, index, batched);
}

Edge root_edge(const Tensor& root, size_t index) {
    Edge edge = requires_grad(root) ? gradient_edge(root) : Edge();
    check(edge.is_valid(), ErrorKind::Runtime, "element ", index,
          " of tensors does not require grad and does not have a grad_fn");
    return edge;
}

Edge edge_of_output(const Ref<Node>& node, int64_t output_nr) {
    check(output_nr >= 0 && static_cast<uint64_t>(output_nr) < node->num_inputs(), ErrorKind::Runtime,
          "GradientEdge: ", node->name(), " has ", node->num_inputs(), " outputs; there is none with output_nr ",
          output_nr);
    return {node, static_cast<uint32_t>(output_nr)};
}

// A view of a leaf made under no_grad says that it requires grad and is in no graph: nothing arrives there.
Edge end_edge(const Tensor& input, bool accumulate) {
    if (accumulate) retain_grad(input);
    check(requires_grad(input), ErrorKind::Runtime, "One of the differentiated Tensors does not require grad");
    return gradient_edge(input);
}

void check_used(const TensorList& gradients) {
    for (size_t i = 0; i < gradients.size(); ++i)
        check(gradients[i].defined(), ErrorKind::Runtime, "The differentiated Tensor at index ", i,
              " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
}

}  // namespace wengert
