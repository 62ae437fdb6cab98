"""What operations do with sparse tensors: two tables, by the name of the operation.

`ABOVE` has what is called in place of an operation of the user's, above recording: compositions of differentiable
operations on values and dense tensors, whose derivatives of any order come by themselves. `BELOW` has what the core
asks for, below recording: sums of gradients, copies, rows that change a tensor in place. What only reads geometry or
history (`PASSED`) goes to the core as if the tensor were dense.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

ABOVE: dict[str, Callable[..., Any]] = {}
BELOW: dict[str, Callable[..., Any]] = {}

# Attributes and methods of the tensor as an object of the graph.
PASSED = {
    "shape", "dtype", "device", "ndim", "layout", "itemsize", "is_cpu", "is_meta", "is_cuda", "is_sparse",
    "is_sparse_csr", "is_quantized", "is_nested", "requires_grad", "grad", "_grad", "grad_dtype", "grad_fn", "_grad_fn",
    "is_leaf", "output_nr", "retains_grad", "_version", "_base", "data", "_backward_hooks",
    "_post_accumulate_grad_hooks", "size", "dim", "numel", "is_complex", "is_floating_point", "backward",
    "register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "retain_grad", "detach", "detach_",
    "_is_view", "_use_count", "type", "get_device", "is_inference", "nelement", "ndimension", "element_size",
    "is_tensor", "is_same_size", "is_signed", "result_type", "can_cast", "is_nonzero", "is_grad_enabled", "clone",
}  # fmt: skip

Rule = TypeVar("Rule", bound=Callable[..., Any])


def above(*names: str) -> Callable[[Rule], Rule]:
    """Register what is called in place of the operations."""

    def register(rule: Rule) -> Rule:
        ABOVE.update(dict.fromkeys(names, rule))
        return rule

    return register


def below(*names: str) -> Callable[[Rule], Rule]:
    """Register what computes the operations below recording."""

    def register(rule: Rule) -> Rule:
        BELOW.update(dict.fromkeys(names, rule))
        return rule

    return register


def name_of(function: Any) -> str:
    """Return the name of a function or method, or of the attribute that a getter reads."""
    name: str = getattr(function, "__name__", "")
    if name in ("__get__", "__set__"):
        return str(getattr(function.__self__, "__name__", name))
    return name
