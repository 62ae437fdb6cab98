"""Distributions that are given by probabilities or by logits: the other is computed when it is asked for.

Log densities are computed from what was given. So probabilities of exactly 0 and 1 are exact (impossible values have
the log probability -inf), and logits never pass through probabilities, which round to 0 and 1.
"""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.nn.functional import logsigmoid

from .distribution import Distribution
from .parameters import lazy


class _Given(Distribution):
    probs: Any
    logits: Any

    @property
    def _given(self) -> str:
        """``"probs"`` or ``"logits"``."""
        return "probs" if "probs" in self._event_dims else "logits"

    @property
    def _param(self) -> Any:
        return getattr(self, self._given)

    @property
    def param_shape(self) -> Any:
        """The shape of the probabilities or logits."""
        return self._param.shape


class GivenBinary(_Given):
    """Of events that happen, with ``probs = sigmoid(logits)``, or do not."""

    @lazy
    def probs(self) -> Any:
        """The probabilities."""
        return self.logits.sigmoid()

    @lazy
    def logits(self) -> Any:
        """The logarithms of probabilities divided by those of the contrary; infinite at 0 and 1."""
        return self.probs.log() - (-self.probs).log1p()

    @property
    def _contrary(self) -> Any:
        """The probabilities of the contrary."""
        return 1 - self.probs if self._given == "probs" else (-self.logits).sigmoid()

    def _weighted(self, yes: Any, no: Any) -> Any:
        """Return ``yes * log(p) + no * log(1 - p)``."""
        if self._given == "probs":
            return wg.xlogy(yes, self.probs) + wg.special.xlog1py(no, -self.probs)
        return yes * logsigmoid(self.logits) + no * logsigmoid(-self.logits)


class GivenCategories(_Given):
    """Of one of several events, in the last dimension, with ``probs = softmax(logits)``."""

    @lazy
    def probs(self) -> Any:
        """The probabilities."""
        return self.logits.softmax(-1)

    @lazy
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self.probs.log()

    @staticmethod
    def _normalized(given: dict[str, Any]) -> dict[str, Any]:
        """Return a parameter whose probabilities sum to 1."""
        ((name, value),) = given.items()
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        return {name: value / value.sum(-1, True) if name == "probs" else value.log_softmax(-1)}
