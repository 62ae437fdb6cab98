"""Random calls of every public function and method with arguments of all kinds, and backward through the results."""

import random

import numpy as np

import wengert as wg

DTYPES = [
    wg.float32, wg.float64, wg.complex64, wg.complex128, wg.int64, wg.int32, wg.int16, wg.int8, wg.uint8, wg.uint32,
    wg.uint64, wg.bool,
]  # fmt: skip
SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (5,),
    (2, 3),
    (0, 3),
    (3, 0),
    (3, 3),
    (4, 4),
    (2, 3, 4),
    (2, 0, 3),
    (1, 2, 4, 4),
    (1,) * 7,
]
NAMESPACES = ["", "nn.functional", "linalg", "fft", "special"]
# They change what later cases rely on, print, wait, or are asked elsewhere.
LEFT_OUT = {
    "set_default_dtype", "set_num_threads", "set_grad_enabled", "set_printoptions", "manual_seed", "seed", "save",
    "load", "set_anomaly_enabled", "inference_mode", "enable_grad", "no_grad", "set_default_device",
    "set_strict_singular", "use_deterministic_algorithms", "set_flush_denormal", "set_rng_state",
    "set_num_interop_threads",
}  # fmt: skip


def functions():
    found = {}
    for path in NAMESPACES:
        module = wg
        for part in filter(None, path.split(".")):
            module = getattr(module, part)
        for name in dir(module):
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type) and not name.startswith("_"):
                found[f"{path}.{name}".lstrip(".")] = function
    for name in dir(wg.Tensor):
        if callable(getattr(wg.Tensor, name)) and name not in dir(object):
            found[f"Tensor.{name}"] = getattr(wg.Tensor, name)
    return {name: f for name, f in sorted(found.items()) if name.split(".")[-1] not in LEFT_OUT}


class Subclass(wg.Tensor):
    pass


class Awkward:
    """Answers every protocol, each with something odd."""

    def __init__(self, rng):
        self.rng = rng

    def odd(self, *args, **kwargs):
        return self.rng.choice([None, 1, -1, 1.5, "a", [], self, np.zeros(2), 2**70])

    __index__ = __len__ = __float__ = __int__ = __bool__ = __iter__ = __getitem__ = __array__ = __eq__ = odd
    __hash__ = object.__hash__


class Arguments:
    def __init__(self, rng):
        self.rng = rng

    def tensor(self):
        rng = self.rng
        shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
        size = int(np.prod(shape))
        values = np.array([rng.choice([0, 1, -1, 2, 3, 0.5, -2.5]) for _ in range(size)]).reshape(shape)
        if rng.random() < 0.15 and (dtype.is_floating_point or dtype.is_complex) and size:
            values.flat[rng.randrange(size)] = rng.choice([np.nan, np.inf, -np.inf, 1e30])
        t = wg.tensor(values).to(dtype)
        if (dtype.is_floating_point or dtype.is_complex) and rng.random() < 0.5:
            t.requires_grad_()
            if rng.random() < 0.4:
                t = t * 1
        kind = rng.random()
        if kind < 0.1 and t.dim() >= 2:
            t = t.transpose(0, -1)
        elif kind < 0.2 and t.dim() >= 1:
            t = t[::2]
        elif kind < 0.25 and t.dim() >= 1:
            t = t[:1].expand(rng.choice([0, 2, 5]), *t.shape[1:])
        elif kind < 0.3:
            t = t.as_subclass(Subclass)
        return t

    def index(self):
        rng = self.rng
        values = [rng.choice([0, 0, 1, 1, 2, -1, 7, 2**62, -(2**63)]) for _ in range(rng.randrange(4))]
        return wg.tensor(values, dtype=wg.int64).reshape(rng.choice([(-1,), (1, -1), (-1, 1)]) if values else (0,))

    def array(self):
        return self.rng.choice(
            [
                np.zeros(3),
                np.zeros((2, 3))[:, ::-1],
                np.zeros(3, dtype=">f8"),
                np.zeros(3, dtype=np.float16),
                np.zeros(2, dtype=object),
                np.array(["a", "b"]),
                np.zeros(2, dtype=[("a", "f4"), ("b", "i8")]),
                np.array("2020-01-01", dtype="M8[D]"),
                np.zeros((0, 2)),
                np.float32(1.5),
                np.int8(-3),
                np.uint64(2**64 - 1),
                np.bool_(True),
                np.broadcast_to(np.zeros(1), (2, 3)),
                np.frombuffer(b"12345678", dtype=np.float64),
            ]
        )

    def integer(self):
        return self.rng.choice([0, 0, 1, 1, 2, 3, -1, -1, -2, 5, -7, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63, 2**70])

    def number(self):
        return self.rng.choice([0.0, -0.0, 0.5, 1.0, -1.5, float("nan"), float("inf"), 1e300, 1e-300, 1j, True, False])

    def odd(self):
        rng = self.rng
        return rng.choice(
            [
                None, "", "sum", "mean", "none", "reflect", "trunc", "ij,jk->ik", "\ud800", b"abc", object(), {},
                {"a": 1}, slice(None), slice(5, -9, 2), ..., int, wg.float64, wg.int8, wg.device("cpu"), range(3),
                lambda *a: None, memoryview(b"1234"), wg.Size((2, 3)), set(), iter([1]), Awkward(rng),
                NotImplemented, wg, wg.Tensor,
            ]
        )  # fmt: skip

    def sequence(self):
        rng = self.rng
        kind = rng.choice([self.tensor, self.integer, self.integer, self.index, self.number, self.any])
        values = [kind() for _ in range(rng.randrange(4))]
        if values and rng.random() < 0.3:
            values = values[:1] * rng.randrange(1, 5)
        return tuple(values) if rng.random() < 0.5 else values

    def any(self):
        kinds = [self.tensor] * 6 + [
            self.index,
            self.integer,
            self.integer,
            self.number,
            self.sequence,
            self.odd,
            self.array,
        ]
        return self.rng.choice(kinds)()


def backward(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    for t in results:
        if isinstance(t, wg.Tensor) and t.numel() < 10**6:
            repr(t)
            if t.requires_grad:
                t.real.sum().backward(retain_graph=True) if t.is_complex() else t.sum().backward(retain_graph=True)


def cases(seed, count):
    rng = random.Random(seed)
    table = list(functions().items())
    for _ in range(count):
        name, function = rng.choice(table)
        state = rng.random()

        def case(function=function, name=name, state=state):
            arguments = Arguments(random.Random(state))
            given = [arguments.any() for _ in range(arguments.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5]))]
            if name.startswith("Tensor.") or arguments.rng.random() < 0.7:
                given.insert(0, arguments.tensor())
            keywords = {}
            if arguments.rng.random() < 0.3:
                word = arguments.rng.choice(
                    ["dim", "keepdim", "out", "dtype", "axis", "size", "reduction", "\ud800", "self"]
                )
                keywords[word] = arguments.any()
            backward(function(*given, **keywords))

        yield name, case
