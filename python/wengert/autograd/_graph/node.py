"""The interface that all nodes share."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from wengert import _C

from .._custom_function.function import BackwardCFunction
from .._hooks import RemovableHandle


class Node(abc.ABC):
    """A node of the graph, as ``tensor.grad_fn`` shows it: a virtual base class of all node types.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> node = (x * 2).grad_fn
    >>> isinstance(node, wg.autograd.graph.Node), node.name()
    (True, 'MulBackward0')
    """

    @abc.abstractmethod
    def name(self) -> str:
        """Return the name of the derivative, such as ``MulBackward0``."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where this node sends its results: for each, a node (or None) and the number of that node's input."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dictionary that lives as long as the node, for anomaly mode and for users."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> tuple[Any, ...]:
        """Shape, dtype and device of each gradient this node receives."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """Return the creation number; among ready nodes the highest runs first."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor: Any) -> None:
        """Let the hooks of one of the outputs run on this node's input."""

    @abc.abstractmethod
    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node; a returned tuple replaces grad_inputs."""

    @abc.abstractmethod
    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before this node; a returned tuple replaces grad_outputs."""

    @classmethod
    def __subclasshook__(cls, subclass: Any) -> Any:
        if cls is not Node:
            return NotImplemented
        built_in = getattr(_C._functions, subclass.__name__, None)
        return subclass is Node or subclass is built_in or issubclass(subclass, BackwardCFunction)
