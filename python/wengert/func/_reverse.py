"""Reverse mode inside a transform: the frame that `grad`, `vjp`, `jacrev` and `linearize` share.

src/python/func/reverse.cpp says what it does: aliases of primals, passes that stop at them, and what is recorded.
"""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor
from wengert.utils._pytree import tree_map_only


class ReverseFrame(_C._ReverseFrame):
    """A call of the user's function whose results will be differentiated with respect to the aliases it is given.

    ``with ReverseFrame() as frame:`` is around the call; ``frame.gradients(outputs, cotangents, keep_graph)`` may come
    later, and often. A frame `inside` another one knows the other's aliases as its own.
    """

    __slots__ = ()

    def release(self, tree: Any) -> Any:
        """Return what leaves the frame: detached, unless somebody outside tracks it."""
        if tree is None:
            return None
        return self.released(tree) if isinstance(tree, Tensor) else tree_map_only(Tensor, self.released, tree)
