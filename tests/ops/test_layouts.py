"""Operations on tensors of every layout, and their in-place and `out=` variants."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import (
    DIFFERENTIABLE,
    ELEMENTWISE,
    OPERATIONS,
    Case,
    Operation,
    case,
    cases,
    scalarized,
    to_tensor,
)
from tests.ops.samples import Sample
from wengert.autograd import forward_ad, grad

each_differentiable = pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)


def with_gaps(array: np.ndarray) -> Any:
    """The same elements, none beside the next in memory."""
    wide = np.full((*array.shape, 2), 7, dtype=array.dtype)
    wide[..., 0] = array
    return wg.tensor(wide).select(-1, 0)


def transposed(array: np.ndarray) -> Any:
    return (
        wg.tensor(np.ascontiguousarray(array.T)).permute(*range(array.ndim)[::-1]) if array.ndim else wg.tensor(array)
    )


def outputs(c: Case) -> list[np.ndarray]:
    output = c.operation(c.values)
    several = output if isinstance(output, (tuple, list)) else (output,)
    return [o.detach().numpy() if isinstance(o, wg.Tensor) else np.asarray(o) for o in several]


def gradients(c: Case) -> list[np.ndarray]:
    xs = [t.detach().requires_grad_() for t in c.tensors]
    y = scalarized(c, *xs)
    if not y.requires_grad:
        return [np.zeros(x.shape) for x in xs]
    return [g.numpy() for g in grad(y, xs, allow_unused=True, materialize_grads=True)]


OF_MEMORY = (
    "as_strided",
    "as_strided_scatter",
    "real_pairs",
)  # samples of operations whose results depend on the strides


def test_as_strided_reads_memory() -> None:
    x = with_gaps(np.arange(3.0)).requires_grad_()
    y = wg.as_strided(x, [2, 2], [2, 1])
    np.testing.assert_array_equal(y.detach().numpy(), [[0, 7], [1, 7]])
    np.testing.assert_array_equal(grad(y.sum(), x)[0].numpy(), [1, 1, 0])


def test_view_as_complex_needs_neighbours() -> None:
    with pytest.raises(RuntimeError, match="stride"):
        wg.view_as_complex(with_gaps(np.ones((3, 2))))


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.entry["samples"] not in OF_MEMORY], ids=repr)
@pytest.mark.parametrize("layout", [with_gaps, transposed])
def test_layout_of_inputs(operation: Operation, layout: Any) -> None:
    operation.unless_exempt("layout")
    for sample in operation.samples():
        plain, strided = case(operation, sample), case(operation, sample, layout)
        if operation.entry["name"] in ("view", "view_as"):  # never a copy, so they may refuse
            try:
                outputs(strided)
            except RuntimeError as error:
                if "view size is not compatible" not in str(error):
                    raise
                continue
        for a, b in zip(outputs(strided), outputs(plain), strict=True):
            if a.dtype == object:
                assert a == b
            else:
                np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)
        if operation.is_differentiable and plain.paths:
            for a, b in zip(gradients(strided), gradients(plain), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("operation", ELEMENTWISE, ids=repr)
def test_expanded_inputs(operation: Operation) -> None:
    """Stride 0: one element in several places."""
    for sample in operation.samples()[:1]:
        rows = {n: v[:1] for n, v in sample.arguments.items() if isinstance(v, np.ndarray) and v.ndim > 1}
        if not rows:
            continue
        expanded = case(operation, sample)
        expanded.values |= {n: to_tensor(v).expand(2, *v.shape[1:]) for n, v in rows.items()}
        plain = case(operation, sample)
        plain.values |= {n: to_tensor(np.repeat(v, 2, axis=0)) for n, v in rows.items()}
        for a, b in zip(outputs(expanded), outputs(plain), strict=True):
            np.testing.assert_array_equal(a, b)
        if operation.is_differentiable and plain.paths:
            for a, b in zip(gradients(expanded), gradients(plain), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)


def expanded(t: Any) -> Any:
    """One number in all places."""
    return wg.ones((), dtype=t.dtype).expand(t.shape)


def waves(t: Any) -> np.ndarray:
    return np.cos(np.arange(t.numel()) + 1.0).reshape(t.shape).astype(t.detach().numpy().dtype)


COTANGENTS = {
    "expanded": expanded,
    "with gaps": lambda t: with_gaps(waves(t)),
    "transposed": lambda t: transposed(waves(t)),
}


@each_differentiable
def test_layout_of_cotangents(operation: Operation) -> None:
    """A backward pass takes gradients of any layout: that of a sum is one number in all places."""
    for c in itertools.islice(cases(operation), 2):
        xs = c.leaves()
        results = [o for o in c.function(*xs) if o.requires_grad]
        for make in COTANGENTS.values() if results else ():
            strided = [make(o) for o in results]
            dense = [wg.tensor(np.array(g.numpy(), order="C")) for g in strided]
            expected = grad(results, xs, dense, retain_graph=True, allow_unused=True, materialize_grads=True)
            actual = grad(results, xs, strided, retain_graph=True, allow_unused=True, materialize_grads=True)
            for a, b in zip(actual, expected, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-13, atol=1e-13)


def arrays_in(value: Any) -> list[np.ndarray]:
    return [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, np.ndarray)]


def cut(value: Any, dims: tuple[int, ...]) -> Any:
    """Without elements along some dimensions, where it has those."""
    if isinstance(value, list):
        return [cut(v, dims) for v in value]
    for dim in dims:
        if isinstance(value, np.ndarray) and value.ndim >= (dim + 1 if dim >= 0 else -dim):
            value = value.take([], axis=dim)
    return value


def empty_versions(sample: Sample) -> Iterator[dict[str, Any]]:
    """A sample's tensors without elements: some of them, along one dimension, or the last two of matrices."""
    tensors = {n: v for n, v in sample.arguments.items() if arrays_in(v)}
    ranks = {n: max(a.ndim for a in arrays_in(v)) for n, v in tensors.items()}
    for dims in ((0,), (-1,), (1,), (-2, -1), (-2,)):
        for names in (list(tensors), [n for n in tensors if ranks[n] == max(ranks.values())], *([n] for n in tensors)):
            changed = {n: cut(tensors[n], dims) for n in names}
            if any(a.size == 0 for v in changed.values() for a in arrays_in(v)):
                yield changed


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.takes_tensors and not o.writes_only], ids=repr)
def test_zero_size_inputs(operation: Operation) -> None:
    """Some sample without elements gives a result; gradients have the shapes of what they belong to."""
    operation.unless_exempt("zero_size")
    errors: list[str] = []
    for sample in operation.samples()[:4]:
        for arrays in empty_versions(sample):
            c = case(operation, replace(sample, arguments={**sample.arguments, **arrays}))
            try:
                operation(c.values)
            except (RuntimeError, IndexError, ValueError) as error:
                errors.append(str(error))
                continue
            if operation.is_differentiable and c.paths:
                assert [g.shape for g in gradients(c)] == [t.shape for t in c.tensors]
            return
    pytest.fail(f"no sample without elements is taken: {errors}")


