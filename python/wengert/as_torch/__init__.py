"""Programs and packages written for PyTorch, run as they are: `import torch` means Wengert.

From the shell, for one program::

    python -m wengert.as_torch program.py --its --arguments
    python -m wengert.as_torch -m package.module

Or in a program, before anything imports PyTorch:

    >>> import wengert as wg
    >>> wg.as_torch.install()
    >>> import torch
    >>> torch.sin(torch.zeros(2))
    tensor([0., 0.])
    >>> wg.as_torch.uninstall()

Every module of PyTorch is found under the same path here: `_finder.py` makes ``torch.nn.functional`` a face
(`_faces.py`) of `wengert.nn.functional`. What programs name although it changes no number (``torch.jit.script``,
``torch.backends.cudnn.benchmark``, ``autocast``) stands in `_counterparts`, in modules of the same paths.

A name that is in neither may be imported, stored, compared, subclassed and written in annotations; it says that it is
absent, and what to use instead, when it is called or computed with (`_absent.py`). ``hasattr`` and ``getattr`` with a
default see that it is absent; no object is an instance of it.

NumPy's functions (``numpy.stack``, not ufuncs) take tensors as arrays and return arrays meanwhile, as with PyTorch.
"""

from __future__ import annotations

import sys

from wengert import Tensor

from ._faces import is_ours
from ._finder import TorchFinder

__all__ = ["install", "uninstall"]

_finder = TorchFinder()
_array_function = Tensor.__array_function__


def install() -> None:
    """Let `import torch` mean Wengert in this process. A second call does nothing.

    Raises
    ------
    ImportError
        If PyTorch itself has been imported: its tensors and these would be mixed.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.as_torch.install()
    >>> import torch
    >>> torch.Tensor is wg.Tensor, torch.cuda.is_available()
    (True, False)
    >>> wg.as_torch.uninstall()
    """
    if "torch" in sys.modules and not is_ours("torch"):
        raise ImportError("[as_torch] PyTorch is already imported in this process: install before anything imports it")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        del Tensor.__array_function__  # numpy.stack and its like give arrays, as with PyTorch; ufuncs give tensors


def uninstall() -> None:
    """Let `import torch` mean PyTorch again. Modules that have imported `torch` meanwhile keep Wengert."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        Tensor.__array_function__ = _array_function  # type: ignore[method-assign]
    for name in [name for name in sys.modules if is_ours(name)]:
        del sys.modules[name]
