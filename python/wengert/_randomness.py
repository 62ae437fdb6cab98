"""Random functions inside `vmap`: where a draw asks what the surrounding batches want.

A function that draws numbers may have no batched argument at all (``randn(3)``), so a batching rule would never hear of
it. The functions and methods here are therefore wrapped once, at import: outside of vmap the wrapper calls the
compiled function; inside, `wengert.func._random` decides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor

_FUNCTIONS = "rand randn rand_like randn_like randint randint_like randperm normal bernoulli multinomial"
_METHODS = "bernoulli multinomial uniform_ normal_ log_normal_ cauchy_ exponential_ geometric_ bernoulli_ random_"
_DROPOUTS = "dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout"


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if _C._open_batches():
            from wengert.func._random import draw as draw_for_batches

            return draw_for_batches(function, args, kwargs)
        return function(*args, **kwargs)

    return draw


def _set_up() -> None:
    """Wrap the random functions of the core; called once, before their names are exported."""
    for owner, names in ((_C, _FUNCTIONS), (Tensor, _METHODS), (_C._nn_functional, _DROPOUTS), (_C, _DROPOUTS)):
        for name in filter(functools.partial(hasattr, owner), names.split()):
            setattr(owner, name, _wrapped(getattr(owner, name)))


_set_up()
