"""The operations of the table as objects, under the names that dispatch modes and selective checkpoints use.

>>> import wengert as wg
>>> wg.ops.aten.mm.default
<OpOverload(op='aten.mm', overload='default')>
>>> wg.ops.aten.exp(wg.zeros(2))
tensor([1., 1.])
"""

from ._operations import Namespace, OpOverload, OpOverloadPacket

aten = Namespace("aten")

__all__ = ["OpOverload", "OpOverloadPacket", "aten"]
