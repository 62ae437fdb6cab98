"""Every integer of every row, and of hand-written functions, replaced by one that no tensor has.

Sizes are added, multiplied, divided and negated; some of these numbers have no neighbour, no double or no negative.
"""

import random

import numpy as np

import wengert as wg
from wengert.utils.checkpoint import checkpoint_sequential

from ..ops.operations import OPERATIONS, case
from .calls import backward

INTEGERS = [2**63 - 1, -(2**63), 2**62, -(2**62), 2**40, 2**31, -(2**31) - 1, 2**31 - 1, -1, 0]


def spoilt(values, name, value):
    """The arguments with each number in place of this one, or of one of this list."""
    if isinstance(value, int) and not isinstance(value, bool):
        for i in INTEGERS:
            yield i, {**values, name: i}
    elif isinstance(value, (list, tuple)) and value and all(isinstance(v, int) for v in value):
        for at in range(len(value)):
            for i in INTEGERS:
                yield i, {**values, name: [*value[:at], i, *value[at + 1 :]]}
        yield "all", {**values, name: [INTEGERS[0]] * len(value)}
        yield "all", {**values, name: [INTEGERS[2]] * len(value)}
        yield "many", {**values, name: list(value) * 40}


def all_spoilt(operation, values):
    """One integer in place of all that the row takes, where these are several."""
    names = [a["name"] for a in operation.arguments if a["type"].startswith("int")]
    for i in INTEGERS if len(names) > 1 else ():
        lists = {n: [i] * len(values[n]) for n in names if isinstance(values.get(n), (list, tuple))}
        yield i, {**values, **dict.fromkeys(names, i), **lists}


def fresh(values):
    return {
        n: v.detach().requires_grad_() if isinstance(v, wg.Tensor) and v.is_floating_point() else v
        for n, v in values.items()
    }


def of_rows():
    for operation in OPERATIONS:
        for sample in operation.samples()[:2]:
            values = case(operation, sample).values
            for i, wrong in all_spoilt(operation, values):
                yield f"{operation.name} all={i}", lambda o=operation, w=wrong: backward(o(fresh(w)))
            for argument in operation.arguments:
                name, type_ = argument["name"], argument["type"]
                given = values.get(name)
                if given is None and type_.startswith("int"):
                    given = [1, 1] if "[" in type_ else 1
                for i, wrong in spoilt(values, name, given) if type_.startswith("int") else ():
                    yield f"{operation.name} {name}={i}", lambda o=operation, w=wrong: backward(o(fresh(w)))
                    if operation.out:
                        yield f"{operation.name} {name}={i} in place", lambda o=operation, w=wrong: in_place(o, w)


def in_place(operation, values):
    method = getattr(wg.Tensor, operation.python["name"] + "_", None)
    if method and operation.inplace:
        positional, keywords = operation.split(values)
        method(positional[0].clone(), *positional[1:], **keywords)


def measured():
    with wg.autograd.profiler.profile(with_stack=True) as profile:
        wg.ones(2).exp()
    return profile


