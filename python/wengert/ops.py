"""Operations as objects, under the names that dispatch modes and selective checkpoints use.

Those of the table are in the namespace ``aten``; others hold what `wengert.library` has registered.

>>> import wengert as wg
>>> wg.ops.aten.mm.default
<OpOverload(op='aten.mm', overload='default')>
>>> wg.ops.aten.exp(wg.zeros(2))
tensor([1., 1.])
"""

from typing import Any

from ._operations import Namespace, OpOverload, OpOverloadPacket

aten = Namespace("aten")

__all__ = ["OpOverload", "OpOverloadPacket", "aten"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    namespace = globals()[name] = Namespace(name)
    return namespace
