"""`GradScaler`: losses are multiplied before the backward pass, so that gradients in 16 bits do not vanish."""

from __future__ import annotations

import warnings
from enum import Enum
from typing import Any

import wengert as wg
from wengert import Tensor
from wengert.utils._pytree import tree_map

from . import _settings


class _Stage(Enum):
    """Where an optimizer is between two calls of `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scale losses by a factor that grows while gradients are finite and shrinks when one is not.

    A step is left out if a gradient is infinite or NaN. The factor is a power of two where growth and backoff are.

    Parameters
    ----------
    device : str, default "cpu"
        Type of device of the losses.
    init_scale : float, default 65536
        The first factor.
    growth_factor : float, default 2
        What the factor is multiplied by after `growth_interval` steps in a row with finite gradients.
    backoff_factor : float, default 0.5
        What it is multiplied by after a step that was left out.
    growth_interval : int, default 2000
        See `growth_factor`.
    enabled : bool, default True
        With False, losses are not scaled and `step` calls the optimizer.

    Examples
    --------
    >>> import wengert as wg
    >>> w = wg.ones(1, requires_grad=True)
    >>> optimizer = wg.optim.SGD([w], lr=0.5)
    >>> scaler = wg.amp.GradScaler("cpu", init_scale=8.0)
    >>> scaler.scale((w * w).sum()).backward()
    >>> w.grad  # 8 times the gradient
    tensor([16.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w.detach()
    tensor([0.])

    References
    ----------
    P. Micikevicius et al., "Mixed precision training", ICLR 2018.
    """

    def __init__(
        self,
        device: str = "cpu",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and device in _settings.ABSENT:
            warnings.warn(f"GradScaler is enabled, but there is no device '{device}'. Disabling.", stacklevel=2)
            enabled = False
        if enabled and not growth_factor > 1.0:
            raise ValueError(f"The growth factor must be > 1.0, but got {growth_factor}.")
        if enabled and not backoff_factor < 1.0:
            raise ValueError(f"The backoff factor must be < 1.0, but got {backoff_factor}.")
        self._device, self._enabled = device, enabled
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._stages: dict[int, _Stage] = {}
        self._found_inf: dict[int, bool] = {}  # by optimizer, since the last `update`

    # --- The steps of an iteration, in their order
    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or those of a structure, times the factor."""
        if not self._enabled:
            return outputs
        return tree_map(self._scaled, outputs)

    def _scaled(self, output: Any) -> Any:
        if not isinstance(output, Tensor):
            raise ValueError(f"outputs must be a Tensor or an iterable of Tensors, got {type(output).__name__}")
        return output * wg.tensor(self._scale, dtype=wg.float32, device=output.device)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the factor, before they are clipped; `step` does so otherwise."""
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), _Stage.READY)
        if stage is _Stage.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage is _Stage.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._found_inf[id(optimizer)] = self._unscale_grads(optimizer)
        self._stages[id(optimizer)] = _Stage.UNSCALED

    def _unscale_grads(self, optimizer: Any) -> bool:
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not grads:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        if any(grad.dtype == wg.float16 for grad in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        found = False
        with wg.no_grad():
            for grad in grads:
                found |= not bool(wg.isfinite(grad).all())
                grad.mul_(1 / self._scale)
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call ``optimizer.step(*args, **kwargs)`` if all gradients are finite; returns what it returns, or None."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        stage = self._stages.get(id(optimizer), _Stage.READY)
        if stage is _Stage.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage is _Stage.READY:
            self.unscale_(optimizer)
        result = None if self._found_inf[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = _Stage.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the factor after the steps of an iteration, or set it."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found_inf:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found_inf.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._grow()
        self._stages.clear()
        self._found_inf.clear()

    def _grow(self) -> None:
        self._growth_tracker += 1
        if self._growth_tracker < self._growth_interval:
            return
        self._growth_tracker = 0
        grown = wg.tensor(self._scale * self._growth_factor, dtype=wg.float32).item()
        if wg.isfinite(wg.tensor(grown)):
            self._scale = grown

    # --- Settings
    def get_scale(self) -> float:
        """Return the factor; 1 if it is not enabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return the growth factor."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the growth factor."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the backoff factor."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the backoff factor."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the growth interval."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the growth interval."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether losses are scaled."""
        return self._enabled

    # --- State
    def state_dict(self) -> dict[str, Any]:
        """Return the factor and what changes it, under PyTorch's names; nothing if it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
