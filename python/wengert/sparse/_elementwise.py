"""What is done to each element: functions that keep zero, scaling, sums and products by pattern, conversions.

A function of one tensor is that function of the values; products keep the places that both factors have, sums those
that either has. With a dense tensor a product is sparse and a sum is dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._numbers import as_operand
from ._pattern import Pattern, from_keys
from ._rules import ABOVE, above
from ._tensor import in_layout, is_sparse, like, pattern_of, values_of

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
    require_same_shape(input, other)
    a, b = pattern_of(input), pattern_of(other)
    added = values_of(other) if alpha == 1 else values_of(other) * alpha
    if a.same_places(b):
        return like(input, values_of(input) + added)
    pattern, in_a, in_b = _union(a, b)
    dtype = _C.promote_types(input.dtype, added.dtype)
    total = _C.zeros((pattern.nnz, *input._stored.shape[1:]), dtype=dtype, device=input.device)
    total = total.index_add(0, in_a, values_of(input).to(dtype)).index_add(0, in_b, added.to(dtype))
    return in_layout(pattern, total, input.layout)


def require_same_shape(input: Any, other: Any) -> None:
    """Raise RuntimeError where two shapes differ."""
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
        require_same_shape(dense, tensor)
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
    made = without_elements(input, dtype or input.dtype, device or input.device)
    return made.requires_grad_(requires_grad)


def without_elements(input: Any, dtype: Any, device: Any) -> Any:
    """Return a tensor of the shape and layout of another one without elements."""
    shape = input._pattern.shape
    nothing = from_keys(np.zeros(0, dtype=np.int64), shape)
    values = _C.zeros((0, *input._stored.shape[1:]), dtype=dtype, device=device)
    return in_layout(nothing, values, input.layout)
