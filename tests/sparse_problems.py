"""Sparse tensors as functions of their values, and operations on them: what tests of wengert.sparse differentiate."""

import numpy as np

import wengert as wg

PLACES = [[0, 1, 1, 2, 2], [2, 0, 2, 1, 2]]  # in order, and a matrix that is not singular
SHARED = [[0, 2, 0, 2, 1], [1, 0, 1, 0, 1]]  # two places twice, out of order
LAYOUTS = ("coo", "csr", "csc")


def matrix(values, layout="coo", places=PLACES, shape=(3, 3)):
    """The matrix with these values in a layout."""
    made = wg.sparse_coo_tensor(places, values, shape)
    return made if layout == "coo" else getattr(made, f"to_sparse_{layout}")()


def dense(values, places=PLACES, shape=(3, 3)):
    """The same matrix by NumPy; values at one place are added."""
    out = np.zeros(shape, dtype=values.dtype)
    np.add.at(out, tuple(np.array(places)), values)
    return out


def values(seed=0, dtype=wg.float64, number=5, requires_grad=True):
    """Values that keep away from 0 and 1."""
    random = np.random.default_rng(seed)
    numbers = random.uniform(0.3, 0.8, number)
    if dtype == wg.complex128:
        numbers = numbers + 1j * random.uniform(-0.5, 0.5, number)
    return wg.tensor(numbers, dtype=dtype, requires_grad=requires_grad)


def operand(shape, seed=1, dtype=wg.float64, requires_grad=True):
    """s dense operand."""
    random = np.random.default_rng(seed)
    numbers = random.standard_normal(shape)
    if dtype == wg.complex128:
        numbers = numbers + 1j * random.standard_normal(shape)
    return wg.tensor(numbers, dtype=dtype, requires_grad=requires_grad)


