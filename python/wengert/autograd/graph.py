"""The graph and what it keeps; see `wengert.autograd._graph`."""

from ._graph.edges import GradientEdge, get_gradient_edge
from ._graph.multi_grad_hook import register_multi_grad_hook
from ._graph.mutation import allow_mutation_on_saved_tensors
from ._graph.node import Node
from ._graph.saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from ._graph.versions import increment_version

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
