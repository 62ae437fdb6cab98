"""Looking at the graph, naming places in it, and deciding how it keeps tensors.

Start with `node` for what a node shows, `edges` for the places that have names, and `saved_tensors` for what is held.
"""

from .edges import GradientEdge, get_gradient_edge
from .multi_grad_hook import register_multi_grad_hook
from .mutation import allow_mutation_on_saved_tensors
from .node import Node
from .saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from .versions import _unsafe_preserve_version_counter, increment_version

__all__ = [
    "GradientEdge",
    "Node",
    "_unsafe_preserve_version_counter",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
