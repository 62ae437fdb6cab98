"""Channels in another order."""

from __future__ import annotations

from .. import functional as F  # noqa: N812
from .._layers.function_layer import OneInput, layer

__all__ = ["ChannelShuffle"]


@layer
class ChannelShuffle(OneInput):
    """Channels of [N, C, ...] in groups, which take turns in the result.

    Parameters
    ----------
    groups : int
        How many parts the channels fall into.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ChannelShuffle(2)(wg.arange(4.0).reshape(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    _function = F.channel_shuffle
    _shown = "groups={groups}"
    groups: int