BY_HAND = {
    "ones": lambda i: wg.ones(i),
    "ones of 2": lambda i: wg.ones(i, i),
    "empty_strided": lambda i: wg.empty_strided((2,), (i,)),
    "empty_strided size": lambda i: wg.empty_strided((i, 0), (1, i)),
    "arange": lambda i: wg.arange(i),
    "arange step": lambda i: wg.arange(0, 10, i),
    "arange from": lambda i: wg.arange(i, i + 1),
    "linspace": lambda i: wg.linspace(0, 1, i),
    "logspace": lambda i: wg.logspace(0, 1, i),
    "eye": lambda i: wg.eye(i),
    "eye of two": lambda i: wg.eye(1, i),
    "full": lambda i: wg.full((i,), 1),
    "randint": lambda i: wg.randint(i, (3,)),
    "randint from": lambda i: wg.randint(i, 2**63 - 1, (3,)),
    "randperm": lambda i: wg.randperm(i),
    "random_": lambda i: wg.ones(3).random_(i),
    "random_ from": lambda i: wg.ones(3).random_(-(2**63), i),
    "multinomial": lambda i: wg.ones(3).multinomial(i),
    "manual_seed": lambda i: wg.Generator().manual_seed(i),
    "index": lambda i: wg.ones(5)[i],
    "slice": lambda i: wg.ones(5)[i:],
    "slice to": lambda i: wg.ones(5)[:i],
    "slice step": lambda i: wg.ones(5)[::i],
    "list": lambda i: wg.ones(5)[[0, i]],
    "write": lambda i: wg.ones(5).__setitem__(i, 1.0),
    "write slice": lambda i: wg.ones(5).__setitem__(slice(i, None, None), 1.0),
    "write step": lambda i: wg.ones(5).__setitem__(slice(None, None, i), 1.0),
    "resize_": lambda i: wg.ones(5).resize_(i),
    "resize_ of two": lambda i: wg.ones(5).resize_(i, 2),
    "view": lambda i: wg.ones(5).view(i),
    "view of two": lambda i: wg.ones(5).view(i, -1),
    "size": lambda i: wg.ones(5).size(i),
    "stride": lambda i: wg.ones(5).stride(i),
    "fill": lambda i: wg.ones(5, dtype=wg.int8).fill_(i),
    "power": lambda i: wg.tensor([2, 3]) ** i,
    "shift": lambda i: wg.tensor([2, 3]) << i,
    "floor": lambda i: wg.tensor([2, -(2**63)]) // i,
    "remainder": lambda i: wg.tensor([2, -(2**63)]) % i,
    "device": lambda i: wg.device("cpu", i),
    "device text": lambda i: wg.device(f"cpu:{i}"),
    "hash of a device": lambda i: hash(wg.device("cpu", i)),
    "to": lambda i: wg.ones(2).to(f"cpu:{i}"),
    "threads": lambda i: i in (0, -1, 2**63 - 1, -(2**63)) and wg.set_num_threads(i),
    "printing": lambda i: wg.set_printoptions(precision=i) if i < 0 else None,
    "level": lambda i: wg._C._exit_dual_level(i),
    "version": lambda i: wg._C._autograd._unsafe_set_version_counter((wg.ones(2),), (i,)),
    "dual level": lambda i: wg.autograd.forward_ad.make_dual(wg.ones(2), wg.ones(2), level=i),
    "gradient edge": lambda i: wg.autograd.backward(
        wg.autograd.graph.GradientEdge((wg.ones(1, requires_grad=True) * 2).grad_fn, i)
    ),
    "vmap out": lambda i: wg.func.vmap(lambda x: x, out_dims=i)(wg.ones(2)),
    "vmap in": lambda i: wg.func.vmap(lambda x: x, in_dims=i)(wg.ones(2)),
    "vmap chunks": lambda i: wg.func.vmap(lambda x: x, chunk_size=i)(wg.ones(2)),
    "einsum": lambda i: wg.einsum(wg.ones(2), [i], []),
    "window": lambda i: wg.hann_window(i),
    "kaiser window": lambda i: wg.kaiser_window(i),
    "fftfreq": lambda i: wg.fft.fftfreq(i),
    "rfftfreq": lambda i: wg.fft.rfftfreq(i),
    "tril_indices": lambda i: wg.tril_indices(i, 3),
    "tril_indices of two": lambda i: wg.tril_indices(i, i),
    "triu_indices": lambda i: wg.triu_indices(3, i),
    "triu_indices from": lambda i: wg.triu_indices(3, 3, i),
    "triu_indices of three": lambda i: wg.triu_indices(i, i, i),
    "chunk": lambda i: wg.ones(5).chunk(i),
    "chunk of nothing": lambda i: wg.ones(0).chunk(i),
    "split": lambda i: wg.ones(5).split(i),
    "split into": lambda i: wg.ones(5).split([5, i]),
    "tensor_split": lambda i: wg.tensor_split(wg.ones(5), i),
    "tensor_split at": lambda i: wg.tensor_split(wg.ones(5), [i, 2]),
    "combinations": lambda i: wg.combinations(wg.ones(3), i),
    "combinations with": lambda i: wg.combinations(wg.ones(3), i, with_replacement=True),
    "tensordot": lambda i: wg.tensordot(wg.ones(2, 2), wg.ones(2, 2), i),
    "tensorinv": lambda i: wg.linalg.tensorinv(wg.eye(2), ind=i),
    "svd_lowrank": lambda i: wg.svd_lowrank(wg.ones(3, 3), q=i),
    "svd_lowrank rounds": lambda i: i < 2**31 - 1 and wg.svd_lowrank(wg.ones(3, 3), q=1, niter=i),
    "lobpcg": lambda i: wg.lobpcg(wg.eye(9), k=i),
    "stft": lambda i: wg.stft(wg.ones(9), i, return_complex=True, window=wg.ones(4)),
    "stft hop": lambda i: wg.stft(wg.ones(9), 4, hop_length=i, return_complex=True, window=wg.ones(4)),
    "stft window": lambda i: wg.stft(wg.ones(9), 4, win_length=i, return_complex=True),
    "istft": lambda i: wg.istft(wg.ones(3, 5, dtype=wg.complex64), 4, length=i, window=wg.ones(4)),
    "istft hop": lambda i: wg.istft(wg.ones(3, 5, dtype=wg.complex64), 4, hop_length=i, window=wg.ones(4)),
    "histogramdd": lambda i: wg.histogramdd(wg.ones(3, 2), [i, 2]),
    "nth_derivatives": lambda i: wg.func.nth_derivatives(wg.sin, i)(wg.ones(())),
    "jacrev chunks": lambda i: wg.func.jacrev(wg.sin, chunk_size=i)(wg.ones(2)),
    "checkpoint_sequential": lambda i: checkpoint_sequential([wg.sin], i, wg.ones(2), use_reentrant=False),
    "group of stacks": lambda i: measured().key_averages(group_by_stack_n=i),
    "rows of a table": lambda i: measured().table(row_limit=i, max_name_column_width=max(i, -9) if i < 9 else 9),
    "schedule": lambda i: [wg.profiler.schedule(wait=i, warmup=0, active=1, repeat=i)(j) for j in (0, 1, i)],
    "conv_transpose2d paddings": lambda i: wg.nn.functional.conv_transpose2d(
        wg.ones(1, 1, 2, 2), wg.ones(1, 1, 2, 2), stride=[2], output_padding=[1, i]
    ),
    "rot90": lambda i: wg.ones(2, 2).rot90(i),
    "matrix_power": lambda i: wg.linalg.matrix_power(wg.eye(2), i),
    "array of numpy": lambda i: np.diff(wg.ones(3), n=i),
    "one_hot": lambda i: wg.nn.functional.one_hot(wg.tensor([0, 1]), i),
    "one_hot of it": lambda i: wg.nn.functional.one_hot(wg.tensor([i])),
    "bincount": lambda i: wg.bincount(wg.tensor([i])),
    "bincount minlength": lambda i: wg.bincount(wg.tensor([1]), minlength=i),
    "repeat_interleave": lambda i: wg.repeat_interleave(wg.tensor([1]), wg.tensor([i])),
    "tensor": lambda i: wg.tensor(i, dtype=wg.int8),
    "Size": lambda i: wg.Size((i,)).numel(),
    "Size of two": lambda i: wg.Size((i, i)).numel(),
}


def by_hand():
    for name, function in BY_HAND.items():
        for i in INTEGERS:
            yield f"{name} {i}", lambda f=function, i=i: f(i)


def cases(seed, count):
    """Share number `seed` of `count` shares of all of them."""
    everything = [*of_rows(), *by_hand()]
    random.Random(7).shuffle(everything)
    yield from everything[seed - 1 :: count]
