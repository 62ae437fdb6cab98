"""Module, in layers that build on each other; read them in this order.

`registry` holds named things and makes them attributes, `attributes` says what assignment registers, `traversal` walks
the tree, `state_dict` saves and loads it, `hooks` calls it, `conversion` changes its tensors, and `module` is the class
that users derive from. `global_hooks` has the hooks of all modules.
"""

from .module import Module

__all__ = ["Module"]
