"""Tensors as Python objects: construction, attributes, numbers, identity, subclasses."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import wengert as wg

DTYPES = [
    wg.bool, wg.uint8, wg.int8, wg.int16, wg.int32, wg.int64, wg.float32, wg.float64, wg.complex64, wg.complex128,
]  # fmt: skip


# --- Construction
@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, wg.int64, ()),
        (1.5, wg.float32, ()),
        (True, wg.bool, ()),
        (1j, wg.complex64, ()),
        ([], wg.float32, (0,)),
        ([[], []], wg.float32, (2, 0)),
        ([1, 2, 3], wg.int64, (3,)),
        ([1, 2.5], wg.float32, (2,)),
        ([True, 2], wg.int64, (2,)),
        ([True, 1j], wg.complex64, (2,)),
        (((1, 2), (3, 4)), wg.int64, (2, 2)),
        (range(4), wg.int64, (4,)),
        (np.float64(2.0), wg.float64, ()),
        (np.int16(2), wg.int16, ()),
        (np.ones((2, 3)), wg.float64, (2, 3)),
        ([np.float32(1), np.float32(2)], wg.float32, (2,)),
        ([np.ones(3), np.zeros(3)], wg.float64, (2, 3)),
        ([np.array(1.5), 2], wg.float64, (2,)),
        (bytearray(b"ab"), wg.uint8, (2,)),
    ],
)
def test_tensor_infers_dtype_and_shape(data, dtype, shape):
    t = wg.tensor(data)
    assert (t.dtype, tuple(t.shape)) == (dtype, shape)
    np.testing.assert_array_equal(t.numpy(), np.array(data, dtype=t.numpy().dtype))


def test_tensor_of_tensors():
    t = wg.tensor([wg.tensor(1.0), wg.tensor(2.0)])
    assert t.tolist() == [1.0, 2.0]
    assert wg.tensor([wg.ones(2), wg.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("data", "error", "fragment"),
    [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([1, [2]], (TypeError, ValueError), "sequence"),
        ("abc", TypeError, "invalid data type 'str'"),
        (None, TypeError, "invalid data type"),
        ([object()], TypeError, "invalid data type"),
    ],
)
def test_tensor_refuses(data, error, fragment):
    with pytest.raises(error, match=fragment):
        wg.tensor(data)


def test_tensor_of_a_list_that_contains_itself_is_an_error():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="too many dimensions"):
        wg.tensor(data)


def test_tensor_copies_and_as_tensor_shares():
    array = np.zeros(3)
    copied, shared = wg.tensor(array), wg.as_tensor(array)
    array[0] = 1
    assert copied[0].item() == 0
    assert shared[0].item() == 1
    assert wg.as_tensor(shared) is shared


def test_copy_of_a_tensor_warns():
    with pytest.warns(UserWarning, match="recommended to use sourceTensor"):
        wg.tensor(wg.ones(1))


def test_requires_grad_of_integers_is_an_error():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        wg.tensor([1], requires_grad=True)


def test_legacy_constructor():
    assert tuple(wg.Tensor(2, 3).shape) == (2, 3)
    assert wg.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert wg.Tensor().numel() == 0


@pytest.mark.parametrize(
    ("make", "numpy"),
    [
        (lambda: wg.zeros(2, 3), np.zeros((2, 3), np.float32)),
        (lambda: wg.zeros((2, 3), dtype=wg.int64), np.zeros((2, 3), np.int64)),
        (lambda: wg.ones([2]), np.ones(2, np.float32)),
        (lambda: wg.full((2,), 7), np.full(2, 7)),
        (lambda: wg.full((2,), 7.5), np.full(2, 7.5, np.float32)),
        (lambda: wg.eye(2, 3), np.eye(2, 3, dtype=np.float32)),
        (lambda: wg.arange(5), np.arange(5)),
        (lambda: wg.arange(1, 5, 2), np.arange(1, 5, 2)),
        (lambda: wg.arange(start=1, end=3), np.arange(1, 3)),
        (lambda: wg.arange(0, 1, 0.25), np.arange(0, 1, 0.25, np.float32)),
        (lambda: wg.arange(5, 0, -2), np.arange(5, 0, -2)),
        (lambda: wg.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype=np.float32)),
        (lambda: wg.zeros_like(wg.ones(2, dtype=wg.int32)), np.zeros(2, np.int32)),
        (lambda: wg.ones_like(wg.zeros(2), dtype=wg.bool), np.ones(2, bool)),
        (lambda: wg.full_like(wg.zeros(2), 3), np.full(2, 3, np.float32)),
        (lambda: wg.ones(1, dtype=wg.float64).new_full((2,), 3), np.full(2, 3.0)),
        (lambda: wg.ones(1, dtype=wg.float64).new_tensor([1, 2]), np.array([1.0, 2.0])),
        (lambda: wg.scalar_tensor(2), np.float32(2)),
        (lambda: wg.zeros(2, dtype=float), np.zeros(2)),
        (lambda: wg.zeros(2, dtype=np.int16), np.zeros(2, np.int16)),
    ],
)
def test_creation(make, numpy):
    result = make().numpy()
    assert result.dtype == numpy.dtype
    np.testing.assert_array_equal(result, numpy)


# --- Attributes
def test_attributes():
    t = wg.zeros(2, 3, dtype=wg.float64)
    assert t.shape == (2, 3)
    assert isinstance(t.shape, wg.Size)
    assert t.size() == t.shape
    assert t.size(-1) == 3
    assert t.stride() == (3, 1)
    assert t.stride(0) == 3
    assert (t.ndim, t.dim(), t.numel(), t.nelement(), len(t)) == (2, 2, 6, 6, 2)
    assert (t.itemsize, t.element_size(), t.nbytes) == (8, 8, 48)
    assert t.dtype is wg.float64
    assert t.device == wg.device("cpu")
    assert t.layout is wg.strided
    assert t.is_contiguous()
    assert t.is_floating_point()
    assert not t.is_complex()
    assert t.type() == "wengert.DoubleTensor"
    assert (t.is_leaf, t.requires_grad, t.grad, t.grad_fn, t.output_nr, t._version) == (True, False, None, None, 0, 0)


def test_size():
    size = wg.Size([2, 3])
    assert repr(size) == "wengert.Size([2, 3])"
    assert size.numel() == 6
    assert isinstance(size[1:], wg.Size)
    assert isinstance(size + wg.Size([4]), wg.Size)
    assert pickle.loads(pickle.dumps(size)) == size
    with pytest.raises(TypeError, match="int"):
        wg.Size([1.5])


def test_dtypes_are_singletons():
    assert wg.float is wg.float32
    assert wg.long is wg.int64
    assert repr(wg.float32) == "wengert.float32"
    for dtype in DTYPES:
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype


def test_default_dtype():
    try:
        wg.set_default_dtype(wg.float64)
        assert wg.tensor(1.5).dtype is wg.get_default_dtype() is wg.float64
        assert wg.tensor(1j).dtype is wg.complex128
    finally:
        wg.set_default_dtype(wg.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        wg.set_default_dtype(wg.int64)


def test_device():
    assert repr(wg.device("cpu")) == "device(type='cpu')"
    assert str(wg.device("cpu", 0)) == "cpu:0"
    assert wg.zeros(1, device="cpu").device.type == "cpu"
    with pytest.raises(RuntimeError, match="device type at start of device string"):
        wg.device("tpu")


def test_finfo_and_iinfo():
    assert wg.finfo(wg.float64).eps == np.finfo(np.float64).eps
    assert wg.finfo(wg.complex64).bits == 32
    assert wg.iinfo(wg.uint8).max == 255
    with pytest.raises(TypeError):
        wg.finfo(wg.int64)


# --- Operators
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">="])
@pytest.mark.parametrize("other", ["2", "2.5", "wg.tensor([2.0, 3.0])", "np.float64(2.5)", "np.array([2.0, 3.0])"])
def test_operators_as_numpy(op, other):
    x = wg.tensor([5.0, 7.0], dtype=wg.float64)
    right = eval(other)
    names = {"x": x, "right": right, "array": x.numpy(), "plain": np.asarray(right, np.float64)}
    forward, reflected = eval(f"x {op} right", names), eval(f"right {op} x", names)
    assert isinstance(forward, wg.Tensor)
    assert isinstance(reflected, wg.Tensor)
    np.testing.assert_allclose(forward.numpy(), eval(f"array {op} plain", names), rtol=1e-12)
    np.testing.assert_allclose(reflected.numpy(), eval(f"plain {op} array", names), rtol=1e-12)


@pytest.mark.parametrize("op", ["&", "|", "^", "<<", ">>"])
def test_bitwise_operators(op):
    names = {"a": wg.tensor([5, 6]), "b": wg.tensor([1, 3])}
    for right in ("b", "2"):
        expected = eval(f"a.numpy() {op} {right.replace('b', 'b.numpy()')}", names)
        np.testing.assert_array_equal(eval(f"a {op} {right}", names).numpy(), expected)


def test_unary_operators():
    x = wg.tensor([-1.5, 2.0])
    assert (-x).tolist() == [1.5, -2.0]
    assert abs(x).tolist() == [1.5, 2.0]
    assert +x is x
    assert (~wg.tensor([True, False])).tolist() == [False, True]


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "/=", "**="])
def test_in_place_operators_keep_the_object(op):
    x = wg.tensor([4.0, 9.0])
    before, expected = x, x.numpy().copy()
    namespace = {"x": x, "e": expected}
    exec(f"x {op} 2; e {op} 2", namespace)
    assert namespace["x"] is before
    assert before._version == 1
    np.testing.assert_allclose(before.numpy(), namespace["e"])


def test_matmul_operator():
    a, b = wg.arange(6.0).reshape(2, 3), wg.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose((a @ b).numpy(), a.numpy() @ b.numpy())
    assert isinstance(a.numpy() @ b, wg.Tensor)


def test_foreign_operands_get_their_turn():
    class Other:
        def __radd__(self, other):
            return "mine"

    assert wg.ones(1) + Other() == "mine"
    with pytest.raises(TypeError):
        wg.ones(1) + "a"
    assert (wg.ones(1) == None) is False  # noqa: E711
    assert (wg.ones(1) != "a") is True


# --- Python numbers
def test_conversions():
    t = wg.tensor([2.5])
    assert (float(t), int(t), bool(t), complex(wg.tensor(2.5))) == (2.5, 2, True, 2.5)
    assert [10, 20, 30][wg.tensor(1)] == 20
    assert t.item() == 2.5
    assert type(wg.tensor(True).item()) is bool
    assert wg.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("convert", "tensor", "error", "fragment"),
    [
        (float, [1.0, 2.0], ValueError, "only one element tensors can be converted to Python scalars"),
        (int, [1.0, 2.0], ValueError, "only one element tensors can be converted to Python scalars"),
        (bool, [1.0, 2.0], RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
        (bool, [], RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
        (int, [float("nan")], ValueError, "NaN"),
        (int, [float("inf")], OverflowError, "infinity"),
        (range, 1.0, TypeError, "only integer tensors of a single element can be converted to an index"),
        (len, 1.0, TypeError, "len\\(\\) of a 0-d tensor"),
        (iter, 1.0, TypeError, "iteration over a 0-d tensor"),
        (lambda t: t.item(), [1.0, 2.0], RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    ],
)
def test_conversion_errors(convert, tensor, error, fragment):
    with pytest.raises(error, match=fragment):
        convert(wg.tensor(tensor))


def test_containment_and_iteration():
    t = wg.tensor([1.0, 2.0])
    assert 2.0 in t
    assert 3.0 not in t
    assert [x.item() for x in t] == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in t  # noqa: B015


# --- Dtype changes
@pytest.mark.parametrize("dtype", DTYPES)
def test_to_dtype(dtype):
    t = wg.tensor([0, 1])
    converted = t.to(dtype)
    assert converted.dtype is dtype
    assert t.to(dtype=dtype).dtype is dtype
    assert t.to("cpu", dtype).dtype is dtype
    assert t.to(converted).dtype is dtype
    assert t.type(converted.type()).dtype is dtype
    assert converted.to(dtype) is converted
    assert converted.to(dtype, copy=True) is not converted


# --- Leaves
def test_requires_grad_flag():
    t = wg.ones(2)
    t.requires_grad = True
    assert t.requires_grad_(False) is t
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        t.requires_grad = 1
    y = t.requires_grad_() * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = True
    assert y.requires_grad_() is y


def test_grad_assignment():
    t = wg.ones(2, requires_grad=True)
    t.grad = g = wg.ones(2)
    assert t.grad is g
    del t.grad
    assert t.grad is None
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        t.grad = 1
    for bad in (wg.ones(3), wg.ones(2, dtype=wg.float64), t):
        with pytest.raises(RuntimeError):
            t.grad = bad


def test_data():
    t = wg.zeros(2, requires_grad=True)
    data = t.data
    data += 1
    assert t.tolist() == [1.0, 1.0]
    assert (data.requires_grad, t._version) == (False, 0)
    t.data = wg.ones(3)
    assert t.shape == (3,)
    assert t.requires_grad
    with pytest.raises(TypeError, match="Variable data has to be a tensor"):
        t.data = 1


def test_detach_shares_versions():
    t = wg.zeros(2)
    d = t.detach()
    d += 1
    assert t._version == d._version == 1
    assert not d._is_view()


def test_resize_in_place():
    t = wg.arange(4.0)
    assert t.resize_(2, 3) is t
    assert t.shape == (2, 3)
    assert t._version == 1
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        wg.ones(2, requires_grad=True).resize_(3)


# --- Identity and lifetime
def test_hash_and_identity():
    t = wg.ones(2)
    assert {t: 1}[t] == 1
    x = wg.ones(2, requires_grad=True)
    x.grad = wg.ones(2)
    assert x.grad is x.grad


def test_attributes_survive_a_stay_in_the_core():
    x = wg.ones(2, requires_grad=True)
    x.grad = wg.ones(2)
    x.grad.tag = "kept"
    ref = weakref.ref(x.grad)
    gc.collect()
    assert x.grad.tag == "kept"
    assert ref() is x.grad
    x.grad = None
    assert ref() is None


def test_subclass_survives_a_stay_in_the_core():
    x = wg.ones(2, requires_grad=True)
    x.grad = wg.ones(2).as_subclass(Tagged)
    gc.collect()
    assert type(x.grad) is Tagged


def test_weak_references_and_cycles():
    t = wg.ones(2)
    t.self = t
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_many_short_lived_tensors_are_recycled():
    ids = {id(wg.ones(1)) for _ in range(100)}
    assert len(ids) < 10


# --- Copies
def test_deepcopy_of_leaves():
    t = wg.ones(2, requires_grad=True)
    t.grad = wg.full((2,), 3.0)
    t.tag = ["a"]
    c = copy.deepcopy(t)
    assert c.requires_grad
    assert c.grad.tolist() == [3.0, 3.0]
    assert c.tag == ["a"]
    assert c.tag is not t.tag
    assert c.data_ptr() != t.data_ptr()
    first, second = copy.deepcopy([t, t])
    assert first is second
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(t * 2)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle(protocol, dtype):
    t = wg.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype).transpose(0, 1)
    back = pickle.loads(pickle.dumps(t, protocol))
    assert back.dtype is dtype
    assert back.stride() == t.stride()
    assert back.tolist() == t.tolist()


def test_pickle_keeps_type_and_requires_grad():
    p = wg.nn.Parameter(wg.ones(2))
    back = pickle.loads(pickle.dumps(p))
    assert type(back) is wg.nn.Parameter
    assert back.requires_grad
    assert pickle.loads(pickle.dumps(p * 2)).is_leaf


# --- Parameters and subclasses
def test_parameter():
    data = wg.ones(2)
    p = wg.nn.Parameter(data)
    assert p.requires_grad
    assert p.data_ptr() == data.data_ptr()
    assert type(p + 1) is wg.Tensor
    with wg.no_grad():
        assert wg.nn.Parameter(wg.ones(1)).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        wg.nn.Parameter(wg.tensor([1]))


class Tagged(wg.Tensor):
    pass


def test_results_of_a_subclass_are_of_the_subclass():
    t = wg.ones(2).as_subclass(Tagged)
    assert type(t) is Tagged
    for result in (t + 1, 1 + t, wg.exp(t), t.exp(), t[0], t.sum(), -t, t == 1, t.T, wg.ones(2) * t):
        assert type(result) is Tagged
    assert type(t.shape) is wg.Size
    assert repr(t) == "Tagged([1., 1.])"


def test_torch_function_sees_everything():
    calls = []

    class Logged(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append((func.__name__, types, len(args), kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs)

    t = wg.ones(2).as_subclass(Logged)
    calls.clear()
    wg.add(t, t, alpha=2)
    t.sum(dim=0)
    assert [c[0] for c in calls] == ["add", "sum"]
    assert calls[0][1:] == ((Logged,), 2, {"alpha": 2})


def test_duck_types_override_functions():
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert wg.exp(Duck()) == "exp"


# --- Arguments
@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda x: wg.exp(), "missing required argument 'input'"),
        (lambda x: wg.exp("a"), "argument 'input' must be Tensor, not str"),
        (lambda x: wg.exp(x, x), "takes 1 positional argument but 2 were given"),
        (lambda x: wg.exp(x, foo=1), "unexpected keyword argument 'foo'"),
        (lambda x: wg.exp(x, input=x), "multiple values for argument 'input'"),
        (lambda x: wg.add(x, "a"), r"received an invalid combination of arguments - got \(Tensor, str\)"),
        (lambda x: wg.zeros("a"), "argument 'size' must be tuple of ints, not str"),
        (lambda x: x.sum(1.5), "argument 'dim'"),
    ],
)
def test_argument_errors(call, fragment):
    with pytest.raises(TypeError, match=fragment):
        call(wg.ones(2))


def test_spellings_of_numpy():
    x = wg.arange(6.0).reshape(2, 3)
    assert x.sum(axis=0, keepdims=True).shape == (1, 3)
    assert wg.sum(input=x).item() == 15


def test_sizes_one_by_one_or_as_a_sequence():
    x = wg.arange(6.0)
    assert x.reshape(2, 3).shape == x.reshape((2, 3)).shape == x.reshape([2, -1]).shape == (2, 3)
    assert x.reshape(6).shape == (6,)
    assert x.reshape(wg.tensor(2), 3).shape == (2, 3)
