"""Meeting other packages: whose turn an operation is, what consumers of arrays get, and where a gradient is dropped."""

import builtins
import io
import math
import operator
import warnings

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import wengert as wg

OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "lt", "ge"]
CONSTANT = "The result is a constant"


def leaf(*values):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


# --- A derivative that is lost is announced, once for each place (K33)
@pytest.mark.parametrize(
    "lose",
    [
        lambda x: builtins.float(x[0]),
        lambda x: builtins.int(x[0]),
        lambda x: builtins.complex(x[0]),
        lambda x: math.sin(x[0]),
        lambda x: wg.tensor([x[0], 2 * x[1]]),
        lambda x: wg.tensor([[1.0, x[0]], [x[1], 2.0]]),
        lambda x: wg.as_tensor([x[0], 1.0]),
        lambda x: wg.asarray((x[0], 1.0)),
        lambda x: wg.ones(1).new_tensor([x[0]]),
        lambda x: wg.Tensor([x[0].float(), 2.0]),
        lambda x: wg.zeros(2).__setitem__(slice(None), [x[0], x[1]]),
    ],
)
def test_a_lost_derivative_is_announced(lose):
    x = leaf(0.5, 2.0)
    with pytest.warns(UserWarning, match=CONSTANT):
        lose(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lose(x.detach())
        with wg.no_grad():
            lose(x)
    with wg.autograd.forward_ad.dual_level(), pytest.warns(UserWarning, match=CONSTANT):
        lose(wg.autograd.forward_ad.make_dual(x.detach(), x.detach()))


def test_lists_are_told_of_stack():
    x = leaf(1.0, 2.0)
    with pytest.warns(UserWarning, match=r"wengert\.stack"):
        wg.tensor([x[0], x[1]])


def test_each_place_is_named_once():
    x = leaf(1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            builtins.float(x)
        builtins.float(x)
    assert len(caught) == 2
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize("export", [lambda t: t.numpy(), np.asarray, np.array])
def test_arrays_of_tensors_with_derivatives_are_refused(export):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="requires grad"):
        export(x)
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(x.detach(), x.detach())
        with pytest.raises(RuntimeError, match="has a tangent"):
            export(dual)
        export(dual.detach())
    export(x.detach())


# --- Types that are foreign to us (K34)
class ForeignTensor:
    """As PyTorch's: asks `__torch_function__` of the arguments first, and answers NotImplemented where they do."""

    def __mul__(self, other):
        if hook := getattr(type(other), "__torch_function__", None):
            return hook(ForeignTensor.__mul__, (type(other),), (self, other), {})
        return NotImplemented

    __rmul__ = __mul__

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))  # would call our function again, for ever


ForeignTensor.__module__ = "torch"
ForeignTensor.__mul__.__module__ = "torch"


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensors_of_pytorch_are_foreign(requires_grad):
    ours, theirs = wg.ones(1, requires_grad=requires_grad), ForeignTensor()
    for first, second in ((ours, theirs), (theirs, ours)):
        with pytest.raises(TypeError, match="unsupported operand"):
            first * second
    with pytest.raises(TypeError, match="argument 'other' must be"):
        wg.mul(ours, theirs)
    with pytest.raises(TypeError, match="must be Tensor"):
        wg.sin(theirs)
    assert wg.Tensor.__torch_function__(ForeignTensor.__mul__, (wg.Tensor,), (theirs, ours)) is NotImplemented


