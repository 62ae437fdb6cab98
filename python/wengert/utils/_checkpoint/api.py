"""`checkpoint`: which variant runs, and what it may be asked for."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert.autograd._custom_function.function import are_transforming

from .debug import Logs, set_checkpoint_debug_enabled
from .frame import Frame, set_checkpoint_early_stop
from .reentrant import checkpoint_reentrant
from .states import Surroundings

CHECKS = ("default", "none")


def noop_context_fn() -> tuple[Any, Any]:
    """Return two contexts that do nothing: for the forward pass and for the recomputation."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def chosen_variant(use_reentrant: bool | None, caller: str) -> bool:
    """Return which variant the user wants, with a warning if nothing was said."""
    if use_reentrant is None:
        warnings.warn(
            f"{caller}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; "
            "leaving it out means use_reentrant=True for now.",
            stacklevel=3,
        )
        return True
    return use_reentrant


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function without keeping what backward needs of it; backward runs it a second time.

    Parameters
    ----------
    function : callable
        Must do the same in both runs.
    *args, **kwargs
        Its arguments. ``preserve_rng_state=False`` is taken out of them and lets the second run draw other random
        numbers.
    use_reentrant : bool, optional
        Which variant: False, the better one, supports everything; True needs an argument that requires grad and works
        with ``backward()`` only (inside transforms of `wengert.func`, which never call that, it means False). Leaving
        it out warns and means True.
    context_fn : callable, optional
        Returns two context managers, for the two runs (non-reentrant variant only).
    determinism_check : {"default", "none"}
        Whether the second run is checked to save tensors of the same shapes, dtypes and devices.
    debug : bool, default False
        Whether an error shows the operations of both runs (non-reentrant variant only).
    early_stop : bool, default True
        Whether the second run ends as soon as it has all that backward needs.

    Returns
    -------
    object
        What `function` returns.

    Raises
    ------
    ValueError
        If arguments do not go together, or one is unknown.
    CheckpointError
        In backward, if the second run does not fit the first, or a saved tensor is asked for twice in one pass.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils.checkpoint import checkpoint
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = checkpoint(lambda x: x.square().square(), x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([ 4., 32.])
    """
    use_reentrant = chosen_variant(use_reentrant, "wengert.utils.checkpoint")
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(
                "Unexpected keyword arguments: " + ",".join(kwargs) + "; the variant with use_reentrant=True passes "
                "positional arguments only"
            )
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if not are_transforming():
            return checkpoint_reentrant(function, preserve, args)
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    debug = set_checkpoint_debug_enabled.or_else(debug)
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    logs = Logs() if debug else None
    forward_context, recompute_context = logs.contexts if logs else context_fn()
    frame = Frame(
        function,
        args,
        kwargs,
        surroundings=Surroundings(preserve),
        early_stop=set_checkpoint_early_stop.or_else(early_stop),
        compare=determinism_check == "default",
        recompute_context=recompute_context,
    )
    if logs:
        frame.on_error = logs.explain
    try:
        with frame.hooks(), forward_context, _C._WatchedNames():
            return function(*args, **kwargs)
    finally:
        frame.complete = True
