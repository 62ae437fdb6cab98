"""A chain of functions, checkpointed in segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .api import checkpoint, chosen_variant


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Apply functions one after another, all but the last of `segments` parts of the chain checkpointed.

    Parameters
    ----------
    functions : Sequential or sequence of callables
        Each takes the result of the one before.
    segments : int
        In how many parts to divide the chain. The last part is not checkpointed: its saved tensors are needed first.
    input : Tensor
        What the first function gets.
    use_reentrant : bool, optional
        As in `checkpoint`; leaving it out warns and means True.
    preserve_rng_state : bool, default True
        As in `checkpoint`.

    Raises
    ------
    ValueError
        If a keyword argument is unknown.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils.checkpoint import checkpoint_sequential
    >>> x = wg.zeros(2, requires_grad=True)
    >>> checkpoint_sequential([wg.exp, wg.square, wg.sin], 2, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([1.0806, 1.0806])
    """
    use_reentrant = chosen_variant(use_reentrant, "wengert.utils.checkpoint.checkpoint_sequential")
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(chain) // segments
    for start in range(0, length * (segments - 1), length):
        part = _one_after_another(chain[start : start + length])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _one_after_another(chain[length * (segments - 1) :])(input)


def _one_after_another(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
