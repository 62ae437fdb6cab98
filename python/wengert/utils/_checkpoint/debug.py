"""Debugging a checkpoint: the operations of both runs, with the lines they stand in, shown when the runs differ."""

from __future__ import annotations

import itertools
import sys
import traceback
from typing import Any, ClassVar

from wengert._C import Tensor
from wengert.autograd._modes.context import Block, ModeContext, Undone

from .._python_dispatch import TorchDispatchMode
from .errors import CheckpointError


class Decision(ModeContext, Undone):
    """A block that decides for the checkpoints made in it what an argument of theirs would; None leaves it to that."""

    _holds: ClassVar[bool | None] = None

    def __init__(self, enable: bool | None) -> None:
        self.enable = enable

    def clone(self) -> Any:
        return type(self)(self.enable)

    def _open(self) -> None:
        self.change(type(self), "_holds", self.enable)

    @classmethod
    def or_else(cls, asked: bool) -> bool:
        """Return what holds for a checkpoint made now: the block's word, else the argument's."""
        return asked if cls._holds is None else cls._holds


class set_checkpoint_debug_enabled(Decision):
    """Decide for the checkpoints made in a block whether they debug; None leaves it to their argument ``debug``."""

    def __init__(self, enabled: bool | None) -> None:
        super().__init__(enabled)


class OperationLog(TorchDispatchMode):
    """Writes down every operation: ``$1: float32[3] = aten.sin.default($0)``, and the stack it ran in."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, list[str]]] = []
        self._numbers: dict[int, int] = {}
        self._count = itertools.count()
        self._alive: list[Tensor] = []  # no number is given twice

    def writing(self) -> Any:
        """Return a block whose operations are written down, in the place of what was before."""
        return Block(self._write)

    def _write(self, block: Block) -> None:
        self.lines.clear()
        block.undo(self._forget)
        block.enter(self)

    def _forget(self) -> None:
        """Let go of the tensors."""
        self._numbers.clear()
        self._alive.clear()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [self._word(value) for value in args]
        given += [f"{name}={self._word(value)}" for name, value in (kwargs or {}).items()]
        result = func(*args, **(kwargs or {}))
        results = result if isinstance(result, (tuple, list)) else (result,)
        words = ", ".join(self._word(value, typed=True) for value in results)
        stack = traceback.format_stack(sys._getframe(2))
        self.lines.append((f"{words} = {func}({', '.join(given)})", stack))
        return result

    def _word(self, value: Any, *, typed: bool = False) -> str:
        if isinstance(value, (tuple, list)):
            return "[" + ", ".join(self._word(item) for item in value) + "]"
        if not isinstance(value, Tensor):
            return repr(value)
        if id(value) not in self._numbers:
            self._numbers[id(value)] = next(self._count)
            self._alive.append(value)
        number = f"${self._numbers[id(value)]}"
        if not typed:
            return number
        return f"{number}: {str(value.dtype).rpartition('.')[2]}{list(value.shape)}"


class Logs:
    """The logs of both runs of one checkpoint."""

    def __init__(self) -> None:
        self.forward, self.again = OperationLog(), OperationLog()

    @property
    def contexts(self) -> tuple[Any, Any]:
        return self.forward.writing(), self.again.writing()

    def explain(self, error: CheckpointError) -> CheckpointError:
        """Return an error whose message has both logs before the original one."""
        parts = [
            "An error happened while unpacking tensors; these are the operations of both runs. You are seeing this "
            "error because you passed `debug=True` to checkpoint(), or enabled debugging for a block."
        ]
        for title, log, name in (
            ("1. Operations of the original forward", self.forward, "original"),
            ("2. Operations of the recomputation", self.again, "recompute"),
        ):
            parts.append(f"\n--- {title}, with their stacks\n")
            for i, (line, stack) in enumerate(log.lines, 1):
                parts.append(f"{line}   ({i} of {len(log.lines)} in {name})\n\n{''.join(stack)}")
        for title, log in (
            ("3. Log of operations in the original forward", self.forward),
            ("4. Log of operations in the recomputation", self.again),
        ):
            parts.append(f"--- {title}\n")
            parts.append("\n".join(line for line, _ in log.lines) + "\n")
        return CheckpointError("\n".join([*parts, "--- The error\n", str(error)]))
