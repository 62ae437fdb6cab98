"""``torch.amp``, as on a machine without GPU: operations run in the dtypes of their operands, losses are not scaled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Self

from wengert import Tensor
from wengert.optim import Optimizer

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(contextlib.ContextDecorator):
    """A context, and a decorator, that changes nothing; all dtypes but the two of 16 bits are kept by PyTorch's too."""

    def __init__(
        self, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        self.device = device_type

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return the forward function itself; without one, a decorator that does."""
    return fwd if fwd is not None else lambda fwd: fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return the backward function itself; without one, a decorator that does."""
    return bwd if bwd is not None else lambda bwd: bwd


class GradScaler:
    """What PyTorch's is when it is not enabled: the factor is 1."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def scale(self, outputs: Any) -> Any:
        """Return the losses as they are."""
        return outputs

    def unscale_(self, optimizer: Optimizer) -> None:
        """Do nothing."""

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Make the step of the optimizer."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Do nothing."""

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def get_scale(self) -> float:
        """Return 1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Return an empty dictionary."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Do nothing."""
