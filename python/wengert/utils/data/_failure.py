"""An exception on its way from a worker to the program: its type, and the text of its traceback."""

from __future__ import annotations

import pickle
import traceback
from typing import NamedTuple, NoReturn


class _Verbatim(str):
    """A message that `KeyError` shows as it is, with its line breaks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Failure(NamedTuple):
    """What a worker says about an exception."""

    kind: type[BaseException]
    message: str

    @classmethod
    def of(cls, error: BaseException, where: str) -> Failure:
        """Describe an exception that is being handled; where it is raised again, its type must be known."""
        kind = next(kind for kind in type(error).__mro__ if _can_travel(kind))
        text = "".join(traceback.format_exception(error))
        return cls(kind, f"Caught {type(error).__name__} in {where}.\nOriginal {text}")

    def reraise(self) -> NoReturn:
        """Raise an exception of the same type with the text of the original one."""
        message = _Verbatim(self.message) if issubclass(self.kind, KeyError) else self.message
        try:
            error = self.kind(message)
        except Exception:  # its constructor wants something else
            raise RuntimeError(message) from None
        raise error


def _can_travel(kind: type) -> bool:
    try:
        return pickle.loads(pickle.dumps(kind)) is kind
    except Exception:
        return False
