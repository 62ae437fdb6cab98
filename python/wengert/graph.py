"""The graph: what `wengert.autograd.graph` has, and pictures of it.

>>> import wengert as wg
>>> x = wg.ones(2, requires_grad=True)
>>> picture = wg.graph.draw((x * x).sum())
>>> print(picture)
Graph of 3 nodes: AccumulateGrad, MulBackward0, SumBackward0
"""

from .autograd._draw.drawing import Drawing, draw
from .autograd.graph import *  # noqa: F403
from .autograd.graph import __all__ as _names

__all__ = ["Drawing", "draw"]
__all__ += _names
