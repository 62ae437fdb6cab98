"""Sparse tensors beside PyTorch's: results with places, printed text, gradients, messages, embeddings, SparseAdam."""

import inspect
import re
import warnings

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")

PACKAGES = (wg, torch)
PLACES, NUMBERS, SHAPE = [[0, 1, 1, 2], [2, 0, 2, 1]], [0.3, 0.4, 0.5, 0.7], (3, 3)
DENSE = [[1.0, 2.0], [-1.0, 0.5], [3.0, -2.0]]


def starting(tc, requires_grad=False):
    a = tc.sparse_coo_tensor(PLACES, NUMBERS, SHAPE, dtype=tc.float64).coalesce()
    x = tc.tensor(DENSE, dtype=tc.float64)
    return a.requires_grad_(requires_grad), x.requires_grad_(requires_grad)


def facts(value):
    """What is compared: layout, shape, dtype, indices and values; numbers of dense ones."""
    if not hasattr(value, "layout"):
        return value
    value = value.detach()
    said = [str(value.layout).rpartition(".")[2], tuple(value.shape), str(value.dtype).rpartition(".")[2]]
    if value.layout in (wg.sparse_coo, torch.sparse_coo):
        said += [value.is_coalesced(), value._indices().tolist(), value._values()]
    elif value.layout in (wg.sparse_csr, torch.sparse_csr):
        said += [value.crow_indices().tolist(), value.col_indices().tolist(), value.values()]
    elif value.layout in (wg.sparse_csc, torch.sparse_csc):
        said += [value.ccol_indices().tolist(), value.row_indices().tolist(), value.values()]
    else:
        said.append(value)
    return [np.round(s.numpy().astype(np.complex128), 5).tolist() if hasattr(s, "numpy") else s for s in said]


