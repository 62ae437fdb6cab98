"""Sparse tensors as objects: made, shown, copied, indexed, converted, given to SciPy, refused."""

import copy
import gc
import pickle
import re
import subprocess
import sys
import weakref

import numpy as np
import pytest
import scipy.sparse

import wengert as wg
from tests.sparse_problems import SHARED, dense, matrix, values


@pytest.fixture
def a():
    return wg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))


def test_what_it_is(a):
    csr = a.to_sparse_csr()
    assert a.is_sparse
    assert not a.is_sparse_csr
    assert csr.is_sparse_csr
    assert not csr.is_sparse
    assert (a.layout, csr.layout) == (wg.sparse_coo, wg.sparse_csr)
    assert isinstance(a, wg.Tensor)
    assert a.shape == (2, 3)
    assert (a.sparse_dim(), a.dense_dim(), a._nnz()) == (2, 0, 3)
    assert not wg.ones(2).is_sparse
    assert wg.ones(2).layout == wg.strided
    assert len(a) == 2


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (
            lambda a: a,
            "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n"
            "       values=tensor([3., 4., 5.]),\n       size=(2, 3), nnz=3, layout=wengert.sparse_coo)",
        ),
        (
            lambda a: a.double().to_sparse_csr(),
            "tensor(crow_indices=tensor([0, 1, 3]),\n       col_indices=tensor([2, 0, 2]),\n"
            "       values=tensor([3., 4., 5.]), size=(2, 3), nnz=3, dtype=wengert.float64,\n"
            "       layout=wengert.sparse_csr)",
        ),
        (
            lambda a: a.to_sparse_csc(),
            "tensor(ccol_indices=tensor([0, 1, 1, 3]),\n       row_indices=tensor([1, 0, 1]),\n"
            "       values=tensor([4., 3., 5.]), size=(2, 3), nnz=3,\n       layout=wengert.sparse_csc)",
        ),
        (
            lambda a: wg.zeros_like(a),
            "tensor(indices=tensor([], size=(2, 0)),\n       values=tensor([], size=(0,)),\n"
            "       size=(2, 3), nnz=0, layout=wengert.sparse_coo)",
        ),
        (
            lambda a: a.requires_grad_(),
            "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n"
            "       values=tensor([3., 4., 5.]),\n"
            "       size=(2, 3), nnz=3, layout=wengert.sparse_coo, requires_grad=True)",
        ),
    ],
)
def test_printing(a, make, shown):
    assert repr(make(a)) == shown


@pytest.mark.parametrize("layout", [wg.sparse_coo, wg.sparse_csr, wg.sparse_csc])
def test_pickle_and_copies(a, layout):
    a = a.to_sparse(layout=layout).requires_grad_()
    a.grad = a.detach() * 2
    for other in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):
        assert other.layout == layout
        assert other.requires_grad
        np.testing.assert_array_equal(other.detach().to_dense().numpy(), a.detach().to_dense().numpy())
    assert copy.deepcopy(a).grad.layout == layout
    state = pickle.dumps(a).replace(b"", b"")
    assert pickle.loads(state).shape == a.shape


def test_what_pickle_says_is_checked():
    from wengert.sparse._tensor import rebuild

    with pytest.raises(RuntimeError, match="inconsistent"):
        rebuild(wg.sparse_coo, (2, 2), (np.array([5]), np.array([0])), True, wg.ones(1), False)
    with pytest.raises(RuntimeError, match="not in order"):
        rebuild(wg.sparse_coo, (2, 2), (np.array([1, 0]), np.array([0, 0])), True, wg.ones(2), False)


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.int64])
def test_scipy_shares_memory(kind, dtype):
    array = scipy.sparse.random_array((5, 4), density=0.4, rng=0, format=kind).astype(dtype)
    tensor = wg.sparse.from_scipy(array)
    np.testing.assert_array_equal(tensor.to_dense().numpy(), array.toarray())
    assert np.shares_memory(tensor._values().numpy(), array.data)
    back = wg.sparse.to_scipy(tensor)
    assert back.format == kind
    assert np.shares_memory(back.data, array.data)
    if kind != "coo":
        assert np.shares_memory(back.indices, array.indices)
    np.testing.assert_array_equal(back.toarray(), array.toarray())


