"""Row U6: vmap. The rules of single operations are tested in tests/ops/test_batching.py."""

from __future__ import annotations

import pytest

import wengert as wg
from wengert._vmap_internals import _vmap
from wengert.autograd import forward_ad
from wengert.func import functional_call, grad, jvp, vmap

close = wg.testing.assert_close
batch = wg.arange(6.0).reshape(3, 2)


def test_u6_in_and_out_dims():
    f = lambda x, y: (x * y, x.sum())  # noqa: E731
    product, total = vmap(f, in_dims=(1, None), out_dims=(1, 0))(batch.t(), wg.tensor([1.0, 10.0]))
    close(product, (batch * wg.tensor([1.0, 10.0])).t())
    close(total, batch.sum(1))
    close(vmap(lambda x: x, in_dims=-1, out_dims=-1)(batch), batch)
    close(vmap(lambda x: (x, wg.ones(2)), out_dims=(0, None))(batch)[1], wg.ones(2))
    close(vmap(lambda x: wg.ones(()))(batch), wg.ones(3))


def test_u6_trees_and_keywords():
    f = lambda t, scale=None: {"y": (t["a"] * scale, t["b"][0])}  # noqa: E731
    out = vmap(f, in_dims=({"a": 0, "b": None},))({"a": batch, "b": [wg.ones(2)]}, scale=wg.arange(3.0))
    close(out["y"][0], batch * wg.arange(3.0).reshape(3, 1))
    close(out["y"][1], wg.ones(3, 2))


def test_u6_nested():
    outer = vmap(vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))
    close(outer(wg.arange(3.0), wg.arange(4.0)), wg.outer(wg.arange(3.0), wg.arange(4.0)))
    close(vmap(vmap(lambda x: x - x.mean()))(wg.ones(2, 3, 4)), wg.zeros(2, 3, 4))
    close(vmap(lambda x: vmap(lambda y: x @ y)(batch))(batch), batch @ batch.t())


def test_u6_chunks():
    sizes = []

    def f(x):
        sizes.append(wg.func.debug_unwrap(x).shape[0])
        return x * 2, x.sum()

    close(vmap(f, chunk_size=2)(batch), (batch * 2, batch.sum(1)))
    assert sizes == [2, 1]


def test_u6_promotion_is_that_of_samples():
    small, wide = wg.ones(3, dtype=wg.float64), wg.ones(3, 2, dtype=wg.float32)
    assert vmap(lambda s, w: s * w)(small, wide).dtype == wg.float32  # a number in float64 does not widen a vector
    assert vmap(lambda s, w: s * w, in_dims=(0, None))(small, wg.ones(2)).dtype == wg.float32
    assert vmap(lambda s: s * wg.tensor(1.0, dtype=wg.float64))(wg.ones(3)).dtype == wg.float64


def test_u6_empty_batch():
    assert vmap(lambda x: x.sin())(wg.ones(0, 2)).shape == (0, 2)


def test_u6_indexing():
    i = wg.tensor([0, 1, 0])
    close(vmap(lambda x, i: x[i])(batch, i), wg.tensor([0.0, 3.0, 4.0]))
    close(vmap(lambda i: batch[i])(i), batch[i])
    close(vmap(lambda x: x[None, 1:, ...])(batch), batch[:, None, 1:])
    cube = wg.arange(24.0).reshape(2, 3, 4)
    rows = wg.tensor([[0, 1], [2, 2]])
    close(vmap(lambda x, i: x[i, [0, 1]])(cube, rows), wg.stack([cube[b][rows[b], [0, 1]] for b in range(2)]))
    close(vmap(lambda x, i: x[:, i])(cube, rows), wg.stack([cube[b][:, rows[b]] for b in range(2)]))
    mask = wg.tensor([True, False, True])
    close(vmap(lambda x: x[mask])(cube), cube[:, mask])


def test_u6_writes_through_samples():
    def f(x, i):
        x = x.clone()
        x[0] = 7.0
        x[i] += 1
        x.mul_(2)
        return x

    i = wg.tensor([0, 1, 1])
    close(vmap(f)(batch, i), wg.stack([f(x, k) for x, k in zip(batch, i, strict=True)]))

    def g(x):
        out = x.new_zeros(2)
        out[1] = x[0]
        return out

    close(vmap(g)(batch), wg.stack([g(x) for x in batch]))
    target = batch.clone()
    vmap(lambda x: x.add_(1))(target)
    close(target, batch + 1)


