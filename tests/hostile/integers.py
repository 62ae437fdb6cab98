"""Every integer of every row, and of hand-written functions, replaced by one that no tensor has.

Sizes are added, multiplied, divided and negated; some of these numbers have no neighbour, no double or no negative.
"""

import random

import wengert as wg

from ..ops.operations import OPERATIONS, case
from .calls import backward

INTEGERS = [2**63 - 1, -(2**63), 2**62, -(2**62), 2**31, -(2**31) - 1, -1, 0]


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


def fresh(values):
    return {
        n: v.detach().requires_grad_() if isinstance(v, wg.Tensor) and v.is_floating_point() else v
        for n, v in values.items()
    }


def of_rows():
    for operation in OPERATIONS:
        for sample in operation.samples()[:2]:
            values = case(operation, sample).values
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
    "window": lambda i: i < 2**40 and i < 1 and wg.hann_window(i),
    "fftfreq": lambda i: i < 1 and wg.fft.fftfreq(i),
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
