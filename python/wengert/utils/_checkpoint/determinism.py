"""Comparing the two runs of a checkpointed function by what they saved, with messages that name operation and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wengert import _C
from wengert._C import Tensor

NAME = "wengert.utils.checkpoint"
TIP = (
    "\n\nTip: the function must do the same both times. Pass `debug=True` to "
    "`wengert.utils.checkpoint.checkpoint(...)`, or wrap the code block with "
    "`with wengert.utils.checkpoint.set_checkpoint_debug_enabled(True):`, to see the operations of both runs."
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What is kept of a saved tensor: enough to compare, and to say who saved it where."""

    shape: Any
    dtype: Any
    device: Any
    operation: str | None
    place: Any  # (code, offset), put into words only in a message

    @staticmethod
    def of(tensor: Tensor) -> Saved:
        """Describe a tensor that is being saved now."""
        return Saved(tensor.shape, tensor.dtype, tensor.device, _C._running_operation(), _C._user_place())

    def origin(self) -> str:
        """Say who saved it: "by 'sin' at model.py:12 in forward"."""
        who = f"by '{self.operation}'" if self.operation else "by a function of the user"
        return f"{who} at {_C._describe_place(*self.place)}" if self.place else who

    def metadata(self) -> dict[str, Any]:
        """Return what the two runs must agree in."""
        return {"shape": self.shape, "dtype": self.dtype, "device": self.device}


def too_many(forward: Sequence[Saved], extra: Saved) -> str:
    """Word that the second run saves more than the first."""
    return (
        f"{NAME}: trying to save more tensors during recomputation than during the original forward pass.\n"
        f"Number of tensors saved during forward: {len(forward)}\n"
        f"The first one too many is saved {extra.origin()}.{TIP}"
    )


def difference(forward: Sequence[Saved], again: Sequence[Saved], *, compare: bool) -> str:
    """Return what differs between the runs, or the empty string. Numbers always count, metadata if `compare`."""
    if len(forward) != len(again):
        return (
            f"{NAME}: A different number of tensors was saved during the original forward and recomputation.\n"
            f"Number of tensors saved during forward: {len(forward)}\n"
            f"Number of tensors saved during recomputation: {len(again)}.\n{_parting(forward, again)}{TIP}"
        )
    if not compare:
        return ""
    pairs = [
        f"tensor at position {position}, saved {first.origin()}:\n"
        f"saved metadata: {first.metadata()}\n"
        f"recomputed metadata: {second.metadata()}" + ("" if _same_origin(first, second) else f" {second.origin()}")
        for position, (first, second) in enumerate(zip(forward, again, strict=True))
        if first.metadata() != second.metadata()
    ]
    if not pairs:
        return ""
    what = "Recomputed values for the following tensors have different metadata than during the forward pass."
    return f"{NAME}: {what}\n" + "\n".join(pairs) + f".{TIP}"


def _same_origin(first: Saved, second: Saved) -> bool:
    return first.operation == second.operation and first.place == second.place


def _parting(forward: Sequence[Saved], again: Sequence[Saved]) -> str:
    """Say where the runs part ways."""
    for position, (first, second) in enumerate(zip(forward, again, strict=False)):
        if not _same_origin(first, second):
            return (
                f"The runs part at tensor {position}: the forward pass saved it {first.origin()}, the recomputation "
                f"{second.origin()}."
            )
    longer, which = (forward, "forward pass") if len(forward) > len(again) else (again, "recomputation")
    missing = longer[min(len(forward), len(again))]
    return f"Only the {which} saved the tensor after that, {missing.origin()}."
