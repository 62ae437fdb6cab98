"""Operations of your own: with a derivative, a vmap rule, and a place in profilers and dispatch modes.

`custom_op` makes one of a function; `Library` and the functions beside it do the same by name. The internals are in
wengert/_library.
"""

from ._library.checks import OpCheckError as OpCheckError
from ._library.checks import opcheck
from ._library.definition import CustomOpDef, custom_op
from ._library.fake import get_ctx
from ._library.inference import infer_schema
from ._library.registration import (
    Library,
    define,
    fallthrough_kernel,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]

from ._missing import advise as _advise

_advise(globals())
