"""Methods of Tensor that samples of a batch have their own of, called as functions: ``Tensor.set_(x, y)``."""

from __future__ import annotations

from typing import Any

from wengert._C import Tensor

from .._batched_tensor import BatchedTensor
from .batch import Batch
from .dispatch import handles

_OWN = {
    getattr(Tensor, name): method
    for name, method in vars(BatchedTensor).items()
    if callable(method) and callable(getattr(Tensor, name, None)) and not isinstance(method, (type, staticmethod))
}


@handles(*_OWN)
def own(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Call it; another argument that is a batch is as bad as the tensor itself."""
    return _OWN[func](*args, **kwargs)
