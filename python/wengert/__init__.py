"""Wengert: PyTorch's automatic differentiation, small and fast, on NumPy and SciPy.

    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])

The core is compiled (`wengert._C`); its functions are the public ones of this module. Modules that need more than the
core are loaded when first used.
"""

# The import below brings in functions named like Python's own (sum, abs, ...), so this file uses none of those.
import importlib as _importlib
import math as _math
import typing as _typing

from . import _C as _C
from ._compositions import tensordot as tensordot  # and below: mypy keeps the first definition of a name

# isort: split
from ._C import *  # type: ignore[assignment]  # noqa: F403  # everything public of the core; see the stub _C.pyi
from ._compositions import broadcast_shapes as broadcast_shapes
from ._compositions import histogramdd as histogramdd
from ._compositions import tensordot as tensordot  # noqa: F811
from ._compositions import unique as unique
from ._compositions import unique_consecutive as unique_consecutive
from ._overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._resources import empty_cache as empty_cache
from ._resources import get_num_threads as get_num_threads
from ._resources import set_num_threads as set_num_threads
from ._tensor.dtype_info import finfo as finfo
from ._tensor.dtype_info import iinfo as iinfo
from ._tensor.printing import get_printoptions as get_printoptions
from ._tensor.printing import set_printoptions as set_printoptions
from ._tensor.setup import set_up_tensor as _set_up_tensor
from ._version import __version__ as __version__

e, pi, inf, nan, newaxis = _math.e, _math.pi, _math.inf, _math.nan, None

from . import autograd as autograd  # noqa: E402  # needs the names above
from .autograd import enable_grad as enable_grad  # noqa: E402
from .autograd import inference_mode as inference_mode  # noqa: E402
from .autograd import no_grad as no_grad  # noqa: E402
from .autograd import set_grad_enabled as set_grad_enabled  # noqa: E402

_set_up_tensor()
_C._set_package_folder(__file__[: -len("__init__.py")])

_LAZY_MODULES = {
    "accelerator", "amp", "array_api", "as_autograd", "as_torch", "compat", "cuda", "distributed", "distributions",
    "fft", "func", "graph", "library", "linalg", "nn", "ops", "optim", "optimize", "overrides", "profiler", "random",
    "sim", "sparse", "special", "testing", "utils",
}  # fmt: skip
_LAZY_FUNCTIONS = {
    "gradient": "_differences", "lobpcg": "_low_rank", "lu": "_low_rank", "pca_lowrank": "_low_rank",
    "poisson": "_random_counts", "hspmm": "sparse._products", "smm": "sparse._products",
    "sparse_compressed_tensor": "sparse._make", "sparse_coo_tensor": "sparse._make",
    "sparse_csc_tensor": "sparse._make", "sparse_csr_tensor": "sparse._make",
    "svd_lowrank": "_low_rank", "vmap": "func",
    "autocast": "amp", "autocast_decrement_nesting": "amp._settings", "autocast_increment_nesting": "amp._settings",
    "get_autocast_dtype": "amp._settings", "is_autocast_cache_enabled": "amp._settings",
    "is_autocast_enabled": "amp._settings", "set_autocast_cache_enabled": "amp._settings",
    "set_autocast_dtype": "amp._settings", "set_autocast_enabled": "amp._settings",
    "BFloat16Tensor": "_tensor.legacy_types", "BoolTensor": "_tensor.legacy_types",
    "ByteTensor": "_tensor.legacy_types", "CharTensor": "_tensor.legacy_types",
    "DoubleTensor": "_tensor.legacy_types", "FloatTensor": "_tensor.legacy_types", "HalfTensor": "_tensor.legacy_types",
    "IntTensor": "_tensor.legacy_types",
    "LongTensor": "_tensor.legacy_types", "ShortTensor": "_tensor.legacy_types",
    "load": "_files", "save": "_files",
}  # fmt: skip

# Type checkers read the names above here, and do not see `__getattr__`: with it, no name would be unknown to them.
# tests/python/test_types.py holds the two lists equal.
if _typing.TYPE_CHECKING:
    from . import accelerator as accelerator
    from . import amp as amp
    from . import array_api as array_api
    from . import as_autograd as as_autograd
    from . import as_torch as as_torch
    from . import compat as compat
    from . import cuda as cuda
    from . import distributed as distributed
    from . import distributions as distributions
    from . import fft as fft
    from . import func as func
    from . import graph as graph
    from . import library as library
    from . import linalg as linalg
    from . import nn as nn
    from . import ops as ops
    from . import optim as optim
    from . import optimize as optimize
    from . import overrides as overrides
    from . import profiler as profiler
    from . import random as random
    from . import sim as sim
    from . import sparse as sparse
    from . import special as special
    from . import testing as testing
    from . import utils as utils
    from ._differences import gradient as gradient
    from ._files import load as load
    from ._files import save as save
    from ._low_rank import lobpcg as lobpcg
    from ._low_rank import lu as lu
    from ._low_rank import pca_lowrank as pca_lowrank
    from ._low_rank import svd_lowrank as svd_lowrank
    from ._random_counts import poisson as poisson
    from ._tensor.legacy_types import BFloat16Tensor as BFloat16Tensor
    from ._tensor.legacy_types import BoolTensor as BoolTensor
    from ._tensor.legacy_types import ByteTensor as ByteTensor
    from ._tensor.legacy_types import CharTensor as CharTensor
    from ._tensor.legacy_types import DoubleTensor as DoubleTensor
    from ._tensor.legacy_types import FloatTensor as FloatTensor
    from ._tensor.legacy_types import HalfTensor as HalfTensor
    from ._tensor.legacy_types import IntTensor as IntTensor
    from ._tensor.legacy_types import LongTensor as LongTensor
    from ._tensor.legacy_types import ShortTensor as ShortTensor
    from .amp import autocast as autocast
    from .amp._settings import autocast_decrement_nesting as autocast_decrement_nesting
    from .amp._settings import autocast_increment_nesting as autocast_increment_nesting
    from .amp._settings import get_autocast_dtype as get_autocast_dtype
    from .amp._settings import is_autocast_cache_enabled as is_autocast_cache_enabled
    from .amp._settings import is_autocast_enabled as is_autocast_enabled
    from .amp._settings import set_autocast_cache_enabled as set_autocast_cache_enabled
    from .amp._settings import set_autocast_dtype as set_autocast_dtype
    from .amp._settings import set_autocast_enabled as set_autocast_enabled
    from .func import vmap as vmap
    from .sparse._make import sparse_compressed_tensor as sparse_compressed_tensor
    from .sparse._make import sparse_coo_tensor as sparse_coo_tensor
    from .sparse._make import sparse_csc_tensor as sparse_csc_tensor
    from .sparse._make import sparse_csr_tensor as sparse_csr_tensor
    from .sparse._products import hspmm as hspmm
    from .sparse._products import smm as smm
else:

    def __getattr__(name: str) -> _typing.Any:
        if name in _LAZY_MODULES:
            return _importlib.import_module(f"{__name__}.{name}")
        if name in _LAZY_FUNCTIONS:
            return getattr(_importlib.import_module(f"{__name__}.{_LAZY_FUNCTIONS[name]}"), name)
        if name.endswith("_") and name[:-1] in globals() and hasattr(_C.Tensor, name):
            return getattr(_C.Tensor, name)  # relu_(x) is x.relu_()
        if name.startswith("_"):  # as the import system asks while the package is loaded
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        from ._missing import no_attribute

        raise no_attribute("", name)


def __dir__() -> "list[str]":
    return [*globals(), *_LAZY_MODULES, *_LAZY_FUNCTIONS]