@pytest.mark.parametrize("kind", ["lil", "dok", "dia", "bsr"])
def test_other_formats_of_scipy(kind):
    array = scipy.sparse.random_array((4, 4), density=0.5, rng=0).asformat(kind)
    np.testing.assert_array_equal(wg.sparse.from_scipy(array).to_dense().numpy(), array.toarray())


def test_values_and_indices_share_memory_with_tensors():
    indices, numbers = wg.tensor([[0, 1], [1, 0]]), wg.tensor([1.0, 2.0])
    a = wg.sparse_coo_tensor(indices, numbers, (2, 2))
    numbers[0] = 7
    assert a.to_dense()[0, 1].item() == 7
    assert a._values().data_ptr() == numbers.data_ptr()
    assert a._indices().data_ptr() == indices.data_ptr()


WRITTEN = {  # what lends its indices, from a matrix whose arrays nobody else has, or SciPy has
    "tensor": lambda a, array, given: given,
    "scipy": lambda a, array, given: array.indices,
    "col_indices": lambda a, array, given: a.col_indices().numpy(),
    "to_scipy": lambda a, array, given: wg.sparse.to_scipy(a).indices,
}


@pytest.mark.parametrize("is_used_before", [True, False])
@pytest.mark.parametrize("write", WRITTEN)
@pytest.mark.parametrize(
    "use", [lambda a, x: a @ x, lambda a, x: a.t() @ x, lambda a, x: a[:, :] @ x, lambda a, x: wg.sparse.solve(a, x)]
)
def test_indices_that_are_written_later_lead_nowhere(write, is_used_before, use):
    array = scipy.sparse.csr_array(np.eye(3))
    x = wg.ones(3, dtype=wg.float64)
    columns = wg.arange(3, dtype=wg.int32)
    if write == "scipy":
        a = wg.sparse.from_scipy(array)
    elif write == "tensor":
        a = wg.sparse_csr_tensor(wg.arange(4, dtype=wg.int32), columns, x, (3, 3))
    else:  # private at first
        a = wg.sparse_csr_tensor(np.arange(4, dtype=np.int32), np.arange(3, dtype=np.int32), x, (3, 3))
    if is_used_before:
        assert use(a, x).tolist() == [1, 1, 1]
    WRITTEN[write](a, array, columns.numpy())[1] = 10**6
    try:
        assert use(a, x).tolist() == [1, 1, 1]  # of indices that were copied before
        assert is_used_before
    except RuntimeError as error:
        assert re.search(r"written since the tensor was made|not satisfied|inconsistent", str(error))  # noqa: PT017


def test_coalesce():
    v = values(requires_grad=False)
    a = matrix(v, places=SHARED)
    assert not a.is_coalesced()
    one = a.coalesce()
    assert one.is_coalesced()
    assert one._nnz() == 3
    assert one.coalesce() is one
    np.testing.assert_allclose(one.to_dense().numpy(), dense(v.numpy(), SHARED))
    assert wg.equal(one, a)
    with pytest.raises(RuntimeError, match=r"uncoalesced tensor, please call .coalesce\(\) first"):
        a.indices()


def test_dense_dimensions():
    v = wg.arange(12.0, dtype=wg.float64).reshape(3, 2, 2).requires_grad_()
    a = wg.sparse_coo_tensor([[2, 0, 2]], v, (3, 2, 2))
    expected = np.zeros((3, 2, 2))
    np.add.at(expected, [2, 0, 2], v.detach().numpy())
    assert (a.sparse_dim(), a.dense_dim()) == (1, 2)
    np.testing.assert_array_equal(a.to_dense().detach().numpy(), expected)
    np.testing.assert_array_equal(a[2, :, 1].detach().numpy(), expected[2, :, 1])
    np.testing.assert_array_equal(wg.sparse.sum(a, 2).to_dense().detach().numpy(), expected.sum(2))
    np.testing.assert_array_equal(wg.sparse.sum(a, 0).detach().numpy(), expected.sum(0))
    np.testing.assert_array_equal((a + a * 2).to_dense().detach().numpy(), 3 * expected)
    np.testing.assert_array_equal(a.permute(0, 2, 1).to_dense().detach().numpy(), expected.transpose(0, 2, 1))

    def function(v):
        a = wg.sparse_coo_tensor([[2, 0, 2]], v, (3, 2, 2))
        return (a * a).sum(1).to_dense() + a.sin().sum((1, 2)).to_dense().unsqueeze(1)

    wg.autograd.gradcheck(function, v, check_forward_ad=True)
    wg.autograd.gradgradcheck(function, v)