# Name -> (of a sparse matrix s [3, 3] and a dense x [3, 2], the same of dense arrays in NumPy)
UNARY = {
    "abs": np.abs, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "deg2rad": np.deg2rad,
    "expm1": np.expm1, "log1p": np.log1p, "neg": np.negative, "rad2deg": np.rad2deg, "relu": lambda a: a * (a.real > 0),
    "sin": np.sin, "sinh": np.sinh, "square": np.square, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip

OPERATIONS = {
    "to_dense": (lambda s, x: s.to_dense(), lambda a, x: a),
    "to_dense_unmasked": (lambda s, x: s.to_dense(masked_grad=False), lambda a, x: a),
    "matmul": (lambda s, x: s @ x, lambda a, x: a @ x),
    "matmul_vector": (lambda s, x: s @ x[:, 0], lambda a, x: a @ x[:, 0]),
    "dense_matmul": (lambda s, x: x.T @ s, lambda a, x: x.T @ a),
    "vector_matmul": (lambda s, x: x[:, 0] @ s, lambda a, x: x[:, 0] @ a),
    "mm": (wg.sparse.mm, lambda a, x: a @ x),
    "mv": (lambda s, x: wg.mv(s, x[:, 1]), lambda a, x: a @ x[:, 1]),
    "addmm": (lambda s, x: wg.sparse.addmm(x, s, x, beta=2, alpha=3), lambda a, x: 2 * x + 3 * (a @ x)),
    "sampled_addmm": (
        lambda s, x: wg.sparse.sampled_addmm(s, x, x.T, beta=2, alpha=3).to_dense(),
        lambda a, x: (2 * a + 3 * (x @ x.T)) * (a != 0),
    ),
    "sparse_matmul": (lambda s, x: (s @ s).to_dense(), lambda a, x: a @ a),
    "sparse_matmul_transposed": (lambda s, x: (s @ s.t()).to_dense(), lambda a, x: a @ a.T),
    "transposed_matmul": (lambda s, x: s.t() @ x, lambda a, x: a.T @ x),
    "transpose": (lambda s, x: s.transpose(0, 1).to_dense(), lambda a, x: a.T),
    "T": (lambda s, x: s.T.to_dense(), lambda a, x: a.T),
    "mH": (lambda s, x: s.mH.to_dense(), lambda a, x: a.conj().T),
    "solve": (wg.sparse.solve, np.linalg.solve),
    "solve_vector": (lambda s, x: wg.sparse.solve(s, x[:, 0]), lambda a, x: np.linalg.solve(a, x[:, 0])),
    "solve_transposed": (
        lambda s, x: wg.sparse.splu(s).solve(x, transposed=True), lambda a, x: np.linalg.solve(a.T, x)
    ),
    "spsolve_right": (
        lambda s, x: wg.sparse.spsolve(s, x.T, left=False), lambda a, x: np.linalg.solve(a.T, x).T
    ),
    "scaled": (lambda s, x: (3 * s / 2).to_dense(), lambda a, x: 1.5 * a),
    "scaled_by_tensor": (lambda s, x: (s * x[0, 0]).to_dense(), lambda a, x: a * x[0, 0]),
    "divided_by_dense": (lambda s, x: (s / x[:, :1]).to_dense(), lambda a, x: a / x[:, :1]),
    "times_dense": (lambda s, x: (s * (x @ x.T)).to_dense(), lambda a, x: a * (x @ x.T)),
    "times_row": (lambda s, x: (x[:, 0] * s).to_dense(), lambda a, x: a * x[:, 0]),
    "times_sparse": (lambda s, x: (s * s.t()).to_dense(), lambda a, x: a * a.T),
    "times_itself": (lambda s, x: (s * s).to_dense(), lambda a, x: a * a),
    "plus_dense": (lambda s, x: x @ x.T + s, lambda a, x: x @ x.T + a),
    "plus_sparse": (lambda s, x: (s + s.t()).to_dense(), lambda a, x: a + a.T),
    "minus_sparse": (lambda s, x: (s - 2 * s.t()).to_dense(), lambda a, x: a - 2 * a.T),
    "add_alpha": (lambda s, x: wg.add(s, s.t(), alpha=3).to_dense(), lambda a, x: a + 3 * a.T),
    "power": (lambda s, x: (s**3).to_dense(), lambda a, x: a**3),
    "sum": (lambda s, x: s.sum(), lambda a, x: a.sum()),
    "sum_rows": (lambda s, x: wg.sparse.sum(s, 0).to_dense(), lambda a, x: a.sum(0)),
    "sum_columns": (lambda s, x: s.sum(1, keepdim=True).to_dense(), lambda a, x: a.sum(1, keepdims=True)),
    "sum_both": (lambda s, x: wg.sparse.sum(s, (0, 1)), lambda a, x: a.sum()),
    "mean": (lambda s, x: s.mean(), lambda a, x: a.mean()),
    "norm": (lambda s, x: s.norm(), lambda a, x: np.linalg.norm(a)),
    "row": (lambda s, x: s[1].to_dense(), lambda a, x: a[1]),
    "element": (lambda s, x: s[1, 2], lambda a, x: a[1, 2]),
    "slices": (lambda s, x: s[1:, ::2].to_dense(), lambda a, x: a[1:, ::2]),
    "lists": (lambda s, x: s[:, wg.tensor([2, 0, 2])].to_dense(), lambda a, x: a[:, [2, 0, 2]]),
    "mask": (lambda s, x: s[wg.tensor([True, False, True])].to_dense(), lambda a, x: a[[0, 2]]),
    "new_dimension": (lambda s, x: s[None].to_dense(), lambda a, x: a[None]),
    "select": (lambda s, x: s.select(1, 2).to_dense(), lambda a, x: a[:, 2]),
    "narrow": (lambda s, x: s.narrow(0, 1, 2).to_dense(), lambda a, x: a[1:3]),
    "index_select": (lambda s, x: s.index_select(0, wg.tensor([2, 1])).to_dense(), lambda a, x: a[[2, 1]]),
    "cat": (lambda s, x: wg.cat([s, s.t().to_sparse(layout=s.layout)], 1).to_dense(), lambda a, x: np.hstack([a, a.T])),
    "stack": (lambda s, x: wg.stack([s.to_sparse_coo()] * 2).to_dense(), lambda a, x: np.stack([a, a])),
    "tril": (lambda s, x: s.tril().to_dense(), lambda a, x: np.tril(a)),
    "triu": (lambda s, x: s.triu(1).to_dense(), lambda a, x: np.triu(a, 1)),
    "diagonal": (lambda s, x: s.diagonal(), lambda a, x: np.diagonal(a)),
    "coalesce": (lambda s, x: s.to_sparse_coo().coalesce().values(), lambda a, x: a[a != 0]),
    "layouts": (lambda s, x: s.to_sparse_csc().to_sparse_csr().to_sparse_coo().to_dense(), lambda a, x: a),
    "sparse_mask": (lambda s, x: (x @ x.T).sparse_mask(s).to_dense(), lambda a, x: (x @ x.T) * (a != 0)),
    "mask_of_sparse": (lambda s, x: s.sparse_mask(s.t()).to_dense(), lambda a, x: a * (a.T != 0)),
    "clone": (lambda s, x: s.clone().to_dense(), lambda a, x: a),
    **{n: (lambda s, x, n=n: getattr(s, n)().to_dense(), lambda a, x, f=f: f(a)) for n, f in UNARY.items()},
}  # fmt: skip
REAL = {
    "softmax": lambda s, x: wg.sparse.softmax(s, 1).to_dense(),
    "log_softmax": lambda s, x: wg.sparse.log_softmax(s, 0).to_dense(),
    "mean_of_products": lambda s, x: wg.sparse.mm(s, x, "mean"),
    "largest_of_products": lambda s, x: wg.sparse.mm(s, x, "amax"),
    "to_sparse": lambda s, x: (x @ x.T).to_sparse().values(),
    "cg": lambda s, x: wg.sparse.solve(s @ s.t(), x, "cg", rtol=1e-13),
    "gmres": lambda s, x: wg.sparse.solve(s, x[:, 0], "gmres", rtol=1e-13, preconditioner="ilu"),
    "bicgstab": lambda s, x: wg.sparse.solve(s @ s.t(), x[:, 0], "bicgstab", rtol=1e-13, preconditioner="ilu"),
    "float32": lambda s, x: s.to(wg.complex128).to_dense().real,
}
