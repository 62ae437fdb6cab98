"""Neural networks: parameters, modules, layers, losses, and their functions in `wengert.nn.functional`.

    >>> import wengert as wg
    >>> model = wg.nn.Sequential(wg.nn.Linear(2, 8), wg.nn.Tanh(), wg.nn.Linear(8, 1))
    >>> model(wg.zeros(5, 2)).shape
    wengert.Size([5, 1])

`_module` has what all modules are, `modules` the layers, `init` their initialisation, `utils` tools around them. All
this is loaded when the first layer is asked for: programs that only use functions do not pay for it.
"""

import importlib as _importlib
import typing as _typing

from . import functional as functional
from . import parameter as parameter
from ._parameter import Buffer as Buffer
from ._parameter import Parameter as Parameter
from ._uninitialized import UninitializedBuffer as UninitializedBuffer
from ._uninitialized import UninitializedParameter as UninitializedParameter

# Type checkers read these names, and do not see `__getattr__`: with it, no name would be unknown to them.
if _typing.TYPE_CHECKING:
    from . import init as init
    from . import modules as modules
    from . import parallel as parallel
    from . import utils as utils
    from .modules import *  # noqa: F403
else:

    def __getattr__(name: str) -> _typing.Any:
        if name in ("init", "modules", "parallel", "utils"):
            return _importlib.import_module(f"{__name__}.{name}")
        if name == "__all__":
            return __dir__()
        if not name.startswith("_") and name[0].isupper():
            layers = _importlib.import_module(f"{__name__}.modules")
            if name in layers.__all__:
                globals().update({layer: getattr(layers, layer) for layer in layers.__all__})
                return globals()[name]
        from wengert._missing import no_attribute

        raise no_attribute("nn", name)


def __dir__() -> "list[str]":
    own = [name for name in globals() if not name.startswith("_")]
    return sorted(
        {*own, "init", "modules", "parallel", "utils", *_importlib.import_module(f"{__name__}.modules").__all__}
    )
