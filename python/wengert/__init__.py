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

from . import _C as _C
from . import _randomness as _randomness  # wraps random functions before their names are exported below
from ._C import *  # noqa: F403  # everything public of the core; see the stub _C.pyi
from ._compositions import allclose as allclose
from ._compositions import cartesian_prod as cartesian_prod
from ._compositions import combinations as combinations
from ._compositions import equal as equal
from ._compositions import tensordot as tensordot
from ._compositions import unique as unique
from ._compositions import unique_consecutive as unique_consecutive
from ._dtype_info import finfo as finfo
from ._dtype_info import iinfo as iinfo
from ._overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._setup import set_up_tensor as _set_up_tensor
from ._tensor_str import get_printoptions as get_printoptions
from ._tensor_str import set_printoptions as set_printoptions
from ._threads import get_num_threads as get_num_threads
from ._threads import set_num_threads as set_num_threads
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
    "fft", "func", "graph", "linalg", "nn", "ops", "optim", "optimize", "overrides", "profiler", "random", "special",
    "testing", "utils",
}  # fmt: skip
_LAZY_FUNCTIONS = {
    "bartlett_window": "_windows", "blackman_window": "_windows", "gradient": "_differences",
    "hamming_window": "_windows", "hann_window": "_windows", "istft": "_stft", "kaiser_window": "_windows",
    "range": "_windows", "stft": "_stft", "vmap": "func",
    "BoolTensor": "_legacy_types", "ByteTensor": "_legacy_types", "CharTensor": "_legacy_types",
    "DoubleTensor": "_legacy_types", "FloatTensor": "_legacy_types", "IntTensor": "_legacy_types",
    "LongTensor": "_legacy_types", "ShortTensor": "_legacy_types", "load": "_serialization", "save": "_serialization",
}  # fmt: skip


def __getattr__(name: str):  # type: ignore[no-untyped-def]  # a module, of which mypy knows by its import
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY_FUNCTIONS:
        return getattr(_importlib.import_module(f"{__name__}.{_LAZY_FUNCTIONS[name]}"), name)
    if name.endswith("_") and name[:-1] in globals() and hasattr(_C.Tensor, name):
        return getattr(_C.Tensor, name)  # relu_(x) is x.relu_()
    raise AttributeError(f"module 'wengert' has no attribute {name!r}")


def __dir__() -> "list[str]":
    return [*globals(), *_LAZY_MODULES, *_LAZY_FUNCTIONS]