class Answering:
    """A foreign array that knows tensors, as the reflected operators of many packages do."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("nobody asked for an array")


for _name in OPERATORS:
    _plain = _name.rstrip("_")
    _reflected = {"lt": "gt", "ge": "le"}.get(_plain, f"r{_plain}")
    setattr(Answering, f"__{_plain}__", lambda self, other: "theirs")
    setattr(Answering, f"__{_reflected}__", lambda self, other: "theirs")


@pytest.mark.parametrize("name", OPERATORS)
def test_foreign_types_have_their_turn(name):
    operation = getattr(operator, name)
    assert operation(wg.ones(2), Answering()) == "theirs"
    assert operation(Answering(), wg.ones(2)) == "theirs"
    with pytest.raises(TypeError):
        operation(wg.ones(2), object())
    with pytest.raises(TypeError):
        operation(object(), wg.ones(2))


# --- pandas: arrays with labels, which are constants beside tensors
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "lt", "eq"])
def test_series_are_arrays(name):
    pandas = pytest.importorskip("pandas")  # comes with the examples
    operation = getattr(operator, name)
    values = np.array([1.0, 2.0, 3.0])
    x, series = leaf(2.0, 2.0, 5.0), pandas.Series(values, index=["a", "b", "c"])
    for result, expected in (
        (operation(x, series), operation(x, wg.tensor(values))),
        (operation(series, x), operation(wg.tensor(values), x)),
    ):
        assert type(result) is wg.Tensor
        wg.testing.assert_close(result, expected)
        assert result.requires_grad == expected.requires_grad
    wg.testing.assert_close(np.multiply(series, x), x * wg.tensor(values))


def test_products_with_frames():
    pandas = pytest.importorskip("pandas")
    matrix = np.arange(6.0).reshape(2, 3)
    frame, x = pandas.DataFrame(matrix), leaf(1.0, 2.0, 3.0)
    wg.testing.assert_close(frame * x, wg.tensor(matrix) * x)
    wg.testing.assert_close(leaf(1.0, 2.0) @ frame, leaf(1.0, 2.0) @ wg.tensor(matrix))
    assert np.allclose(frame @ x.detach(), matrix @ x.detach().numpy())
    with pytest.raises(RuntimeError, match="requires grad"):
        frame @ x  # pandas does not ask


def test_sparse_matrices():
    matrix = scipy.sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
    x = wg.tensor([1.0, 2.0], dtype=wg.float64)
    assert np.allclose(matrix @ x, [1.0, 8.0])
    assert np.allclose(x @ matrix, [5.0, 6.0])
    for product in (lambda: matrix @ leaf(1.0, 2.0), lambda: leaf(1.0, 2.0) @ matrix, lambda: matrix * leaf(1.0, 2.0)):
        with pytest.raises(RuntimeError, match="requires grad"):
            product()


# --- Spellings (K35)
def test_numbers_of_python():
    assert builtins.complex(wg.tensor(2.0)) == 2
    assert builtins.complex(wg.tensor(1 + 2j)) == 1 + 2j
    with pytest.raises(ValueError, match="only one element"):
        builtins.complex(wg.ones(2))


@pytest.mark.parametrize("name", ["float32", "float64", "double", "int64", "bool", "complex128", "wengert.float64"])
def test_names_of_dtypes(name):
    dtype = getattr(wg, name.removeprefix("wengert."))
    assert wg.zeros(2, dtype=name).dtype == dtype
    assert wg.tensor([1], dtype=name).dtype == dtype
    assert wg.ones(2).to(name).dtype == dtype
    assert wg.ones(2).sum(dtype=name).dtype == dtype
    assert wg.zeros(2, dtype=str(dtype)).dtype == dtype
    assert wg.promote_types(name, "bool") == dtype


def test_names_that_mean_different_types_are_refused():
    for name in ("float", "int", "nonsense"):  # NumPy's float is float64, PyTorch's float32
        with pytest.raises(TypeError, match="dtype"):
            wg.zeros(2, dtype=name)
    assert wg.ones(2).to("cpu").dtype == wg.float32
    assert wg.finfo("float64").bits == 64
    assert wg.iinfo("int8").max == 127


def test_numpy_takes_our_dtypes():
    for name in (
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "int16",
        "int32",
        "int64",
        "uint8",
        "bool",
    ):
        dtype = getattr(wg, name)
        assert np.dtype(dtype) == np.dtype(name)
        assert np.zeros(2, dtype=dtype).dtype == name
        assert (dtype.kind, dtype.char) == (np.dtype(name).kind, np.dtype(name).char)


def test_transposes_of_numpy():
    x = wg.arange(24).reshape(2, 3, 4)
    a = x.numpy()
    assert np.array_equal(x.transpose(), a.transpose())
    assert np.array_equal(x.transpose(None), a.transpose())
    assert np.array_equal(x.transpose((1, 2, 0)), a.transpose((1, 2, 0)))
    assert np.array_equal(x.transpose(1, 2, 0), a.transpose(1, 2, 0))
    assert np.array_equal(x.transpose(0, 1), a.swapaxes(0, 1))  # PyTorch's meaning of two numbers


def test_other_spellings():
    x = wg.tensor([1.0, 2.0, 4.0])
    assert wg.std(x, ddof=0) == wg.std(x, correction=0)
    assert x.var(axis=0, ddof=1) == x.var(0, correction=1)
    assert wg.roll(x, 1, None).tolist() == [4.0, 1.0, 2.0]


def test_dlpack_copies():
    array = np.arange(6.0)
    shared, copied = wg.from_dlpack(array), wg.from_dlpack(array, copy=True)
    array[0] = 7.0
    assert shared[0] == 7
    assert copied[0] == 0
    backwards = array[::-2]
    assert wg.from_dlpack(backwards).tolist() == backwards.tolist()
    assert wg.from_dlpack(np.ones((2, 3))[::-1, ::-1], device="cpu").shape == (2, 3)
    assert wg.from_dlpack(np.ones((0, 3))[::-1]).shape == (0, 3)
    with pytest.raises(BufferError, match="need a copy"):
        wg.from_dlpack(backwards, copy=False)


# --- Consumers that only want an array (K36)
def saved(save, load, *values):
    file = io.BytesIO()
    save(file, *values)
    file.seek(0)
    return load(file)


def test_files_of_numpy():
    x = wg.arange(6.0).reshape(2, 3)
    assert np.array_equal(saved(np.save, np.load, x), x)
    assert np.array_equal(saved(np.savez, np.load, x)["arr_0"], x)
    assert np.array_equal(saved(np.savetxt, np.loadtxt, x), x)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("histogram", ([0.0, 1.0, 1.5],)), ("histogram_bin_edges", ([0.0, 1.0, 1.5],)), ("spacing", ([1.0, 2.0],)),
        ("lib.stride_tricks.sliding_window_view", ([1.0, 2.0, 3.0], 2)), ("histogram2d", ([1.0, 2.0], [3.0, 1.0])),
    ],
)  # fmt: skip
def test_functions_without_counterpart_run_on_arrays(name, arguments):
    function = operator.attrgetter(name)(np)
    tensors = [wg.tensor(a, dtype=wg.float64) if isinstance(a, list) else a for a in arguments]
    expected = function(*[np.array(a) if isinstance(a, list) else a for a in arguments])
    np.testing.assert_equal(function(*tensors), expected)
    tracked = [t.clone().requires_grad_() if isinstance(t, wg.Tensor) else t for t in tensors]
    with pytest.raises((TypeError, RuntimeError), match=r"requires? grad"):
        function(*tracked)
    with wg.no_grad():
        np.testing.assert_equal(function(*tracked), expected)


def test_random_choices_and_orders():
    x = wg.arange(5.0)
    assert sorted(np.random.permutation(x)) == x.tolist()  # noqa: NPY002  # what many packages call
    assert sorted(np.random.default_rng(0).permutation(x)) == x.tolist()
    assert np.random.default_rng(0).choice(x, 3).shape == (3,)


def test_scalers_and_clusters():
    preprocessing = pytest.importorskip("sklearn.preprocessing")  # comes with the examples
    cluster = pytest.importorskip("sklearn.cluster")
    x = wg.tensor(np.random.default_rng(0).normal(size=(20, 3)))
    scaled = preprocessing.StandardScaler().fit_transform(x)
    assert np.allclose(scaled.mean(0), 0)
    assert set(cluster.KMeans(2, n_init=1, random_state=0).fit_predict(x)) == {0, 1}
    for consume in (preprocessing.StandardScaler().fit, cluster.KMeans(2).fit):
        with pytest.raises((TypeError, RuntimeError), match="requires grad"):
            consume(x.clone().requires_grad_())


def test_plots(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, y = wg.arange(3.0), wg.tensor([1.0, 3.0, 2.0])
    figure, axes = plt.subplots()
    axes.plot(x, y)
    axes.bar(x, y)
    axes.scatter(x, y, c=y)
    axes.hist(y)
    axes.errorbar(x, y, yerr=y / 10)
    axes.fill_between(x, y - 1, y + 1)
    axes.imshow(wg.rand(3, 3))
    axes.contourf(*wg.meshgrid(x, x, indexing="xy"), wg.rand(3, 3))
    surface = plt.figure().add_subplot(projection="3d")
    surface.plot_surface(*wg.meshgrid(x, x, indexing="xy"), wg.rand(3, 3))
    figure.savefig(tmp_path / "plot.png")
    plt.close("all")


def test_callbacks_of_scipy():
    target = wg.tensor([1.0, 2.0], dtype=wg.float64)

    def residual(p):
        return wg.as_tensor(p) - target

    assert np.allclose(scipy.optimize.least_squares(residual, np.zeros(2)).x, [1, 2])
    assert np.allclose(scipy.optimize.root(residual, np.zeros(2)).x, [1, 2])
    assert np.allclose(scipy.optimize.minimize(lambda p: residual(p).square().sum(), np.zeros(2)).x, [1, 2], atol=1e-5)


# --- Names in refusals, and results of lstsq (K37)
@pytest.mark.parametrize(
    ("call", "name", "remedy"),
    [
        (lambda x: scipy.special.agm(x, x), "scipy.special.agm", "functions of wengert"),
        (lambda x: np.spacing(x), "numpy.spacing", "functions of wengert"),
        (lambda x: np.histogram2d(x, x), "numpy.histogram2d", "functions of wengert"),
        (lambda x: np.histogramdd(x), "numpy.histogramdd", "wengert.histogramdd"),
        (lambda x: np.bincount(x), "numpy.bincount", "wengert.bincount"),
        (lambda x: np.hypot.accumulate(x), "numpy.hypot.accumulate", "functions of wengert"),
    ],
)
def test_refusals_name_both_functions(call, name, remedy):
    with pytest.raises(TypeError) as error:
        call(leaf(0.25, 0.5))
    assert f"[{name}]" in str(error.value)
    assert f"Use {remedy}, or convert" in str(error.value)


@pytest.mark.parametrize("name", ["i0", "i1", "psi", "expit", "gammaln", "erf", "ndtr", "log1p", "xlogy"])
def test_functions_of_scipy_are_ours(name):
    function = getattr(scipy.special, name)
    x = leaf(1.7, 2.3)
    arguments = (x, x) if function.nin == 2 else (x,)
    result = function(*arguments)
    assert np.allclose(result.detach(), function(*(a.detach().numpy() for a in arguments)))
    assert result.requires_grad


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (3, 5)])
@pytest.mark.parametrize("rank", [3, 2])
@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("rcond", [None, 1e-6])
def test_lstsq_returns_what_numpys_does(shape, rank, columns, rcond):
    random = np.random.default_rng(1)
    matrix = random.normal(size=(shape[0], rank)) @ random.normal(size=(rank, shape[1]))
    right = random.normal(size=shape[0] if columns is None else (shape[0], columns))
    expected = np.linalg.lstsq(matrix, right, rcond=rcond)
    found = np.linalg.lstsq(wg.tensor(matrix), right, rcond=rcond)
    assert found[2] == expected[2]
    for own, numpys in ((0, 0), (1, 1), (3, 3)):
        assert found[own].shape == expected[numpys].shape
        assert np.allclose(found[own], expected[numpys])


def test_lstsq_is_differentiable():
    random = np.random.default_rng(2)
    matrix, right = (wg.tensor(random.normal(size=s), requires_grad=True) for s in ((5, 3), (5,)))

    def everything(a, b):
        solution, residuals, _, values = np.linalg.lstsq(a, b, rcond=None)
        return solution, residuals, values

    assert wg.autograd.gradcheck(everything, (matrix, right))