def f_bool(x):
    return x if x.sum() > 0 else -x


OUTSIDE = wg.zeros(2)


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: x.sum().item(), RuntimeError, r"calling .item\(\) on a Tensor"),
        (lambda x: float(x.sum()), RuntimeError, r"calling .item\(\) on a Tensor"),
        (lambda x: range(x.sum().long()), RuntimeError, r"calling .item\(\) on a Tensor"),
        (f_bool, RuntimeError, "data-dependent control flow"),
        (lambda x: x.tolist(), RuntimeError, "Cannot access data pointer"),
        (lambda x: x.numpy(), RuntimeError, "Cannot access data pointer"),
        (lambda x: x.nonzero(), RuntimeError, "dynamic shape"),
        (lambda x: x[x > 0], RuntimeError, "dynamic shape"),
        (lambda x: x.masked_select(x > 0), RuntimeError, "dynamic shape"),
        (lambda x: OUTSIDE.add_(x), RuntimeError, "inplace arithmetic"),
        (lambda x: OUTSIDE.copy_(x), RuntimeError, "inplace arithmetic"),
        (lambda x: OUTSIDE.__setitem__(0, x[0]), RuntimeError, "inplace arithmetic"),
        (lambda x: wg.add(x, x, out=wg.zeros(2)), RuntimeError, "Batching rule not implemented"),
        (lambda x: x + wg.randn(2), RuntimeError, "randomness error mode"),
        (lambda x: wg.rand_like(x), RuntimeError, "randomness error mode"),
        (lambda x: x.bernoulli_(), RuntimeError, "randomness error mode"),
        (lambda x: wg.nn.functional.dropout(x), RuntimeError, "randomness error mode"),
        (lambda x: 1, ValueError, "must only return Tensors, got type <class 'int'>"),
        (lambda x: None, ValueError, "must only return Tensors"),
    ],
)
def test_u6_errors_inside(function, error, text):
    with pytest.raises(error, match=text):
        vmap(function)(batch)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: vmap(lambda: 1)(), ValueError, "got no inputs"),
        (lambda: vmap(wg.sin, in_dims="a")(batch), ValueError, "expected `in_dims` to be int or a"),
        (lambda: vmap(wg.sin, in_dims=[0])(batch), ValueError, "expected `in_dims` to be int or a"),
        (lambda: vmap(wg.sin, in_dims=(None,))(batch), ValueError, "at least one Tensor to vmap over"),
        (lambda: vmap(wg.sin, in_dims=(0, 0))(batch), ValueError, "in_dims is not compatible with the structure"),
        (lambda: vmap(wg.sin, in_dims=5)(batch), ValueError, "Got in_dim=5 for some input"),
        (lambda: vmap(wg.sin, in_dims=(0.5,))(batch), ValueError, "must be either an integer dimension or None"),
        (lambda: vmap(wg.add, in_dims=(0, 0))(batch, 3), ValueError, "cannot vmap over non-Tensor arguments"),
        (lambda: vmap(wg.add)(batch, wg.ones(2, 2)), ValueError, "same size in the mapped dimension, got sizes"),
        (lambda: vmap(wg.sin, out_dims="a")(batch), ValueError, "`out_dims` must be an int, None or"),
        (lambda: vmap(wg.sin, out_dims=(0, 0))(batch), ValueError, "out_dims is not compatible"),
        (lambda: vmap(wg.sin, out_dims=None)(batch), ValueError, "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(wg.sin, out_dims=3)(batch), IndexError, "Dimension out of range"),
        (lambda: vmap(wg.sin, chunk_size=0)(batch), ValueError, "chunk_size should be None or greater than 0"),
        (lambda: vmap(wg.sin, randomness="x")(batch), RuntimeError, "Only allowed values for randomness"),
    ],
)
def test_u6_errors_of_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


def differ(samples):
    return not bool((samples[0] == samples[1]).all())


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: wg.randn(4),
        lambda x: wg.rand((4,)),
        lambda x: wg.randint(1000, (4,)),
        lambda x: wg.randperm(20),
        lambda x: wg.rand_like(x),
        lambda x: x.clone().normal_(),
        lambda x: wg.nn.functional.dropout(wg.ones(50)),
        lambda x: wg.normal(x, 1.0) - x,
    ],
)
def test_u6_randomness(draw):
    assert differ(vmap(draw, randomness="different")(wg.ones(3, 4)))
    assert not differ(vmap(draw, randomness="same")(wg.ones(3, 4)))