@each_differentiable
def test_undefined_gradients(operation: Operation) -> None:
    """Where no gradient arrives, none leaves: no error, no garbage."""
    c = next(cases(operation))
    for node in {o.grad_fn for o in c.function(*c.leaves()) if o.grad_fn is not None}:
        found = node(*[None] * len(node._input_metadata))
        for g in found if isinstance(found, tuple) else (found,):
            assert g is None or not g.any()


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.inplace and not o.writes_only and "method" in o.methods], ids=repr
)
def test_in_place_equals_out_of_place(operation: Operation) -> None:
    for sample in operation.samples():
        first = operation.arguments[0]["name"]
        if not isinstance(sample.arguments.get(first), np.ndarray):
            continue
        c = case(operation, sample)
        expected = operation(c.values)
        if (expected.shape != c.values[first].shape and not operation.view) or expected.dtype != c.values[first].dtype:
            continue  # cannot be written there
        method = getattr(wg.Tensor, operation.python["name"] + "_")

        def in_place(*tensors: Any, c: Case = c, method: Any = method, first: str = first) -> Any:
            values = dict(zip((n for n, _ in c.paths), tensors, strict=True))
            values = {**c.values, **values}
            target = values[first].clone()
            positional, keywords = operation.split(values)
            version = target._version
            returned = method(target, *positional[1:], **keywords)
            assert returned is target
            assert target._version > version
            return target

        np.testing.assert_array_equal(in_place(*c.tensors).numpy(), expected.numpy())
        if operation.is_differentiable and c.paths:
            xs, ys = c.leaves(), c.leaves()
            out, reference = in_place(*xs), c.function(*ys)[0]
            cotangent = wg.ones_like(reference).detach()
            if not reference.requires_grad:
                continue
            for a, b in zip(
                grad(out, xs, cotangent, allow_unused=True, materialize_grads=True),
                grad(reference, ys, cotangent, allow_unused=True, materialize_grads=True),
                strict=True,
            ):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.out], ids=repr)
def test_out(operation: Operation) -> None:
    for sample in operation.samples():
        c = case(operation, sample)
        expected = operation(c.values)
        positional, keywords = operation.split(c.values)
        if isinstance(expected, wg.Tensor):
            out = wg.empty_like(expected)
            assert operation.function(*positional, **keywords, out=out) is out
            np.testing.assert_array_equal(out.numpy(), expected.numpy())
            continue
        outs = tuple(wg.empty_like(t) for t in expected)
        returned = operation.function(*positional, **keywords, out=outs)
        assert type(returned) is type(expected)
        for out, given, wanted in zip(outs, returned, expected, strict=True):
            assert given is out
            np.testing.assert_array_equal(out.numpy(), wanted.numpy())


@each_differentiable
def test_layout_of_tangents(operation: Operation) -> None:
    """A tangent lies in memory as its primal does: what is a view of one is a view of the other."""
    operation.unless_exempt("layout_of_tangents")
    for c in itertools.islice(cases(operation), 3):
        for transposes in (False,) if operation.entry["samples"] in OF_MEMORY else (False, True):
            with forward_ad.dual_level():
                duals = [
                    forward_ad.make_dual(t, wg.ones_like(t))
                    for t in (transposed(t.numpy()) if transposes else t for t in c.tensors)
                ]
                refusals = (NotImplementedError, RuntimeError) if transposes else (NotImplementedError,)
                with contextlib.suppress(*refusals):  # `view` never copies
                    for result in c.function(*duals):
                        primal, tangent = forward_ad.unpack_dual(result)
                        if tangent is not None and primal.numel() > 0:
                            assert steps(tangent) == steps(primal)
                            assert tangent.dtype == primal.dtype


def steps(t: Any) -> list[int]:
    """The strides that are ever taken."""
    return [stride for size, stride in zip(t.shape, t.stride(), strict=True) if size > 1]