def both(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [facts(run(tc)) for tc in PACKAGES]


STATEMENTS = {
    "made": lambda tc, a, x: tc.sparse_coo_tensor(PLACES, NUMBERS),
    "made with dense dimensions": lambda tc, a, x: tc.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]]),
    "made without elements": lambda tc, a, x: tc.sparse_coo_tensor((2, 3)),
    "made coalesced": lambda tc, a, x: tc.sparse_coo_tensor(PLACES, NUMBERS, SHAPE, is_coalesced=True),
    "csr": lambda tc, a, x: tc.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 2.0]),
    "csc": lambda tc, a, x: tc.sparse_csc_tensor([0, 1, 2], [1, 0], [1.0, 2.0]),
    "compressed": lambda tc, a, x: tc.sparse_compressed_tensor([0, 1], [1], [1.0], (1, 2), layout=tc.sparse_csr),
    "int64": lambda tc, a, x: tc.sparse_coo_tensor([[0, 1]], [1, 2]),
    "coalesce": lambda tc, a, x: tc.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0]).coalesce(),
    "to_sparse": lambda tc, a, x: (x > 0).double().to_sparse(),
    "to_sparse(1)": lambda tc, a, x: x.to_sparse(1),
    "to_sparse_csr": lambda tc, a, x: x.to_sparse_csr(),
    "to_sparse_csc": lambda tc, a, x: x.to_sparse_csc(),
    "to_sparse(layout)": lambda tc, a, x: a.to_sparse(layout=tc.sparse_csr),
    "to_dense": lambda tc, a, x: a.to_dense(),
    "sparse_mask": lambda tc, a, x: (x @ x.T).sparse_mask(a),
    "values": lambda tc, a, x: a.values(),
    "indices": lambda tc, a, x: a.indices(),
    "numbers of dimensions": lambda tc, a, x: (a.sparse_dim(), a.dense_dim(), a._nnz(), a.numel(), x.sparse_dim()),
    "transpose": lambda tc, a, x: a.t(),
    "transpose of csr": lambda tc, a, x: a.to_sparse_csr().t(),
    "permute": lambda tc, a, x: a.permute(1, 0).coalesce(),
    "mm": lambda tc, a, x: tc.sparse.mm(a, x),
    "mm of csr": lambda tc, a, x: tc.sparse.mm(a.to_sparse_csr(), x),
    "mm of sparse": lambda tc, a, x: tc.sparse.mm(a, a),
    "@": lambda tc, a, x: a @ x[:, 0],
    "dense @": lambda tc, a, x: x.T @ a,
    "addmm": lambda tc, a, x: tc.sparse.addmm(x, a, x, beta=2, alpha=3),
    "sampled_addmm": lambda tc, a, x: tc.sparse.sampled_addmm(a.to_sparse_csr(), x, x.T, beta=0.5, alpha=2),
    "hspmm": lambda tc, a, x: tc.hspmm(a, x).coalesce(),
    "smm": lambda tc, a, x: tc.smm(a, x).to_dense(),
    "+": lambda tc, a, x: a + a,
    "+ other places": lambda tc, a, x: (a + a.t().coalesce()).coalesce(),
    "dense +": lambda tc, a, x: x @ x.T + a,
    "-": lambda tc, a, x: a - 2 * a,
    "* number": lambda tc, a, x: 3 * a,
    "*": lambda tc, a, x: a * a,
    "* other places": lambda tc, a, x: (a * a.t().coalesce()).coalesce(),
    "* dense": lambda tc, a, x: (a * (x @ x.T)).coalesce(),
    "/": lambda tc, a, x: a / 2,
    "**": lambda tc, a, x: a**2,
    "sum": lambda tc, a, x: tc.sparse.sum(a),
    "sum(0)": lambda tc, a, x: tc.sparse.sum(a, 0),
    "sum(dtype)": lambda tc, a, x: tc.sparse.sum(a, dtype=tc.float32),
    "sum of csr": lambda tc, a, x: a.to_sparse_csr().sum(1, keepdim=True),
    "softmax": lambda tc, a, x: tc.sparse.softmax(a, 1),
    "log_softmax": lambda tc, a, x: tc.sparse.log_softmax(a, 0),
    "norm": lambda tc, a, x: a.norm(),
    "[1]": lambda tc, a, x: a[1].coalesce(),
    "[1, 2]": lambda tc, a, x: a[1, 2],
    "csr[1, 2]": lambda tc, a, x: a.to_sparse_csr()[1, 2],
    "index_select": lambda tc, a, x: a.index_select(1, tc.tensor([0, 2])).coalesce(),
    "cat": lambda tc, a, x: tc.cat([a, a], 1).coalesce(),
    "stack": lambda tc, a, x: tc.stack([a, a]).coalesce(),
    "unsqueeze": lambda tc, a, x: a.unsqueeze(0).coalesce(),
    "zeros_like": lambda tc, a, x: tc.zeros_like(a),
    "clone": lambda tc, a, x: a.clone(),
    "float": lambda tc, a, x: a.float(),
    "to(dtype)": lambda tc, a, x: a.to(tc.complex64),
    "add_": lambda tc, a, x: a.clone().add_(a, alpha=2),
    "mul_": lambda tc, a, x: a.clone().mul_(2).coalesce(),
    "zero_": lambda tc, a, x: a.clone().zero_(),
    "sparse_resize_": lambda tc, a, x: a.clone().sparse_resize_((4, 5), 2, 0),
    "sparse_resize_and_clear_": lambda tc, a, x: a.clone().sparse_resize_and_clear_((2, 2), 1, 1),
    "spdiags": lambda tc, a, x: tc.sparse.spdiags(x.T, tc.tensor([0, 1]), (3, 3)).coalesce(),
    "any": lambda tc, a, x: a.any(),
    **{
        name: lambda tc, a, x, name=name: getattr(a, name)()
        for name in (
            "abs", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1", "floor", "frac",
            "isinf", "isnan", "log1p", "neg", "rad2deg", "relu", "round", "sgn", "sign", "signbit", "sin", "sinh",
            "sqrt", "tan", "tanh", "trunc",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_results(name):
    ours, theirs = both(lambda tc: STATEMENTS[name](tc, *starting(tc)))
    assert ours == theirs


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_printing(dtype, layout, requires_grad):
    def shown(tc):
        a = tc.sparse_coo_tensor(PLACES, [1, 2, 3, 4], SHAPE, dtype=getattr(tc, dtype))
        a = a.to_sparse(layout=getattr(tc, layout))
        if requires_grad and dtype != "int64":
            a.requires_grad_()
        return re.sub(r"\b(torch|wengert)\b", "package", repr(a))

    ours, theirs = (shown(tc) for tc in PACKAGES)
    assert ours == theirs


GRADIENTS = {
    "to_dense": lambda tc, a, x: a.to_dense(),
    "sum": lambda tc, a, x: tc.sparse.sum(a),
    "sum(0)": lambda tc, a, x: tc.sparse.sum(a, 0).to_dense(),
    "mm": lambda tc, a, x: tc.sparse.mm(a, x),
    "mm of csr": lambda tc, a, x: tc.sparse.mm(a.to_sparse_csr(), x),
    "mm of sparse": lambda tc, a, x: tc.sparse.sum(tc.sparse.mm(a, a)),
    "addmm": lambda tc, a, x: tc.sparse.addmm(x, a, x, beta=2, alpha=3),
    "values": lambda tc, a, x: a.coalesce().values() ** 2,
    "* number": lambda tc, a, x: (3 * a).to_dense(),
    "*": lambda tc, a, x: (a * a).to_dense(),
    "softmax": lambda tc, a, x: tc.sparse.softmax(a, 1).to_dense() ** 2,
    "log_softmax": lambda tc, a, x: tc.sparse.log_softmax(a, 1).to_dense() ** 2,
    "neg": lambda tc, a, x: (-a).to_dense(),
    "transpose": lambda tc, a, x: a.t().to_dense() * tc.arange(9.0, dtype=tc.float64).reshape(3, 3),
    "sparse_mask": lambda tc, a, x: (x @ x.T).sparse_mask(a.detach()).to_dense(),
    "to_sparse": lambda tc, a, x: x.to_sparse().to_dense() ** 2,
    "pow": lambda tc, a, x: (a**2).to_dense(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    def gradients(tc):
        a, x = starting(tc, requires_grad=True)
        GRADIENTS[name](tc, a, x).sum().backward()
        return [None if t.grad is None else facts(t.grad.to_dense()) for t in (a, x)]

    ours, theirs = (gradients(tc) for tc in PACKAGES)
    assert ours == theirs


@pytest.mark.parametrize("places", [PLACES, [[1, 0, 1, 0], [2, 0, 2, 0]]])
def test_gradients_of_values(places):
    def gradient(tc):
        v = tc.tensor(NUMBERS, dtype=tc.float64, requires_grad=True)
        a = tc.sparse_coo_tensor(places, v, SHAPE)
        (tc.sparse.mm(a, tc.tensor(DENSE, dtype=tc.float64)) ** 2).sum().backward()
        return facts(v.grad)

    ours, theirs = (gradient(tc) for tc in PACKAGES)
    assert ours == theirs


REFUSED = {
    "numbers differ": lambda tc, a: tc.sparse_coo_tensor([[0, 1]], [1.0], (3,)),
    "negative": lambda tc, a: tc.sparse_coo_tensor([[-1]], [1.0]),
    "outside": lambda tc, a: tc.sparse_coo_tensor([[5]], [1.0], (2,), check_invariants=True),
    "one dimension": lambda tc, a: tc.sparse_coo_tensor([0, 1], [1.0, 2.0]),
    "dimensions": lambda tc, a: tc.sparse_coo_tensor([[0]], [1.0], (2, 2)),
    "pointers": lambda tc, a: tc.sparse_csr_tensor([0, 1, 3], [0, 1], [1.0, 2.0], (2, 2), check_invariants=True),
    "first pointer": lambda tc, a: tc.sparse_csr_tensor([1, 1, 2], [0, 1], [1.0, 2.0], (2, 2), check_invariants=True),
    "columns": lambda tc, a: tc.sparse_csr_tensor([0, 1, 2], [0, 5], [1.0, 2.0], (2, 2), check_invariants=True),
    "rows": lambda tc, a: tc.sparse_csr_tensor([0, 2], [0, 1], [1.0, 2.0], (2, 2), check_invariants=True),
    "no layout": lambda tc, a: tc.sparse_compressed_tensor([0, 1], [0], [1.0]),
    "values": lambda tc, a: tc.sparse_coo_tensor([[0, 0]], [1.0, 2.0]).values(),
    "indices": lambda tc, a: tc.sparse_coo_tensor([[0, 0]], [1.0, 2.0]).indices(),
    "values of dense": lambda tc, a: tc.ones(2).values(),
    "crow_indices of coordinates": lambda tc, a: a.crow_indices(),
    "coalesce of csr": lambda tc, a: a.to_sparse_csr().coalesce(),
    "indices of csr": lambda tc, a: a.to_sparse_csr().indices(),
    "numpy": lambda tc, a: a.numpy(),
    "exp": lambda tc, a: a.exp(),
    "item": lambda tc, a: a.item(),
    "shapes": lambda tc, a: a + tc.sparse_coo_tensor([[0]], [1.0], (2,), dtype=tc.float64),
    "sparse / sparse": lambda tc, a: a / a,
    "dimension": lambda tc, a: a.transpose(0, 2),
    "duplicate offsets": lambda tc, a: tc.sparse.spdiags(tc.ones(2, 3), tc.tensor([1, 1]), (3, 3)),
}
STABLE = {  # fragments that programs match
    "numbers differ": "indices and values must have same nnz, but got nnz from indices: 2, nnz from values: 1",
    "negative": "found negative index -1 for dim 0",
    "outside": "size is inconsistent with indices: for dim 0, size is 2 but found index 5",
    "one dimension": "indices must be sparse_dim x nnz, but got: [2]",
    "dimensions": "== sparse_dim + dense_dim' is not satisfied: len(size) = 2, sparse_dim = 1, dense_dim = 0",
    "pointers": "`crow_indices[..., -1] == nnz` is not satisfied.",
    "first pointer": "`crow_indices[..., 0] == 0` is not satisfied.",
    "columns": "`0 <= col_indices < ncols` is not satisfied",
    "rows": "crow_indices.shape[-1] must be equal to the number of rows + 1 (=3), but got 2",
    "no layout": "sparse_compressed_tensor expected sparse compressed tensor layout but got",
    "values": "Cannot get values on an uncoalesced tensor, please call .coalesce() first",
    "indices": "Cannot get indices on an uncoalesced tensor, please call .coalesce() first",
    "values of dense": "values expected sparse tensor layout but got Strided",
    "crow_indices of coordinates": "crow_indices expected sparse row compressed tensor layout but got Sparse",
    "coalesce of csr": "coalesce expected sparse coordinate tensor layout but got SparseCsr",
    "indices of csr": "indices expected sparse coordinate tensor layout but got SparseCsr",
    "numpy": "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first",
    "item": "cannot be converted to Scalar",
    "duplicate offsets": "Offset tensor contains duplicate values",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    errors = []
    for tc in PACKAGES:
        with pytest.raises(Exception) as caught:  # noqa: PT011  # compared below
            REFUSED[name](tc, starting(tc)[0])
        errors.append(caught.value)
    ours, theirs = errors
    assert isinstance(ours, type(theirs)), (ours, theirs)
    fragment = STABLE.get(name, "")
    assert fragment in str(theirs)
    assert fragment in str(ours)


def accumulated(tc):
    """What a leaf's gradient is, and whether it is the same object, as passes with sparse and dense gradients go on."""
    weight = tc.arange(8.0).reshape(4, 2).requires_grad_()
    seen, before = [], None
    for kind in ("sparse", "sparse", "dense", "sparse", "none", "dense", "sparse"):
        if kind == "none":
            weight.grad = None
        elif kind == "sparse":
            tc.nn.functional.embedding(tc.tensor([1, 2, 1]), weight, sparse=True).sum().backward()
        else:
            weight.sum().backward()
        seen.append((weight.grad is before, facts(weight.grad)))
        before = weight.grad
    return seen


def test_accumulation():
    ours, theirs = (accumulated(tc) for tc in PACKAGES)
    assert ours == theirs


@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"max_norm": 2.0}])
@pytest.mark.parametrize("bags", [False, True])
def test_embedding(options, bags):
    def run(tc):
        weight = tc.arange(8.0).reshape(4, 2).requires_grad_()
        indices = tc.tensor([[1, 2, 1], [3, 0, 1]])
        function = tc.nn.functional.embedding_bag if bags else tc.nn.functional.embedding
        more = {"mode": "sum"} if bags else {}
        (function(indices, weight, sparse=True, **options, **more) ** 2).sum().backward()
        return facts(weight.grad.coalesce()), facts(weight)

    ours, theirs = (run(tc) for tc in PACKAGES)
    assert ours == theirs


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SparseAdam", {"lr": 0.1}),
        ("SparseAdam", {"lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-3, "maximize": True}),
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.1}),
    ],
)
def test_optimizers(name, options):
    def path(tc):
        layer = tc.nn.Embedding(6, 2, sparse=True, dtype=tc.float64)
        with tc.no_grad():
            layer.weight.copy_(tc.arange(12.0).reshape(6, 2))
        optimizer = getattr(tc.optim, name)(layer.parameters(), **options)
        for i in range(6):
            optimizer.zero_grad()
            (layer(tc.tensor([1, 2, 1, i])) ** 2).sum().backward()
            optimizer.step()
        return layer.weight.detach().numpy()

    ours, theirs = (path(tc) for tc in PACKAGES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_signatures():
    ours, theirs = (inspect.signature(tc.optim.SparseAdam) for tc in PACKAGES)
    assert list(ours.parameters) == list(theirs.parameters)


def test_names():
    left_out = {name for name in torch.sparse.__all__ if "SemiStructured" in name or "semi_structured" in name}
    assert set(torch.sparse.__all__) - left_out <= set(dir(wg.sparse))
    for name in ("sampled_addmm", "spdiags", "spsolve", "mm", "sum"):
        assert hasattr(torch.sparse, name)
        assert hasattr(wg.sparse, name)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_gradcheck(masked, layout):
    def outcomes(tc):
        a = starting(tc)[0].to_sparse(layout=getattr(tc, layout)).requires_grad_()
        x = tc.tensor(DENSE, dtype=tc.float64)
        said = []
        for function in (
            lambda a: a.to_dense(masked_grad=masked),
            lambda a: tc.sparse.mm(a, x) if layout != "sparse_csc" else a.to_dense(masked_grad=True),
            lambda a: a.clone(),
        ):
            try:
                said.append(tc.autograd.gradcheck(function, a, masked=masked))
            except Exception as error:
                said.append((type(error).__name__, str(error)[:24]))
        return said

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (outcomes(tc) for tc in PACKAGES)
    assert ours == theirs


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
@pytest.mark.parametrize("ours_writes", [True, False])
def test_files(layout, ours_writes, tmp_path):
    writer, reader = PACKAGES if ours_writes else PACKAGES[::-1]
    a = starting(writer)[0].to_sparse(layout=getattr(writer, layout))
    writer.save({"a": a, "again": a}, tmp_path / "file.pt")
    read = reader.load(tmp_path / "file.pt")
    assert facts(read["a"]) == facts(a)
    assert read["again"] is read["a"]
