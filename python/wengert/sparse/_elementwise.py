"""What is done to each element: functions that keep zero, scaling, sums and products by pattern, conversions.

A function of one tensor is that function of the values; products keep the places that both factors have, sums those
that either has. With a dense tensor a product is sparse and a sum is dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._numbers import as_operand
from ._pattern import COO, Pattern, from_keys
from ._rules import ABOVE, above, below
from ._tensor import become, in_layout, is_sparse, like, pattern_of, sparse, values_of

KEEP_ZERO = (
    "abs", "absolute", "angle", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh", "ceil",
    "conj", "conj_physical", "deg2rad", "erf", "erfinv", "expm1", "fix", "floor", "frac", "imag", "isinf", "isnan",
    "isneginf", "isposinf", "log1p", "nan_to_num", "neg", "negative", "positive", "rad2deg", "real", "relu", "relu6",
    "resolve_conj", "round", "sgn", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
    "hardtanh", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "tanhshrink", "softshrink", "hardshrink",
)  # fmt: skip


def _of_values(name: str) -> Any:
    def rule(input: Any, *args: Any, **kwargs: Any) -> Any:
        function = getattr(_C, name, None) or getattr(_C._nn_functional, name)
        return like(input, function(values_of(input), *args, **kwargs))

    rule.__name__ = name
    return rule


ABOVE.update({name: _of_values(name) for name in KEEP_ZERO})


def _converted_by(name: str) -> Any:
    def rule(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_sparse(input):  # x.type_as(A)
            return input.to(dtype=args[0].dtype, device=args[0].device)
        if args and is_sparse(args[0]):
            args = (args[0].dtype,) if name == "type_as" else (args[0].device, args[0].dtype)
            return rule_of_to(input, *args, **kwargs)
        stored = input._stored
        if getattr(stored, name)(*args, **kwargs) is stored:
            return input
        return like(input, getattr(values_of(input), name)(*args, **kwargs))

    return rule


for _name in ("type_as", "double", "float", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool",
              "cfloat", "cdouble", "cpu"):  # fmt: skip
    ABOVE[_name] = _converted_by(_name)
ABOVE["to"] = rule_of_to = _converted_by("to")


@below("to_dtype")
def _to_dtype(input: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, input._stored.to(dtype))


@below("on_device")
def _on_device(input: Any, device: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, input._stored.to(device))


@above("pow", "__pow__")
def _pow(input: Any, exponent: Any) -> Any:
    if not is_sparse(input) or not _is_number(exponent) or _positive(exponent) is False:
        raise RuntimeError(
            "[pow] a power of a sparse tensor is sparse for positive exponents that are numbers; use x.to_dense()"
        )
    return like(input, values_of(input) ** exponent)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) or (not is_sparse(value) and getattr(value, "ndim", None) == 0)


def _positive(exponent: Any) -> bool:
    return bool(exponent.real > 0)


# --- Products
@above("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Any:
    """Return the product of each two elements; one factor may be a number or dense."""
    if not is_sparse(input):
        input, other = other, input
    if _is_number(other):
        return like(input, values_of(input) * other)
    other = as_operand("mul", other)
    if not is_sparse(other):
        return like(input, values_of(input) * _elements(other, input, "mul"))
    if input.shape != other.shape:
        raise RuntimeError(
            f"mul operands have incompatible sizes {tuple(input.shape)} and {tuple(other.shape)}: two sparse tensors "
            "are not broadcast"
        )
    a, b = pattern_of(input), pattern_of(other)
    if a.same_places(b):
        return like(input, values_of(input) * values_of(other))
    keys, in_a, in_b = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    values = _taken(values_of(input), in_a) * _taken(values_of(other), in_b)
    return in_layout(from_keys(keys, a.shape), values, input.layout)


def _taken(values: Any, places: Any) -> Any:
    return values.index_select(0, _C.from_numpy(places.astype(np.int64, copy=False)).to(values.device))


def _elements(dense: Any, tensor: Any, name: str) -> Any:
    """Return the elements of a dense tensor, broadcast to the shape of a sparse one, at its places."""
    if dense.ndim > tensor.ndim or any(
        a not in (1, b) for a, b in zip(reversed(dense.shape), reversed(tensor.shape), strict=False)
    ):
        raise RuntimeError(
            f"[{name}] a dense tensor of shape {tuple(dense.shape)} cannot be broadcast to the shape "
            f"{tuple(tensor.shape)} of the sparse one"
        )
    pattern = pattern_of(tensor)
    if pattern.nnz == 0:
        return _C.ones((), dtype=dense.dtype)
    return dense.expand(tensor.shape)[tuple(axis.to(dense.device) for axis in pattern.axes)]


@above("div", "divide", "true_divide", "__truediv__", "floor_divide", "__floordiv__")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Return the quotient of each element and a number or the element of a dense tensor there."""
    if not is_sparse(input) or is_sparse(other):
        raise RuntimeError(
            "Sparse division requires a scalar or dense tensor divisor: an element that a sparse divisor lacks is zero"
        )
    divisor = other if _is_number(other) else _elements(as_operand("div", other), input, "div")
    return like(input, _C.div(values_of(input), divisor, rounding_mode=rounding_mode))


