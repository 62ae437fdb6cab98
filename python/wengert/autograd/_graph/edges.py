"""Names for places in the graph: a node and the number of one of its inputs."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert import _C
from wengert._C import Tensor

from .._modes.grad_mode import enable_grad


class GradientEdge(NamedTuple):
    """The place in the graph where the gradient of one tensor arrives.

    `backward` and `grad` take edges wherever they take tensors. An edge keeps the graph as it was when the edge was
    made, so it survives in-place operations on the tensor, and it does not keep the tensor's data.

    Attributes
    ----------
    node : Node
        The node that receives the gradient.
    output_nr : int
        Which output of the forward operation the gradient belongs to.
    ownership_token : object
        Keeps the graph alive where `node` alone would not.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge at which the gradient of `tensor` arrives; for a leaf, that of its AccumulateGrad node.

    Raises
    ------
    RuntimeError
        If `tensor` does not require grad, or is a view of a leaf made under ``no_grad``, which is in no graph.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([2.0], requires_grad=True)
    >>> y = x * 3
    >>> edge = wg.autograd.graph.get_gradient_edge(y)
    >>> wg.autograd.grad(edge, x)
    (tensor([3.]),)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients; "
            "call requires_grad_() on it, or on what it is computed from."
        )
    node = node_of(tensor)
    if node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a view of a leaf that was made in no_grad mode: it is in "
            "no graph. Make the view with gradients enabled, or use the leaf."
        )
    token = None
    if isinstance(node, _C._FunctionBase):
        # The Python object of a custom Function does not own its node; a view's node, one step above, does.
        with enable_grad():
            token = tensor.view_as(tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, token)


def node_of(target: Tensor | GradientEdge) -> Any:
    """Return the node where the gradient of a tensor or an edge arrives, None if there is none."""
    if isinstance(target, GradientEdge):
        return target.node
    if target.grad_fn is not None or not target.requires_grad:
        return target.grad_fn
    with enable_grad():  # a view's node leads to the leaf's AccumulateGrad, which may not exist yet
        view: Any = target.view_as(target)
    return view.grad_fn.next_functions[0][0]
