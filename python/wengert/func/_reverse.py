"""Reverse mode inside a transform: the frame that `grad`, `vjp`, `jacrev` and `linearize` share.

A `ReverseFrame` gives the user's function an alias of each primal. The alias is a node of the surrounding graph where
the primal is tracked by it, and a leaf otherwise; a pass of the engine that stops at the aliases therefore computes
derivatives with respect to this call's primals and no others, however often the same tensor is differentiated around
it (no perturbation confusion). Tangents of surrounding forward transforms stay on the aliases, so that forward over
reverse works too.

A pass is recorded only if something outside can see the difference: a surrounding reverse transform, a primal or a
cotangent that requires grad, or a leaf that the function captured. The last is found by a walk over the recorded
nodes, which is made only where grad mode was on outside and nothing else decides. For the same reason values that
leave the frame are detached unless somebody outside tracks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import wengert
from wengert import _C
from wengert.autograd import _forward_ad
from wengert.autograd._engine import run_engine
from wengert.utils._pytree import tree_map

from ._frames import (
    Frame,
    is_within_reverse,
    logical,
    map_physical,
    open_batches,
    physical,
    plain,
)


class ReverseFrame(Frame):
    """A call of the user's function whose results will be differentiated with respect to the aliases it is given.

    ``with ReverseFrame() as frame:`` is around the call; passes of its `pullback` may come later. A frame `inside`
    another one knows the other's aliases as its own.
    """

    kind = "reverse"

    def __init__(self, inside: ReverseFrame | None = None) -> None:
        self.inside = inside
        self.tracked = False

    def _open(self) -> Self:
        self.outer_is_recording = wengert.is_grad_enabled()
        self.leave_inference_mode()
        self.batches = open_batches()
        self.aliases: list[Any] = []  # physical tensors
        self.own: list[Any] = [] if self.inside is None else list(self.inside.own)
        self.tracked = (self.outer_is_recording and is_within_reverse()) or (
            self.inside is not None and self.inside.tracked
        )  # whether somebody outside may differentiate results
        self._known: dict[Any, bool] = {}  # nodes whose graphs were searched
        self.enter(_C._Switch("set_grad_enabled", True))
        return super()._open()

    def alias(self, primal: Any) -> Any:
        """Return the tensor that stands for `primal` inside; gradients will be with respect to it.

        Raises
        ------
        RuntimeError
            If its dtype is neither floating point nor complex.
        """
        value = physical(primal, self.batches)
        if not (value.is_floating_point() or value.is_complex()):
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, but a primal is {value.dtype}"
            )
        if value.requires_grad and self.outer_is_recording:
            self.tracked = True
            result = value.view_as(value)
        else:
            result = (value.clone() if value.is_inference() else detached(value)).requires_grad_()
        self.aliases.append(result)
        self.own.append(result)
        return logical(result, self.batches)

    def pullback(self, outputs: Sequence[Any]) -> Pullback:
        """Return the function from cotangents of these outputs to gradients, which may be called often."""
        return Pullback(self, outputs)

    def is_tracked(self, outputs: Sequence[Any]) -> bool:
        """Return whether somebody outside of this frame tracks one of these physical tensors."""
        if self.tracked or not self.outer_is_recording:
            return self.tracked
        return any(self._captures(output) for output in outputs)

    def _captures(self, output: Any) -> bool:
        node = output.grad_fn
        if node is None:
            return output.requires_grad and not any(output is alias for alias in self.own)
        if node not in self._known:
            self._known[node] = _C._autograd._reaches_other_leaves(node, self.own)
        return self._known[node]

    def release(self, tree: Any) -> Any:
        """Return what leaves the frame: detached, unless somebody outside tracks it."""

        def released(leaf: Any) -> Any:
            if not isinstance(leaf, wengert.Tensor) or not plain(leaf).requires_grad or self.is_tracked([plain(leaf)]):
                return leaf
            return map_physical(detached, leaf)

        return tree_map(released, tree)


class Pullback:
    """From cotangents of outputs to one gradient for each alias of a frame; zeros for those that are independent.

    What does not depend on cotangents is found once: a Jacobian has a pass for each of its rows.
    """

    def __init__(self, frame: ReverseFrame, outputs: Sequence[Any]) -> None:
        self.frame = frame
        self.aliases = tuple(frame.aliases)
        self.places = [place for place, output in enumerate(outputs) if plain(output).requires_grad]
        self.roots = tuple(self._physical_output(outputs[place]) for place in self.places)
        self._is_tracked: bool | None = None

    def _physical_output(self, output: Any) -> Any:
        if not self.frame.batches:
            return output
        with wengert.enable_grad():
            return physical(output, self.frame.batches)

    def __call__(self, cotangents: Sequence[Any], keep_graph: bool) -> list[Any]:
        """Run a pass. The graph may not be used again unless it is kept, or somebody else can use it."""
        batches = self.frame.batches
        if not self.roots:
            return [logical(wengert.zeros_like(alias), batches) for alias in self.aliases]
        gradients = tuple([cotangents[place] for place in self.places])
        if batches:
            gradients = tuple([physical(gradient, batches) for gradient in gradients])
        record = wengert.is_grad_enabled() and self._is_recorded(gradients)
        results = run_engine(self.roots, gradients, keep_graph or record, record, self.aliases, True, False)
        results = [
            wengert.zeros_like(alias) if result is None else result
            for alias, result in zip(self.aliases, results, strict=True)
        ]
        return [logical(result, batches) for result in results] if batches else results

    def _is_recorded(self, gradients: Sequence[Any]) -> bool:
        """Return whether somebody may differentiate what the pass computes."""
        if is_within_reverse() or any(gradient.requires_grad for gradient in gradients):
            return True
        if self._is_tracked is None:
            self._is_tracked = self.frame.is_tracked(self.roots)
        return self._is_tracked


def detached(tensor: Any) -> Any:
    """Return the tensor without its history, with the tangents of all open levels."""
    if _forward_ad._current_level < 0:
        return tensor.detach()
    with wengert.no_grad():
        return tensor.view_as(tensor)