# --- Sums
@above("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``input + alpha * other``: sparse where both are, else dense."""
    if not is_sparse(input) and not is_sparse(other):
        return _C.add(input, other, alpha=alpha)
    for number, tensor in ((input, other), (other, input)):
        if isinstance(number, (int, float, complex)):
            if number == 0:  # as sum([A, B]) begins
                return tensor if tensor is input or alpha == 1 else tensor * alpha
            raise RuntimeError(
                "[add] a number added to a sparse tensor makes it dense; use x.to_dense(), or compute with x.values()"
            )
    input, other = as_operand("add", input), as_operand("add", other)
    if not is_sparse(input):
        return _to_dense_sum(input, other, alpha)
    if not is_sparse(other):
        scaled = other if alpha == 1 else other * alpha
        return _to_dense_sum(scaled, input, 1)
    _require_same_shape(input, other)
    a, b = pattern_of(input), pattern_of(other)
    added = values_of(other) if alpha == 1 else values_of(other) * alpha
    if a.same_places(b):
        return like(input, values_of(input) + added)
    pattern, in_a, in_b = _union(a, b)
    dtype = _C.promote_types(input.dtype, added.dtype)
    total = _C.zeros((pattern.nnz, *input._stored.shape[1:]), dtype=dtype, device=input.device)
    total = total.index_add(0, in_a, values_of(input).to(dtype)).index_add(0, in_b, added.to(dtype))
    return in_layout(pattern, total, input.layout)


def _require_same_shape(input: Any, other: Any) -> None:
    if input.shape != other.shape:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(input.shape)} while other "
            f"has size {list(other.shape)} (sparse tensors are not broadcast)"
        )


def _union(a: Pattern, b: Pattern) -> tuple[Pattern, Any, Any]:
    keys = np.union1d(a.keys, b.keys)
    at = [_C.from_numpy(np.searchsorted(keys, p.keys).astype(np.int64, copy=False)) for p in (a, b)]
    return from_keys(keys, a.shape), at[0], at[1]


def _to_dense_sum(dense: Any, tensor: Any, alpha: Any) -> Any:
    if dense.shape != tensor.shape:
        dense = dense.expand(tensor.shape) if dense.ndim <= tensor.ndim else dense
        _require_same_shape(dense, tensor)
    values = values_of(tensor) if alpha == 1 else values_of(tensor) * alpha
    dtype = _C.promote_types(dense.dtype, values.dtype)
    axes = tuple(axis.to(dense.device) for axis in pattern_of(tensor).axes)
    return dense.to(dtype).index_put(axes, values.to(dtype), accumulate=True)


@above("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``input - alpha * other``."""
    return add(input, other, alpha=-alpha)


@above("rsub", "__rsub__")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``other - alpha * input``."""
    return add(other, input, alpha=-alpha)


@above("equal")
def equal(input: Any, other: Any) -> bool:
    """Whether two sparse tensors have equal places and values."""
    if not (is_sparse(input) and is_sparse(other)) or input.shape != other.shape:
        return False
    same_places = pattern_of(input).same_places(pattern_of(other))
    return same_places and bool(_C.equal(values_of(input), values_of(other)))


@above("zeros_like", "empty_like")
def zeros_like(input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Any:
    """Return a sparse tensor of the same shape without elements."""
    made = _without_elements(input, dtype or input.dtype, device or input.device)
    return made.requires_grad_(requires_grad)


def _without_elements(input: Any, dtype: Any, device: Any) -> Any:
    shape = input._pattern.shape
    nothing = from_keys(np.zeros(0, dtype=np.int64), shape)
    values = _C.zeros((0, *input._stored.shape[1:]), dtype=dtype, device=device)
    return in_layout(nothing, values, input.layout)


# --- Below recording
@below("detach", "alias", "view")
def _alias(input: Any, *args: Any) -> Any:
    if args and tuple(args[0]) != tuple(input.shape):
        return NotImplemented
    return sparse(input._pattern, input._stored)


@below("clone", "contiguous")
def _clone(input: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, input._stored.clone())


@below("ones_like")
def _ones_like(input: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, _C.ones_like(input._stored))


@below("zero_")
def _zero(input: Any) -> Any:
    return become(input, _without_elements(input, input.dtype, input.device))


@below("copy_")
def _copy(input: Any, source: Any, *args: Any) -> Any:
    if not is_sparse(input):
        return input.copy_(source.to_dense())
    if not is_sparse(source):
        return NotImplemented
    _require_same_shape(input, source)
    return become(input, sparse(source._pattern, source._stored.clone()))


@below("add")
def _sum_of_gradients(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """As `add`; two tensors of coordinates that are not coalesced stay so, one behind the other."""
    if is_sparse(input) and is_sparse(other) and input.layout == other.layout == COO:
        _require_same_shape(input, other)
        a, b = input._pattern, other._pattern
        scaled = other._stored if alpha == 1 else other._stored * alpha
        if a is b or (a.layout == COO and a.arrays is b.arrays):
            return sparse(a, input._stored + scaled)
        if not (a.is_coalesced and b.is_coalesced):
            both = tuple(np.concatenate(pair) for pair in zip(a.coordinates, b.coordinates, strict=True))
            joined = sparse(Pattern(COO, a.shape, both, is_private=True), _C.cat([input._stored, scaled]))
            return joined if joined._pattern.nnz <= input.numel() else joined.coalesce()  # it must not grow for ever
    return add(input, other, alpha=alpha)


@below("add_")
def _add_in_place(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    if is_sparse(input):
        return NotImplemented if not is_sparse(other) else become(input, _sum_of_gradients(input, other, alpha=alpha))
    values = other._stored if alpha == 1 else other._stored * alpha
    axes = tuple(axis.to(input.device) for axis in other._pattern.axes)
    input.index_put_(axes, values.to(input.dtype), accumulate=True)
    return input


@below("sum_to_size")
def _sum_to_size(input: Any, size: Any) -> Any:
    if tuple(size) == tuple(input.shape):
        return sparse(input._pattern, input._stored)
    return input.to_dense().sum_to_size(size) if len(size) else input._stored.sum()
