"""Module: the base class of layers and models."""

from __future__ import annotations

from typing import Any, ClassVar

from .conversion import Conversion


class Module(Conversion):
    """Base class of layers and models: parameters, buffers and other modules as attributes, and a ``forward``.

    Subclasses call ``super().__init__()`` first, assign parameters and modules, and define ``forward``. Calling a
    module calls ``forward``, with the hooks that are registered.

    Attributes
    ----------
    training : bool
        Whether the module is being trained, as `train` and `eval` say.

    Examples
    --------
    >>> import wengert as wg
    >>> class Shift(wg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.by = wg.nn.Parameter(wg.ones(2))
    ...
    ...     def forward(self, x):
    ...         return x + self.by
    >>> Shift()(wg.zeros(2))
    tensor([1., 1.], grad_fn=<AddBackward0>)
    """

    call_super_init: ClassVar[bool] = False
    dump_patches: ClassVar[bool] = False
    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        self.__dict__["training"] = True
        self._set_up_attributes()
        self._set_up_state_dict()
        self._set_up_hooks()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of a call; every subclass defines it.

        Raises
        ------
        NotImplementedError
            Here.
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return what the printed form shows of this module beside the modules in it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        if not lines and not children:
            return f"{self._get_name()}()"
        body = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {body}\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