def test_writes_in_place(a):
    version = a._version
    assert a.add_(a) is a
    assert a.mul_(2) is a
    a.div_(4)
    assert a._version == version + 3
    assert a._values().tolist() == [3, 4, 5]
    a.neg_()
    assert a.sum().item() == -12
    x = wg.zeros(2, 3)
    assert x.add_(a, alpha=-1) is x
    assert x.sum().item() == 12
    a.copy_(2 * a)
    a.zero_()
    assert a._nnz() == 0
    with pytest.raises(RuntimeError, match="dense result in place"):
        a.add_(x)


def test_resize(a):
    a.sparse_resize_((4, 5), 2, 0)
    assert a.shape == (4, 5)
    assert a.to_dense().shape == (4, 5)
    a.sparse_resize_and_clear_((2, 2, 7), 2, 1)
    assert (a.shape, a._nnz(), a._values().shape) == ((2, 2, 7), 0, (0, 7))


def test_devices_and_dtypes(a):
    assert a.to(wg.float64).dtype == wg.float64
    assert a.half().dtype == wg.float16
    assert (a.half() @ wg.ones(3, dtype=wg.float16)).tolist() == [3, 9]
    assert a.type_as(wg.ones(1, dtype=wg.float64)).dtype == wg.float64
    moved = a.to("sim:0")
    assert moved.device == wg.device("sim:0")
    assert (moved @ wg.ones(3, device="sim:0")).cpu().tolist() == [3, 9]
    assert moved.cpu().device == wg.device("cpu")
    assert a.cpu() is a


def test_data_is_swapped(a):
    a.requires_grad_()
    other = wg.eye(4, dtype=wg.float64).to_sparse()
    a.data = other
    assert (a.shape, a.dtype, a._nnz()) == ((4, 4), wg.float64, 4)
    a.sum().backward()
    assert a.grad.dtype == wg.float64
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        a.data = wg.ones(4, 4)
    with pytest.raises(RuntimeError, match="floating point or complex"):
        a.data = other.long()


