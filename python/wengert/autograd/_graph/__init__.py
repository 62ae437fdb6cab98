"""Looking at the graph, naming places in it, and deciding how it keeps tensors.

Start with `node` for what a node shows, and `saved_tensors` for what it holds.
"""

from .multi_grad_hook import register_multi_grad_hook
from .mutation import allow_mutation_on_saved_tensors
from .node import Node
from .saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from .versions import _unsafe_preserve_version_counter, increment_version

__all__ = [
    "Node",
    "_unsafe_preserve_version_counter",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