def test_u6_different_numbers_cannot_go_into_one_tensor():
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        vmap(lambda x: wg.zeros(2).normal_(), randomness="different")(batch)


def test_u6_nested_randomness():
    inner = lambda x: vmap(lambda y: wg.randn(2), randomness="same")(x)  # noqa: E731
    out = vmap(inner, randomness="different")(wg.ones(3, 4))
    assert differ(out)
    assert not differ(out[0])


def test_gradients_of_each_sample():
    w = wg.tensor([3.0, 4.0])
    loss = lambda w, x: ((w * x).sum() - 1) ** 2  # noqa: E731
    each = vmap(grad(loss), in_dims=(None, 0))(w, batch)
    close(each, wg.stack([grad(loss)(w, x) for x in batch]))
    close(vmap(lambda x: grad(lambda v: (v * x).sum())(w))(batch), batch)  # w is captured and shared
    total = grad(lambda w: vmap(lambda x: loss(w, x))(batch).sum())(w)
    close(total, each.sum(0))
    second = grad(lambda w: vmap(grad(loss), in_dims=(None, 0))(w, batch).sum())(w)
    assert second.shape == (2,)


def test_gradients_reach_captured_leaves():
    w = wg.tensor([3.0, 4.0], requires_grad=True)
    vmap(lambda x: (w * x).sum())(batch).sum().backward()
    close(w.grad, batch.sum(0))


def test_tangents_of_each_sample():
    f = lambda x: (x**3).sum()  # noqa: E731
    output, tangent = vmap(lambda x, t: jvp(f, (x,), (t,)), in_dims=(0, None))(batch, wg.ones(2))
    close(output, (batch**3).sum(1))
    close(tangent, (3 * batch**2).sum(1))
    point = wg.tensor([1.0, 2.0])
    close(vmap(lambda t: jvp(f, (point,), (t,))[1])(wg.eye(2)), 3 * point**2)
    close(jvp(lambda x: vmap(f)(x), (batch,), (wg.ones(3, 2),))[1], (3 * batch**2).sum(1))


def test_u9_functionalize_and_debug_unwrap():
    close(wg.func.functionalize(lambda x: x.clone().add_(1), remove="mutations_and_views")(batch), batch + 1)
    with pytest.raises(RuntimeError, match="received invalid argument for remove=x"):
        wg.func.functionalize(wg.sin, remove="x")(batch)
    shapes = []

    def f(x):
        shapes.append((wg.func.debug_unwrap(x).shape, wg.func.debug_unwrap(x, recurse=False).shape))
        return x

    vmap(vmap(f))(wg.ones(3, 2, 4))
    assert shapes == [((3, 2, 4), (2, 4))]


class Module:
    """What functional_call needs of a module."""

    def __init__(self):
        self._parameters, self._buffers, self._modules, self.training = {}, {}, {}, True

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def named_parameters(self):
        return [(n, t) for n, t in self._parameters.items()] + [
            (f"{c}.{n}", t) for c, m in self._modules.items() for n, t in m.named_parameters()
        ]

    def named_buffers(self):
        return list(self._buffers.items())


class Affine(Module):
    def __init__(self):
        super().__init__()
        self._parameters = {"weight": wg.ones(2, requires_grad=True), "bias": wg.zeros((), requires_grad=True)}
        self._buffers = {"count": wg.zeros(())}

    def forward(self, x):
        return (self._parameters["weight"] * x).sum() + self._parameters["bias"]


class Tied(Module):
    def __init__(self):
        super().__init__()
        self._modules = {"a": Affine(), "b": Affine()}
        self._modules["b"]._parameters["weight"] = self._modules["a"]._parameters["weight"]

    def forward(self, x):
        return self._modules["a"](x) + self._modules["b"](x)


def test_u8_functional_call():
    module, x = Affine(), wg.tensor([1.0, 2.0])
    before = dict(module._parameters)
    close(functional_call(module, {"weight": x}, x), wg.tensor(5.0))
    assert module._parameters == before
    gradient = grad(lambda p: functional_call(module, p, (x,)))({"weight": x, "bias": wg.zeros(())})
    close(gradient["weight"], x)
    tied = Tied()
    close(functional_call(tied, {"a.weight": x}, x), wg.tensor(10.0))
    close(functional_call(tied, {"a.weight": x}, x, tie_weights=False), wg.tensor(8.0))