class Layer(wg.nn.Module):
    """With a sparse buffer and a sparse parameter."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", wg.eye(3).to_sparse())
        self.weight = wg.nn.Parameter(2 * wg.eye(3).to_sparse_csr())

    def forward(self, x):
        return self.mask @ (self.weight @ x)


def test_modules_hold_sparse_tensors(tmp_path):
    layer = Layer()
    layer(wg.ones(3)).sum().backward()
    assert layer.weight.grad.is_sparse_csr
    wg.save(layer.state_dict(), tmp_path / "state.pt")
    layer.load_state_dict(wg.load(tmp_path / "state.pt"))
    optimizer = wg.optim.SGD(layer.parameters(), lr=0.5)
    optimizer.step()
    assert layer.weight.values().tolist() == [1.5] * 3
    assert copy.deepcopy(layer).double()(wg.ones(3, dtype=wg.float64)).tolist() == [1.5] * 3


def test_files_that_do_not_fit_together_are_refused(tmp_path):
    from wengert._files import _names
    from wengert._files._unpickle import Constructor

    assert isinstance(_names._FOUND[_names.MAKES_SPARSE], Constructor)
    for data in ((wg.tensor([[5]]), wg.ones(1), (2,), True), (wg.ones(1), wg.ones(1)), 3, (1, 2, 3, 4)):
        with pytest.raises(Exception, match="sparse tensor"):
            _names._sparse(wg.sparse_coo, data)


def test_operands_of_other_kinds(a):
    assert (a @ np.ones(3, np.float32)).tolist() == [3, 9]
    assert wg.nn.functional.linear(wg.ones(2, 3), a, wg.ones(2)).tolist() == [[4, 10]] * 2
    np.testing.assert_allclose(np.sin(a).to_dense().numpy(), np.sin(a.to_dense().numpy()), rtol=1e-6)
    for run in (lambda: a @ [1, 2, 3], lambda: a * "x", lambda: wg.sparse.mm(a, None), lambda: wg.sparse.from_scipy(a)):
        with pytest.raises(TypeError):
            run()


def test_spdiags():
    diagonals = np.arange(12.0).reshape(3, 4)
    for shape in ((4, 4), (3, 5), (5, 3)):
        made = wg.sparse.spdiags(wg.tensor(diagonals), wg.tensor([0, -2, 1]), shape)
        expected = scipy.sparse.spdiags(diagonals, [0, -2, 1], *shape).toarray()
        np.testing.assert_array_equal(made.to_dense().numpy(), expected)
    assert wg.sparse.spdiags(wg.ones(2), wg.tensor([0]), (2, 2), wg.sparse_csr).layout == wg.sparse_csr


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (lambda a: wg.sparse_coo_tensor([[0, 1]], [1.0], (3,)), RuntimeError, "must have same nnz"),
        (lambda a: wg.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,)), RuntimeError, "size is 3 but found index 5"),
        (lambda a: wg.sparse_coo_tensor([[-1]], [1.0]), RuntimeError, "found negative index -1 for dim 0"),
        (lambda a: wg.sparse_coo_tensor([0, 1], [1.0, 2.0]), RuntimeError, "sparse_dim x nnz"),
        (lambda a: wg.sparse_coo_tensor([[0]], [1.0], (3, 3)), RuntimeError, "sparse_dim [+] dense_dim"),
        (lambda a: wg.sparse_coo_tensor([[0.5]], [1.0]), TypeError, "must be integers"),
        (lambda a: wg.sparse_coo_tensor([[1, 0]], [1.0, 2.0], (2,), is_coalesced=True), RuntimeError, "order of rows"),
        (lambda a: wg.sparse_csr_tensor([0, 1, 3], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, "== nnz"),
        (lambda a: wg.sparse_csr_tensor([1, 1, 2], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, "== 0"),
        (
            lambda a: wg.sparse_csr_tensor([0, 1, 2], [0, 5], [1.0, 2.0], (2, 2)),
            RuntimeError,
            "0 <= col_indices < ncols",
        ),
        (lambda a: wg.sparse_csr_tensor([0, 2, 1, 2], [0, 1], [1.0, 2.0], (3, 2)), RuntimeError, "must not fall"),
        (lambda a: wg.sparse_csr_tensor([0, 2], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, "number of rows"),
        (lambda a: wg.sparse_compressed_tensor([0, 1], [0], [1.0]), RuntimeError, "expected sparse compressed"),
        (lambda a: a @ wg.ones(2), RuntimeError, "cannot be multiplied"),
        (lambda a: a @ wg.ones(3, dtype=wg.float64), RuntimeError, "same dtype"),
        (lambda a: a + 1, RuntimeError, "makes it dense"),
        (lambda a: a.exp(), NotImplementedError, "Could not run 'exp'"),
        (lambda a: 1 / a, RuntimeError, "Sparse division|Could not run"),
        (lambda a: wg.ones(2, 3) / a, RuntimeError, "Sparse division"),
        (lambda a: a**-1, RuntimeError, "positive exponents"),
        (lambda a: a.numpy(), TypeError, "Use Tensor.to_dense"),
        (lambda a: np.asarray(a), TypeError, "Use Tensor.to_dense"),
        (lambda a: a.item(), RuntimeError, "cannot be converted to Scalar"),
        (lambda a: a.data_ptr(), RuntimeError, "no memory of its own"),
        (lambda a: a.crow_indices(), RuntimeError, "expected sparse row compressed tensor layout but got Sparse"),
        (lambda a: wg.ones(2).values(), RuntimeError, "values expected sparse tensor layout but got Strided"),
        (lambda a: wg.ones(2).to_sparse_csr(), RuntimeError, "compressed layouts are those of matrices"),
        (lambda a: a.to_sparse_bsr((1, 1)), NotImplementedError, "blocks are not supported"),
        (lambda a: a[5], IndexError, "out of bounds"),
        (lambda a: a[0, 0, 0], IndexError, "too many indices"),
        (lambda a: a[:, ::-1], ValueError, "step must be greater"),
        (lambda a: a[[0, 7]], IndexError, "out of range"),
        (lambda a: a.transpose(0, 2), IndexError, "Dimension out of range"),
        (lambda a: a + a.t(), RuntimeError, "same size"),
        (lambda a: wg.zeros(2, layout=wg.sparse_coo), TypeError, "wengert.strided"),
        (lambda a: wg.sparse.SparseTensor(), TypeError, "are made by sparse_coo_tensor"),
        (lambda a: wg.sparse.to_scipy(a.requires_grad_()), RuntimeError, "detach"),
        (lambda a: wg.sparse.sum(wg.ones(2)), RuntimeError, "expected a sparse tensor"),
        (
            lambda a: wg.sparse_coo_tensor([[2**40], [2**40]], [1.0]).coalesce(),
            RuntimeError,
            "more places|overflow|too large",
        ),
        (lambda a: a.long().requires_grad_(), RuntimeError, "floating point"),
    ],
)
def test_refused(a, run, error, message):
    with pytest.raises(error, match=message):
        run(a)


def test_empty_ones():
    a = wg.sparse_coo_tensor(size=(3, 3), indices=wg.zeros(2, 0, dtype=wg.int64), values=wg.zeros(0))
    x = wg.ones(3, 2, requires_grad=True)
    for layout in (wg.sparse_coo, wg.sparse_csr, wg.sparse_csc):
        b = a.to_sparse(layout=layout)
        (b @ x).sum().backward()
        assert (b @ b).to_dense().sum().item() == 0
        assert (b + b).to_dense().sum().item() == 0
        assert (b * x[:, :1]).to_dense().sum().item() == 0
        assert b.t().sum().item() == 0
        assert b[1:].shape == (2, 3)
        assert wg.sparse.softmax(b, 1)._nnz() == 0
    assert x.grad.sum().item() == 0


def test_assert_close(a):
    wg.testing.assert_close(a, a.clone())
    with pytest.raises(AssertionError, match="Sparse values"):
        wg.testing.assert_close(a, 2 * a)
    with pytest.raises(AssertionError, match="specified values"):
        wg.testing.assert_close(a, wg.zeros_like(a))
    with pytest.raises(AssertionError, match="layout"):
        wg.testing.assert_close(a, a.to_sparse_csr())
    wg.testing.assert_close(a, a.to_sparse_csr(), check_layout=False)
    wg.testing.assert_close(a, a.to_dense(), check_layout=False, allow_subclasses=True)


def test_import_loads_no_sparse_matrices():
    program = "import sys, wengert as wg; wg.ones(2).to_dense(); print([m for m in sys.modules if 'sparse' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert "scipy.sparse" not in done.stdout
    assert "wengert.sparse" not in done.stdout


@pytest.mark.parametrize("layout", [wg.sparse_coo, wg.sparse_csr, wg.sparse_csc])
def test_patterns_are_kept_by_no_circle(layout):
    a = wg.eye(4).to_sparse(layout=layout).requires_grad_()
    x = wg.ones(4, 2)
    gc.collect()
    gc.disable()
    try:
        patterns = [weakref.ref(t._pattern) for t in (a, a.t(), a.t().t(), a.to_sparse_csc(), a.to_sparse_csr(), a @ a)]
        (a.t() @ x + a @ (a @ x)).sum().backward()
        assert a.t()._pattern.transposed is a._pattern or layout != wg.sparse_csr
        del a
        assert [pattern() for pattern in patterns] == [None] * len(patterns)
    finally:
        gc.enable()
