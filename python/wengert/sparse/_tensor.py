"""SparseTensor: a tensor to the graph, a pattern and values to those who compute.

It is an object of the core without memory, with layout, shape and dtype, that has history, tangents, hooks and a
gradient of its own. Its class keeps a `Pattern` and a plain tensor of values beside it. The two ways between a sparse
tensor and its values are the only operations that are recorded on sparse tensors themselves; both are linear, and each
is the other's derivative:

    values_of(A)                values of the coalesced tensor; a gradient comes back as a sparse tensor
    with_values(pattern, v)     a sparse tensor; of a gradient the values at the places of `pattern` come back

All other operations take values, compute with plain tensors, and make a sparse tensor of the result. A pattern is
constant: no derivative belongs to a place without an element, and gradients of sparse tensors are sparse.

Inside of vmap, values may be samples of a batch. Such a sparse tensor is no object of the graph: its history is that of
its values.
"""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor
from wengert._overrides import DisableTorchFunctionSubclass
from wengert.autograd._custom_function.function import Function

from ._pattern import COO, Pattern
from ._rules import ABOVE, BELOW, PASSED, name_of


class SparseTensor(Tensor):
    """What `sparse_coo_tensor` and the like return."""

    _repr_name = "tensor"
    _pattern: Pattern
    _stored: Any  # the values, without history; [nnz, *dense sizes]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("sparse tensors are made by sparse_coo_tensor, sparse_csr_tensor, x.to_sparse() and the like")

    # As the core has them; read so often that the way through `__torch_function__` would be felt.
    @property
    def shape(self) -> Any:
        return _C.Size((*self._pattern.shape, *self._stored.shape[1:]))

    @property
    def ndim(self) -> int:
        return len(self._pattern.shape) + int(self._stored.ndim) - 1

    @property
    def dtype(self) -> Any:
        return self._stored.dtype

    @property
    def layout(self) -> Any:
        return self._pattern.layout

    @property
    def data(self) -> Any:
        return sparse(self._pattern, self._stored)

    @data.setter
    def data(self, other: Any) -> None:
        if not isinstance(other, SparseTensor):
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                f"type: one is sparse and the other a {type(other).__name__}"
            )
        if self.requires_grad and not (other.is_floating_point() or other.is_complex()):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        _C._set_geometry(self, other.shape, other.dtype)
        self._pattern, self._stored = other._pattern, other._stored

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = name_of(func), kwargs or {}
        rule = ABOVE.get(name)
        if rule is not None:
            result = rule(*args, **kwargs)
            if result is not NotImplemented:
                return result
        elif name not in PASSED and not name.endswith("_"):
            raise _not_for_sparse(name, args)
        with DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._opname
        rule = BELOW.get(name) or ABOVE.get(name)
        if rule is not None:
            result = rule(*args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        if name.endswith("_") and isinstance(args[0], SparseTensor):
            rule = BELOW.get(name[:-1]) or ABOVE.get(name[:-1])
            if rule is not None:
                return become(args[0], rule(*args, **(kwargs or {})))
        raise _not_for_sparse(name, args)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from ._printing import text

        return text(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuild, (self._pattern.layout, self._pattern.shape, self._pattern.arrays, self._pattern.is_coalesced,
                         self._stored.detach(), self.requires_grad)  # fmt: skip

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        import copy

        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support deepcopy; use clone")
        copied = sparse(self._pattern, self._stored.clone()).requires_grad_(self.requires_grad)
        memo[id(self)] = copied
        if self.grad is not None:
            copied.grad = copy.deepcopy(self.grad, memo)
        return copied

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        return id(self)


def sparse(pattern: Pattern, values: Any) -> Any:
    """Return a sparse tensor without history, on these values."""
    tensor = Tensor._make_wrapper_subclass(
        SparseTensor, (*pattern.shape, *values.shape[1:]), dtype=values.dtype, device=values.device,
        layout=pattern.layout,
    )  # fmt: skip
    tensor._pattern, tensor._stored = pattern, values
    return tensor


def rebuild(
    layout: Any, shape: tuple[int, ...], arrays: tuple[Any, ...], is_coalesced: bool, values: Any, requires_grad: bool
) -> Any:
    """Make the tensor that pickle took apart; what it says is checked."""
    pattern = Pattern(layout, shape, tuple(arrays), is_coalesced=is_coalesced)
    pattern.check()
    if layout == COO and is_coalesced and not pattern._is_sorted:
        raise RuntimeError("a sparse tensor that is said to be coalesced, but whose places are not in order")
    if len(values) != pattern.nnz:
        raise RuntimeError(f"a sparse tensor with {pattern.nnz} places and {len(values)} values cannot be read")
    return sparse(pattern, values).requires_grad_(requires_grad)


def become(tensor: Any, other: Any) -> Any:
    """Give a sparse tensor the places and values of another one, in place."""
    if not isinstance(other, SparseTensor):
        raise RuntimeError("a sparse tensor cannot hold a dense result in place; leave out the underscore")
    tensor._pattern = other._pattern
    tensor._stored = other._stored.to(tensor.dtype)
    return tensor


def is_sparse(value: Any) -> bool:
    """Whether it is a sparse tensor."""
    return isinstance(value, SparseTensor)


def pattern_of(tensor: Any) -> Pattern:
    """Return the coalesced pattern of a sparse tensor, which goes with `values_of`."""
    pattern: Pattern = tensor._pattern
    return pattern.coalesced


def values_of(tensor: Any) -> Any:
    """Return the values of the coalesced tensor, differentiable."""
    if _C._asks_derivative(tensor):
        return ValuesOf.apply(tensor)
    return tensor._pattern.values_in_order(tensor._stored)


def with_values(pattern: Pattern, values: Any) -> Any:
    """Return the sparse tensor with these values, differentiable with respect to them."""
    if _C._is_sample(values) or not _C._asks_derivative(values):
        return sparse(pattern, values)
    return WithValues.apply(values, pattern)


def like(tensor: Any, values: Any) -> Any:
    """Return a tensor of the layout of another one from values for the places of its coalesced pattern."""
    return in_layout(pattern_of(tensor), values, tensor._pattern.layout, tensor._pattern)


def in_layout(pattern: Pattern, values: Any, layout: Any, known: Pattern | None = None) -> Any:
    """Return a sparse tensor of a coalesced pattern and its values; `known` may be its form there."""
    if layout == COO or len(pattern.shape) != 2:
        return with_values(pattern, values)
    if known is not None and known.layout == layout and known.coalesced is pattern and layout == _C.sparse_csr:
        return with_values(known if known._is_sorted else pattern.compressed(layout)[0], values)
    compressed, order = pattern.compressed(layout)
    return with_values(compressed, values if order is None else values.index_select(0, order))


def values_at(tensor: Any, pattern: Pattern) -> Any:
    """Return the elements of a sparse or dense tensor at the places of a pattern, zeros where it has none."""
    if not is_sparse(tensor):
        return dense_values_at(tensor, pattern)
    own, values = pattern_of(tensor), values_of(tensor)
    if own is pattern.coalesced:
        return pattern.values_back(values)
    if own.same_places(pattern):
        return values
    places, present = own.find(pattern)
    shape = (-1, *[1] * (values.dim() - 1))
    if own.nnz == 0:
        return _C.zeros((pattern.nnz, *values.shape[1:]), dtype=values.dtype, device=values.device)
    found = values.index_select(0, places)
    return _C.where(present.view(shape), found, _C.zeros_like(found))


def dense_values_at(tensor: Any, pattern: Pattern) -> Any:
    """The same of a dense tensor."""
    dense_shape = tensor.shape[len(pattern.shape) :]
    return tensor.reshape(-1, *dense_shape).index_select(0, pattern.flat.to(tensor.device))


class ValuesOf(Function):
    @staticmethod
    def forward(tensor: Any) -> Any:
        return tensor._pattern.values_in_order(tensor._stored).detach()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.pattern, ctx.given = pattern_of(inputs[0]), inputs[0]._pattern

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return in_layout(ctx.pattern, grad, ctx.given.layout, ctx.given)

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        return values_at(tangent, ctx.pattern)


class WithValues(Function):
    @staticmethod
    def forward(values: Any, pattern: Pattern) -> Any:
        return sparse(pattern, values.detach())

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.pattern = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return values_at(grad, ctx.pattern), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return with_values(ctx.pattern, tangent)


def _not_for_sparse(name: str, args: tuple[Any, ...]) -> NotImplementedError:
    kinds = sorted({str(a.layout).rpartition(".")[2] for a in args if isinstance(a, SparseTensor)})
    return NotImplementedError(
        f"Could not run '{name}' with sparse arguments ({', '.join(kinds) or 'in a list'}): it has no sparse result or "
        "is not implemented for this layout; use x.to_dense(), or compute with x.values()"
    )
