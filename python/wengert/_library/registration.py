"""Operations defined and given rules by name: `Library` and the functions beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from wengert._operations import REGISTERED, OpOverload, OpOverloadPacket

from . import definition
from .definition import RESERVED, CustomOpDef
from .operation import CustomOverload, add, find
from .schema import parse

_DEVICE_KEYS = {"CPU": "cpu", "Meta": "meta", "Sim": "sim", "CUDA": "cuda", "PrivateUse1": "privateuseone"}
_AUTOGRAD_KEYS = {"Autograd", "AutogradCPU", "AutogradCUDA"}


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """Stand for "as if nothing were registered here" where a kernel is asked for."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Definitions and kernels of operations in one namespace.

    Parameters
    ----------
    ns : str
        The namespace.
    kind : str
        ``"DEF"`` or ``"FRAGMENT"`` to define operations, ``"IMPL"`` to give kernels to those of others.
    dispatch_key : str, optional
        What `impl` is for unless it says.

    Examples
    --------
    >>> import wengert as wg
    >>> library = wg.library.Library("docs_library", "DEF")
    >>> library.define("scaled(Tensor x, float s=2.0) -> Tensor")
    'scaled'
    >>> library.impl("scaled", lambda x, s=2.0: x * s, "CPU")
    >>> wg.ops.docs_library.scaled(wg.ones(2), 3.0)
    tensor([3., 3.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in RESERVED and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[CustomOverload] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operation by its schema and return its name.

        Raises
        ------
        RuntimeError
            If there is such an operation already, or the text is no schema.
        """
        op = CustomOverload(parse(schema, self.ns))
        if op.namespace != self.ns:
            raise RuntimeError(
                f"Explicitly provided namespace ({op.namespace}) in schema string does not match namespace of "
                f"enclosing library ({self.ns})"
            )
        self._defined.append(add(op))
        return op._opname if op._overloadname == "default" else op.__name__

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register a function as what an operation does at a station of its way.

        Parameters
        ----------
        op_name : str or OpOverload
            The operation.
        fn : callable
            The function, or `fallthrough_kernel`.
        dispatch_key : str, optional
            ``"CPU"``, ``"Meta"`` or another type of device: the kernel there. ``"CompositeExplicitAutograd"``: that of
            all devices. ``"CompositeImplicitAutograd"``, the default: the operation is made of others, with their
            derivatives. ``"Autograd"``: called where something is differentiated, with recording on.
        with_keyset, allow_override : bool
            Ignored but for ``with_keyset=True``, which is refused.

        Raises
        ------
        NotImplementedError
            If the key is none of these.
        """
        if with_keyset:
            raise NotImplementedError("Library.impl: there are no key sets to pass on; leave with_keyset out")
        op = self._operation(op_name)
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        rule = None if fn is fallthrough_kernel else fn
        if key == "CompositeImplicitAutograd":
            op.rules.composite = rule
        elif key in _AUTOGRAD_KEYS:
            op.rules.autograd_kernel = rule
        elif key == "CompositeExplicitAutograd" or key in _DEVICE_KEYS:
            device_type = _DEVICE_KEYS.get(key)
            if rule is None:
                op.rules.kernels.pop(device_type, None)
            else:
                op.rules.kernels[device_type] = rule
        else:
            keys = ", ".join([*_DEVICE_KEYS, "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd"])
            raise NotImplementedError(f"Library.impl: nothing is asked for key {key!r}; there are {keys}")

    def _operation(self, op_name: Any) -> CustomOverload:
        if isinstance(op_name, OpOverload):
            return find(op_name.name())
        return find(op_name if "::" in op_name else f"{self.ns}::{op_name}")

    def _register_fake(self, op_name: Any, fn: Callable[..., Any], _stacklevel: int = 1, **_: Any) -> None:
        self._operation(op_name).rules.fake = fn

    def _destroy(self) -> None:
        """Take the operations that it has defined away again."""
        for op in self._defined:
            REGISTERED[op.namespace][op._opname].pop(op._overloadname, None)
            if not REGISTERED[op.namespace][op._opname]:
                del REGISTERED[op.namespace][op._opname]
        self._defined.clear()


def operation_of(op: Any) -> CustomOverload:
    """Return the operation that a name, an overload, a packet or a definition stands for."""
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverloadPacket):
        op = op._overload(op.overloads()[0])
    if isinstance(op, OpOverload):
        return find(op.name())
    if isinstance(op, str):
        return find(op)
    raise ValueError(
        f"an operation is given by its name 'namespace::name', or as OpOverload or CustomOpDef, got {type(op)}"
    )


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Define an operation by its name and the rest of its schema.

    Parameters
    ----------
    qualname : str
        ``"namespace::name"``.
    schema : str
        ``"(Tensor x) -> Tensor"``.
    lib : Library, optional
        Which of them it belongs to.
    tags : optional
        Ignored.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.library.define("docs::negated", "(Tensor x) -> Tensor")
    >>> @wg.library.impl("docs::negated", "cpu")
    ... def negated(x):
    ...     return -x
    >>> wg.ops.docs.negated(wg.ones(2))
    tensor([-1., -1.])
    """
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(f"Expected qualname to be of the form 'namespace::name', got {qualname!r}")
    (lib or Library(namespace, "FRAGMENT")).define(name + schema)


def impl(
    qualname: Any,
    types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
) -> Any:
    """Register the kernel of an operation for types of devices ("default": all); without `func` a decorator."""
    if isinstance(qualname, Library):  # an older form: impl(lib, name, key)
        key = str(func or "")
        return lambda function: qualname.impl(types, function, key)
    return definition.register_kernel(operation_of(qualname), types, func)


def register_kernel(
    op: Any, device_types: str | Sequence[str] | None, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """Register the kernel of an operation for types of devices; None stands for all others."""
    return definition.register_kernel(operation_of(op), device_types, func)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Any = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Register what the results of an operation look like on device meta."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        operation_of(op).rules.fake = function
        return function

    return register if func is None else register(func)


def impl_abstract(
    qualname: Any, func: Callable[..., Any] | None = None, *, lib: Any = None, _stacklevel: int = 1
) -> Any:
    """Do what `register_fake` does, under its former name."""
    warnings.warn("impl_abstract was renamed to register_fake; please use that instead", FutureWarning, stacklevel=2)
    return register_fake(qualname, func)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """Register the derivative of an operation; see `CustomOpDef.register_autograd`."""
    definition.register_autograd(operation_of(op), backward, setup_context, jvp)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """Register the vmap rule of an operation; see `CustomOpDef.register_vmap`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        operation_of(op).rules.vmap = function
        return function

    return register if func is None else register(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """Register the dtype of an operation's arguments under autocast; see `CustomOpDef.register_autocast`.

    Of an operation that was not made by `custom_op`, the last one that is registered for a type of device holds.

    Parameters
    ----------
    op : str, OpOverload or CustomOpDef
        The operation.
    device_type : str
        ``"cpu"``, ``"sim"``.
    cast_inputs : dtype
    lib : Library, optional
        Ignored.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.library.define("docs::opposite", "(Tensor x) -> Tensor")
    >>> wg.library.impl("docs::opposite", "cpu", lambda x: -x)  # doctest: +ELLIPSIS
    <function ...>
    >>> wg.library.register_autocast("docs::opposite", "cpu", wg.bfloat16)
    >>> with wg.autocast("cpu"):
    ...     wg.ops.docs.opposite(wg.ones(2))
    tensor([-1., -1.], dtype=wengert.bfloat16)
    """
    if isinstance(op, CustomOpDef):
        return op.register_autocast(device_type, cast_inputs)
    rules = operation_of(op).rules
    definition.check_autocast(device_type)
    rules.autocast[device_type] = cast_inputs
    return None


def register_torch_dispatch(
    op: Any, torch_dispatch_class: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """Register what an operation is for one class of tensors or of dispatch modes."""
    return definition.register_torch_dispatch(operation_of(op), torch_dispatch_class, func)