@pytest.mark.parametrize(
    ("dicts", "options", "error", "text"),
    [
        (3, {}, ValueError, "to be a dict, or a list/tuple of dicts"),
        ((3,), {}, ValueError, "all elements of parameter_and_buffer_dicts to be dictionaries"),
        (({"weight": batch}, {"weight": batch}), {}, ValueError, "appeared in multiple dictionaries"),
        ({"weight": batch}, {"strict": True}, RuntimeError, r"Missing key\(s\): 'bias', 'count'"),
        ({"foo": batch}, {"strict": True}, RuntimeError, r"Unexpected key\(s\): 'foo'"),
    ],
)
def test_u8_errors(dicts, options, error, text):
    with pytest.raises(error, match=text):
        functional_call(Affine(), dicts, wg.ones(2), **options)


def test_u8_ensembles():
    parameters, buffers = wg.func.stack_module_state([Affine(), Affine()])
    assert parameters["weight"].shape == (2, 2)
    assert parameters["weight"].requires_grad
    assert buffers["count"].shape == (2,)
    out = vmap(lambda p: functional_call(Affine(), p, wg.ones(2)))(parameters)
    close(out, wg.full((2,), 2.0))
    with pytest.raises(RuntimeError, match="at least one model"):
        wg.func.stack_module_state([])
    other = Affine()
    other.training = False
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        wg.func.stack_module_state([Affine(), other])
    with pytest.raises(RuntimeError, match="same class"):
        wg.func.stack_module_state([Affine(), Tied()])


def squared_tangent(x, t):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        assert forward_ad.unpack_dual(dual).primal.shape == x.shape
        return forward_ad.unpack_dual(dual * dual).tangent


def test_d9_tangents_of_samples():
    x, t = batch + 1, wg.cos(batch)
    close(vmap(squared_tangent)(x, t), 2 * x * t)
    close(vmap(squared_tangent, (0, 1), 1)(x, t.t()), (2 * x * t).t())


def test_d9_one_primal_with_a_batch_of_tangents_and_the_reverse():
    x = wg.tensor([1.0, 2.0])
    close(vmap(squared_tangent, (None, 0))(x, batch), 2 * x * batch)
    close(vmap(squared_tangent, (0, None))(batch, x), 2 * x * batch)
    close(vmap(vmap(squared_tangent, (None, 0)), (0, None))(batch, wg.eye(2)), 2 * batch[:, :, None] * wg.eye(2))


def test_d9_samples_without_tangent():
    def function(x):
        with forward_ad.dual_level():
            found = forward_ad.unpack_dual(x * 2)
            assert found.tangent is None
            return found.primal

    close(vmap(function)(batch), 2 * batch)


def test_an_expanded_primal_gets_a_tangent_for_each_element():
    x, t = wg.ones(1).expand(3), wg.tensor([1.0, 2.0, 3.0])
    close(squared_tangent(x, t), 2 * t)


def test_u11_older_vmap():
    close(_vmap(lambda x: x.sum())(batch), batch.sum(1))
    total, nothing = _vmap(lambda x: (x.sum(), None), allow_none_pass_through=True)(batch)
    close(total, batch.sum(1))
    assert nothing is None
    assert _vmap(lambda x: None, allow_none_pass_through=True)(batch) is None
    with pytest.raises(ValueError, match="must only return Tensors"):
        _vmap(lambda x: (x, None))(batch)


def test_u6_matrix_product_by_keyword_and_of_one_matrix_with_all_vectors():
    matrix, vectors = wg.arange(6.0).reshape(2, 3), wg.arange(12.0).reshape(4, 3)
    expected = vectors @ matrix.T
    close(vmap(lambda v: matrix @ v)(vectors), expected)
    close(vmap(lambda v: wg.matmul(other=v, input=matrix))(vectors), expected)
    close(vmap(lambda v: matrix @ v, in_dims=1)(vectors.T), expected)
    close(vmap(vmap(lambda v: matrix @ v))(vectors.reshape(2, 2, 3)), expected.reshape(2, 2, 2))
    close(
        vmap(lambda m: vmap(lambda v: m @ v)(vectors))(wg.stack([matrix, 2 * matrix])),
        wg.stack([expected, 2 * expected]),
    )
    assert vmap(lambda v: v @ v.T)(wg.ones(4, 2, 3)).shape == (4, 2, 2)
