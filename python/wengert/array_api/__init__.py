"""The Python array API standard on tensors: https://data-apis.org/array-api/2025.12.

The functions of `wengert` have PyTorch's names and rules, those of this module the standard's. It is what
``x.__array_namespace__()`` returns, so SciPy, scikit-learn and others that are written for the standard compute with
tensors, and what they return can be differentiated.

Where the two differ: parameters are called ``axis`` and ``keepdims``; arrays without dimensions take part in type
promotion like all others; `max`, `sort` and others return one array; `squeeze` refuses an axis that is not of length 1;
``axis=()`` reduces nothing. The operators of tensors remain PyTorch's, in whose promotion a tensor without dimensions
gives way to one that has some. ``x.size`` remains the method.

To be read first: `_promotion`, whose rule all functions of several arrays share. `_elementwise` is a list, as one
function is like another; in `_creation`, `_manipulation`, `_reductions`, `_searching` and `linalg` each function states
what the standard's arguments mean to ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from wengert import e as e
from wengert import inf as inf
from wengert import nan as nan
from wengert import newaxis as newaxis
from wengert import pi as pi

from . import fft as fft
from . import linalg as linalg
from . import special as special
from ._creation import *  # noqa: F403  # its __all__ says what
from ._dtypes import *  # noqa: F403  # its __all__ says what
from ._elementwise import *  # noqa: F403  # its __all__ says what
from ._info import __array_api_version__ as __array_api_version__
from ._info import __array_namespace_info__ as __array_namespace_info__
from ._info import dtypes_by_kind as _dtypes_by_kind
from ._manipulation import *  # noqa: F403  # its __all__ says what
from ._reductions import *  # noqa: F403  # its __all__ says what
from ._searching import *  # noqa: F403  # its __all__ says what
from .linalg import matmul as matmul
from .linalg import matrix_transpose as matrix_transpose
from .linalg import tensordot as tensordot
from .linalg import vecdot as vecdot

if _TYPE_CHECKING:  # the same types; tests/python/test_array_api.py holds the two equal
    from wengert import bool as bool
    from wengert import complex64 as complex64
    from wengert import complex128 as complex128
    from wengert import float32 as float32
    from wengert import float64 as float64
    from wengert import int8 as int8
    from wengert import int16 as int16
    from wengert import int32 as int32
    from wengert import int64 as int64
    from wengert import uint8 as uint8
    from wengert import uint16 as uint16
    from wengert import uint32 as uint32
    from wengert import uint64 as uint64
else:
    globals().update(_dtypes_by_kind(None))


def __dir__() -> list[str]:
    return [name for name in globals() if not name.startswith("_") or name.startswith("__array")]
