"""Programs with modules in Wengert and in PyTorch: what they print, raise and compute."""

from __future__ import annotations

import copy
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def shown(value: Any, b: Any) -> Any:
    """A value in a form in which those of both libraries compare."""
    if isinstance(value, b.Tensor):
        return value.detach().numpy().tolist()
    if isinstance(value, dict):
        return {key: shown(v, b) for key, v in value.items()}
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__") or type(value).__name__ == "dict_keys":
        return [shown(v, b) for v in value]
    if isinstance(value, (int, float, bool, type(None))):
        return value
    return re.sub(r" at 0x\w+", "", str(value).replace("torch", "wengert"))


def close(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-11)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            close(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert isinstance(ours, list)
        assert len(ours) == len(theirs), (ours, theirs)
        for o, t in zip(ours, theirs, strict=True):
            close(o, t)
    elif isinstance(theirs, str) and "Error: " in theirs:  # messages may say more
        assert ours.startswith(theirs)
    else:
        assert ours == theirs


def weights(b: Any, module: Any, seed: int = 0) -> Any:
    """Give a module parameters that are the same in both libraries, in double precision."""
    generator = np.random.default_rng(seed)
    module.double()
    with b.no_grad():
        for parameter in module.parameters():
            parameter.copy_(b.tensor(generator.normal(0, 0.5, tuple(parameter.shape))))
    return module


def numbers(b: Any, *shape: int, seed: int = 1, grad: bool = False) -> Any:
    return b.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=grad)


# Hooks


@program
def order_of_hooks(b: Any) -> list[str]:
    log: list[str] = []
    module = b.nn.Sequential(b.nn.Linear(2, 2), b.nn.Tanh())
    note = lambda name: lambda *a: log.append(f"{name} {len(a)} {type(a[0]).__name__}")  # noqa: E731
    handles = [
        b.nn.modules.module.register_module_forward_pre_hook(note("global pre")),
        b.nn.modules.module.register_module_forward_hook(note("global")),
        b.nn.modules.module.register_module_full_backward_pre_hook(note("global backward pre")),
        b.nn.modules.module.register_module_full_backward_hook(note("global backward")),
    ]
    for m in (module, module[0]):
        m.register_forward_pre_hook(note("pre 1"))
        m.register_forward_pre_hook(note("pre 2"), prepend=True, with_kwargs=True)
        m.register_forward_hook(note("hook 1"))
        m.register_forward_hook(note("hook 2"), with_kwargs=True)
        m.register_forward_hook(note("hook 3"), prepend=True, always_call=True)
        m.register_full_backward_pre_hook(note("backward pre 1"))
        m.register_full_backward_pre_hook(note("backward pre 2"), prepend=True)
        m.register_full_backward_hook(note("backward 1"))
        m.register_full_backward_hook(note("backward 2"), prepend=True)
    module(b.ones(3, 2, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    log.append("removed")
    module(b.ones(3, 2))
    return log


@program
def hooks_that_change(b: Any) -> list[Any]:
    m = b.nn.Linear(2, 2)
    weights(b, m)
    m.register_forward_pre_hook(lambda m, args: args[0] * 2)
    m.register_forward_pre_hook(lambda m, args, kwargs: ((args[0] + 1,), kwargs), with_kwargs=True)
    m.register_forward_hook(lambda m, args, output: output * 3)
    m.register_full_backward_pre_hook(lambda m, g: (g[0] * 5,))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 7,))
    x = numbers(b, 3, 2, grad=True)
    y = m(x)
    y.sum().backward()
    return [y, x.grad, m.weight.grad]


@program
def always_called(b: Any) -> list[str]:
    log: list[str] = []

    class Broken(b.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("broken")

    m = Broken()
    m.register_forward_hook(lambda *a: log.append("not called"))
    m.register_forward_hook(lambda m, args, out: log.append(f"called {out}"), always_call=True)

    def fails(*a: Any) -> None:
        raise RuntimeError("hook fails")

    m.register_forward_hook(fails, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            m(1)
        except ValueError as error:
            log.append(str(error))
    return log + [str(w.message) for w in caught]


@program
def non_full_backward_hook(b: Any) -> list[Any]:
    log: list[Any] = []
    m = b.nn.Tanh()
    m.register_backward_hook(lambda m, gi, go: log.append(go))
    m(numbers(b, 3, 2, grad=True) * 1).sum().backward()
    return log


@program
def hooks_of_registration(b: Any) -> list[str]:
    log: list[str] = []
    module = b.nn.modules.module
    note = lambda what: lambda m, name, value: log.append(f"{what} {type(m).__name__} {name} {type(value).__name__}")  # noqa: E731
    handles = [
        module.register_module_parameter_registration_hook(note("parameter")),
        module.register_module_buffer_registration_hook(note("buffer")),
        module.register_module_module_registration_hook(note("module")),
    ]
    m = b.nn.Sequential(b.nn.Linear(2, 2, bias=False), b.nn.BatchNorm1d(2))
    m.register_buffer("own", b.ones(1))
    m.child = b.nn.ReLU()
    for handle in handles:
        handle.remove()
    return log


# Attributes


class Holder:
    """What errors of attributes are tried on."""


def tried(function: Callable[[], Any]) -> str:
    try:
        return f"{function()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@program
def errors_of_attributes(b: Any) -> list[str]:
    class Early(b.nn.Module):
        def __init__(self, what: Any) -> None:
            self.x = what

    m = b.nn.Linear(2, 3)
    m.register_buffer("b", b.ones(1))
    m.child = b.nn.ReLU()
    p = b.nn.Parameter(b.ones(1))
    return [
        tried(call)
        for call in (
            lambda: Early(p),
            lambda: Early(b.nn.ReLU()),
            lambda: Early(3).x,
            lambda: b.nn.Module(3),
            lambda: b.nn.Module(a=3),
            lambda: b.nn.Module()(3),
            lambda: m.nothing,
            lambda: setattr(m, "weight", b.ones(2)),
            lambda: setattr(m, "weight", 3),
            lambda: setattr(m, "child", 3),
            lambda: m.register_parameter(3, p),
            lambda: m.register_parameter("", p),
            lambda: m.register_parameter("child", p),
            lambda: m.register_parameter("q", b.ones(1)),
            lambda: m.register_buffer(3, p),
            lambda: m.register_buffer("weight", p),
            lambda: m.register_buffer("q", 3),
            lambda: m.add_module("a.b", b.nn.ReLU()),
            lambda: m.add_module("q", 3),
            lambda: m.add_module("weight", b.nn.ReLU()),
            lambda: m.get_submodule("x"),
            lambda: m.get_submodule("weight"),
            lambda: m.get_parameter("child"),
            lambda: m.get_buffer("weight"),
            lambda: m.train(3),
            lambda: m.load_state_dict(3),
            lambda: delattr(m, "nothing"),
        )
    ]


@program
def changes_of_kind(b: Any) -> list[Any]:
    m = b.nn.Module()
    log: list[Any] = []

    def note() -> None:
        log.append([list(m._parameters), list(m._buffers), list(m._modules), "x" in dir(m), list(m.state_dict())])

    m.x = 3
    note()
    m.x = b.nn.ReLU()
    note()
    m.x = b.nn.Parameter(b.ones(1))
    note()
    log.append(tried(lambda: setattr(m, "x", b.nn.ReLU())))
    m.x = None
    log.append(m.x)
    note()
    del m.x
    note()
    m.register_buffer("x", b.ones(1), persistent=False)
    note()
    m.x = b.zeros(1)
    log.append(m.x)
    m.x = b.nn.Parameter(b.ones(1))
    note()
    m.x = None
    note()
    m.y = b.nn.Buffer(b.ones(1), persistent=False)
    note()
    m._parameters["x"] = b.nn.Parameter(b.full((1,), 7.0))
    log.append(m.x)
    m._parameters.pop("x")
    log.append(hasattr(m, "x"))
    return log


@program
def shared_and_nested(b: Any) -> list[Any]:
    shared = b.nn.Linear(2, 2)
    m = b.nn.Sequential(OrderedDict([("a", shared), ("b", b.nn.Sequential(shared, b.nn.BatchNorm1d(2)))]))
    m.none = None
    m.c = None
    m.register_module("d", None)
    return [
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_modules(remove_duplicate=False)],
        [n for n, _ in m.named_modules(prefix="p")],
        [n for n, _ in m.named_children()],
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters("p", remove_duplicate=False)],
        [n for n, _ in m.named_parameters(recurse=False)],
        [n for n, _ in m.named_buffers()],
        list(m.state_dict()),
        list(m.state_dict(prefix="q.")),
        m.state_dict()._metadata,
        repr(m),
    ]


# State dicts


@program
def errors_of_loading(b: Any) -> list[str]:
    m = b.nn.Sequential(b.nn.Linear(2, 3), b.nn.BatchNorm1d(3))
    good = m.state_dict()
    bad = OrderedDict(good)
    del bad["0.bias"]
    bad["1.weight"] = b.ones(4)
    bad["2.weight"] = b.ones(4)
    bad["x"] = b.ones(4)
    bad["0.weight"] = 3
    part = {"0.weight": b.ones(3, 2), "y": b.ones(1)}
    return [
        tried(lambda: m.load_state_dict(bad)),
        tried(lambda: m.load_state_dict(part, strict=False)),
        tried(lambda: m.load_state_dict(good)),
        tried(lambda: b.nn.Sequential(b.nn.Linear(2, 3)).load_state_dict({"0.weight": b.ones(3, 2)})),
    ]


@program
def extra_state(b: Any) -> list[Any]:
    class Extra(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = 3

        def get_extra_state(self) -> Any:
            return {"kept": self.kept}

        def set_extra_state(self, state: Any) -> None:
            self.kept = state["kept"] + 1

    m = b.nn.Sequential(Extra())
    state = m.state_dict()
    m.load_state_dict(state)
    return [state, m[0].kept, tried(lambda: m.load_state_dict({})), tried(lambda: b.nn.ReLU().load_state_dict(state))]


@program
def hooks_of_state_dicts(b: Any) -> list[Any]:
    log: list[Any] = []
    m = weights(b, b.nn.Sequential(b.nn.Linear(1, 1)))
    m[0].register_state_dict_pre_hook(lambda m, prefix, keep: log.append(["pre", prefix, keep]))
    m[0].register_state_dict_post_hook(lambda m, state, prefix, meta: log.append(["post", list(state), prefix, meta]))
    m[0]._register_state_dict_hook(lambda m, state, prefix, meta: log.append(["old", list(state), prefix]))
    m[0].register_load_state_dict_pre_hook(
        lambda m, state, prefix, meta, strict, missing, unexpected, errors: log.append(["load", list(state), prefix])
    )
    m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = m.state_dict(keep_vars=True)
    del state["0.bias"]
    log.append(str(m.load_state_dict(state)))
    return log


@program
def assigning(b: Any) -> list[Any]:
    m = b.nn.Linear(2, 1)
    m.weight.requires_grad_(False)
    state = {"weight": b.ones(1, 2, dtype=b.float64), "bias": b.nn.Parameter(b.zeros(1, dtype=b.float64))}
    m.load_state_dict(state, assign=True)
    return [
        m.bias is state["bias"],
        m.weight.dtype,
        m.weight.requires_grad,
        m.bias.requires_grad,
        type(m.weight).__name__,
    ]


# Conversion, copies


@program
def conversions(b: Any) -> list[Any]:
    m = b.nn.BatchNorm1d(2)
    m(b.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    parameter = m.weight
    log = [m.double() is m, m.weight is parameter, m.weight.dtype, m.weight.grad.dtype]
    log += [m.running_mean.dtype, m.num_batches_tracked.dtype]
    m.to(b.float32)
    log += [m.weight.dtype, m.num_batches_tracked.dtype, tried(lambda: m.to(b.int64))]
    m.to(b.ones(1, dtype=b.float64))
    log += [m.bias.dtype]
    m.requires_grad_(False)
    log += [m.weight.requires_grad, m.eval().training, m.train().training]
    m.zero_grad()
    log += [m.weight.grad]
    return log


@program
def copies(b: Any) -> list[Any]:
    m = weights(b, b.nn.Sequential(b.nn.Linear(2, 2), b.nn.Tanh()))
    m[0].register_forward_hook(lambda m, args, out: out * 2)
    x = numbers(b, 3, 2)
    copied = copy.deepcopy(m)
    with b.no_grad():
        m[0].weight.fill_(0)
    copied[0]._parameters["bias"] = b.nn.Parameter(b.ones(2, dtype=b.float64))
    return [copied(x), m(x), copied[0].weight is m[0].weight, copied[0].bias]


# Containers


@program
def sequences(b: Any) -> list[Any]:
    nn = b.nn
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    log: list[Any] = [len(s), s[1], s[-1], s[:2], s[0:0], list(s)]
    s.append(nn.ELU())
    s.insert(1, nn.GELU())
    log.append(repr(s))
    del s[0]
    log.append(repr(s))
    s[0] = nn.ReLU6()
    s.extend([nn.Hardtanh()])
    log += [repr(s), s.pop(0), repr(s), repr(s + nn.Sequential(nn.ReLU())), repr(nn.Sequential(nn.ReLU()) * 2)]
    s += nn.Sequential(nn.CELU())
    log += [repr(s), tried(lambda: s[9]), tried(lambda: s + 3), tried(lambda: nn.Sequential(3))]
    return log


@program
def lists(b: Any) -> list[Any]:
    nn = b.nn
    m = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    log: list[Any] = [repr(m), len(m), m[1:], m[-1]]
    m.append(nn.Tanh())
    m.insert(0, nn.Linear(2, 2))
    log.append(repr(m))
    del m[1]
    log.append(repr(m))
    m += [nn.ELU()]
    m[0] = nn.Sequential(nn.ReLU())
    log += [repr(m), repr(m + nn.ModuleList([nn.ReLU()])), m.pop(-1), [n for n, _ in m.named_children()]]
    log += [tried(lambda: m[9]), tried(lambda: m.extend(3)), repr(nn.ModuleList()), "0" in dir(m)]
    del m[:2]
    return [*log, repr(m), [n for n, _ in m.named_children()]]


@program
def dictionaries(b: Any) -> list[Any]:
    nn = b.nn
    m = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    log: list[Any] = [repr(m), len(m), list(m), "a" in m, m["b"], list(m.keys()), list(m.values())]
    m["c"] = nn.ELU()
    m.update([["d", nn.GELU()]])
    log += [repr(m), m.pop("a"), list(m.items())]
    del m["b"]
    log += [repr(m), tried(lambda: m.update(3)), tried(lambda: m["zz"])]
    m.clear()
    return [*log, repr(m)]


@program
def parameter_containers(b: Any) -> list[Any]:
    nn = b.nn
    p = nn.ParameterList([b.ones(2), nn.Parameter(b.zeros(2, 3)), 3])
    log: list[Any] = [repr(p), len(p), p[0], p[-1], [n for n, _ in p.named_parameters()], list(p.state_dict())]
    p.append(b.ones(1))
    p[0] = b.zeros(2)
    log += [repr(p), p[1:3], len(p), tried(lambda: p[7]), tried(lambda: p.extend(3)), repr(nn.ParameterList())]
    d = nn.ParameterDict({"x": b.ones(2), "y": 3})
    d["z"] = nn.Parameter(b.zeros(1))
    log += [repr(d), len(d), list(d), "x" in d, list(d.keys()), d["y"], [n for n, _ in d.named_parameters()]]
    d.update({"w": b.ones(3)})
    log += [list(d.items()), d.pop("x"), d.get("nothing", 5), d.setdefault("v", b.ones(1)), list(d.state_dict())]
    return [*log, tried(lambda: d["x"]), tried(lambda: p(3)), list((d | {"k": 3}).keys()), d.popitem()]


# Layers


@program
def masks_of_attention(b: Any) -> list[Any]:
    m = weights(b, b.nn.MultiheadAttention(6, 2, batch_first=True))
    q, k = numbers(b, 2, 3, 6), numbers(b, 2, 4, 6, seed=2)
    causal = b.ones(3, 4).triu(2).bool()
    hidden = b.tensor([[False, False, False, True], [False, True, False, False]])
    log = []
    for need in (True, False):
        for options in (
            {"attn_mask": causal},
            {"key_padding_mask": hidden},
            {"attn_mask": causal, "key_padding_mask": hidden, "average_attn_weights": False},
            {"attn_mask": numbers(b, 4, 3, 4, seed=3)},
            {"attn_mask": causal, "is_causal": False},
        ):
            log.append(m(q, k, k, need_weights=need, **options))
    return log


@program
def masks_of_transformers(b: Any) -> list[Any]:
    m = weights(b, b.nn.Transformer(6, 2, 2, 2, 8, 0.0, batch_first=True))
    src, tgt = numbers(b, 2, 4, 6), numbers(b, 2, 3, 6, seed=2)
    mask = b.nn.Transformer.generate_square_subsequent_mask(3, dtype=b.float64)
    hidden = b.tensor([[0.0, 0.0, 0.0, -np.inf], [0.0, 0.0, 0.0, 0.0]], dtype=b.float64)
    return [
        mask,
        m(src, tgt, tgt_mask=mask, tgt_is_causal=True),
        m(src, tgt, src_key_padding_mask=hidden, memory_key_padding_mask=hidden),
        m(src, tgt, tgt_mask=mask.isinf()),
        tried(lambda: m(src, tgt[:1])),
        tried(lambda: m(src[..., :5], tgt)),
    ]


@program
def packing(b: Any) -> list[Any]:
    rnn = b.nn.utils.rnn
    x = numbers(b, 4, 3, 2, grad=True)
    packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)
    (padded * padded).sum().backward()
    parts = [numbers(b, n, 2, seed=n) for n in (3, 2, 1)]
    again = rnn.pack_sequence(parts)
    return [
        *packed,
        padded,
        lengths,
        x.grad,
        *again[:2],
        rnn.unpack_sequence(again),
        rnn.pad_sequence(parts),
        rnn.pad_sequence(parts, True, 7.0, "left"),
        rnn.unpad_sequence(rnn.pad_sequence(parts), b.tensor([3, 2, 1])),
        tried(lambda: rnn.pack_padded_sequence(x, [2, 4, 1])),
        tried(lambda: rnn.pad_packed_sequence(packed, total_length=2)),
        packed.float().data.dtype,
        type(packed.to(b.float32)).__name__,
    ]


@program
def recurrent_layers_of_packed_sequences(b: Any) -> list[Any]:
    log: list[Any] = []
    for make in (
        lambda: b.nn.LSTM(2, 3, 2, bidirectional=True, proj_size=2),
        lambda: b.nn.LSTM(2, 3, bias=False),
        lambda: b.nn.GRU(2, 3, 2, bidirectional=True),
        lambda: b.nn.RNN(2, 3, nonlinearity="relu"),
    ):
        m = weights(b, make())
        for batch_sorted in (True, False):
            x = numbers(b, 4, 3, 2, grad=True)
            lengths = [4, 2, 1] if batch_sorted else [2, 4, 1]
            packed = b.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=batch_sorted)
            out, last = m(packed)
            flat = [out.data, *(last if isinstance(last, tuple) else [last])]
            sum((t * t).sum() for t in flat).backward()
            log += [*flat, x.grad, *(p.grad for p in m.parameters())]
            _, again = m(packed, last)
            log.append(again)
    return log


@program
def errors_of_recurrent_layers(b: Any) -> list[str]:
    nn = b.nn
    m, c = nn.LSTM(2, 3), nn.GRUCell(2, 3)
    return [
        tried(call)
        for call in (
            lambda: nn.LSTM(2, 3, proj_size=3),
            lambda: nn.LSTM(2, 0),
            lambda: nn.LSTM(2, 3, 0),
            lambda: nn.LSTM(2, 3, dropout=2),
            lambda: nn.RNN(2, 3, nonlinearity="x"),
            lambda: m(b.ones(2)),
            lambda: m(b.ones(4, 2, 5)),
            lambda: m(b.ones(4, 2, 2), (b.ones(1, 2, 4), b.ones(1, 2, 3))),
            lambda: m(b.ones(4, 2, 2), (b.ones(1, 2, 3), b.ones(1, 3, 3))),
            lambda: c(b.ones(1, 1, 1)),
            lambda: nn.MultiheadAttention(0, 1),
            lambda: nn.MultiheadAttention(5, 2),
            lambda: nn.Conv2d(3, 4, 2, groups=2),
            lambda: nn.Conv2d(4, 4, 2, padding="same", stride=2),
            lambda: nn.Dropout(2),
            lambda: nn.BatchNorm2d(2)(b.ones(2, 2)),
            lambda: nn.TripletMarginLoss(-1.0),
            lambda: nn.MultiMarginLoss(3),
            lambda: nn.TransformerEncoderLayer(4, 2, activation="x"),
            lambda: nn.Softmax2d()(b.ones(2)),
            lambda: nn.Unflatten(0, ("a",)),
            lambda: nn.ConvTranspose2d(1, 1, 2, padding_mode="reflect"),
            lambda: nn.ReLU(1, 2),
            lambda: nn.GaussianNLLLoss(True),
        )
    ]


@program
def output_sizes_of_transposed_convolutions(b: Any) -> list[Any]:
    m = weights(b, b.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1))
    x = numbers(b, 1, 2, 3, 3)
    return [m(x, output_size=(6, 6)), m(x, (1, 3, 5, 6)), tried(lambda: m(x, (7, 7))), tried(lambda: m(x, (7,)))]


@program
def embeddings_made_of_matrices(b: Any) -> list[Any]:
    matrix = numbers(b, 4, 3)
    e = b.nn.Embedding.from_pretrained(matrix, padding_idx=1)
    f = b.nn.EmbeddingBag.from_pretrained(matrix, freeze=False, mode="sum")
    return [
        e,
        e.weight.requires_grad,
        e.padding_idx,
        f,
        f.weight.requires_grad,
        f(b.tensor([[0, 1]])),
        e(b.tensor([2])),
    ]


@program
def softmax_without_a_dimension(b: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [b.nn.Softmax()(numbers(b, 2, 3)), b.nn.Softmin()(numbers(b, 2, 3, 2)), b.nn.LogSoftmax()(numbers(b, 3))]


@program
def reductions_of_old(b: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            b.nn.MSELoss(size_average=False).reduction,
            b.nn.L1Loss(reduce=False).reduction,
            b.nn.CrossEntropyLoss(size_average=True).reduction,
            b.nn.KLDivLoss(False, True).reduction,
        ]


@program
def losses_of_programs(b: Any) -> list[Any]:
    loss = b.nn.modules.loss

    class Scaled(loss._Loss):
        def __init__(self, scale: float, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
            super().__init__(size_average, reduce, reduction)
            self.scale = scale

        def forward(self, input: Any, target: Any) -> Any:
            return b.nn.functional.mse_loss(input, target, reduction=self.reduction) * self.scale

    class Focal(loss._WeightedLoss):
        def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"):
            super().__init__(weight, size_average, reduce, reduction)

        def forward(self, input: Any, target: Any) -> Any:
            return b.nn.functional.cross_entropy(input, target, self.weight, reduction=self.reduction)

    x, y = numbers(b, 3, 2), numbers(b, 3, 2, seed=2)
    weight = b.tensor([0.5, 2.0], dtype=b.float64)
    made = [Scaled(2.0), Scaled(2.0, reduction="sum"), loss._Loss(reduction="none"), loss._WeightedLoss(weight)]
    focal = [Focal(), Focal(weight), Focal(weight, reduction="sum")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        old = [Scaled(2.0, False), Focal(weight, None, False), loss._Loss(True)]
    return [
        *((repr(m), m.reduction, m.state_dict(), "weight" in m._buffers) for m in (*made, *focal, *old)),
        *(m(x, y) for m in (*made[:2], old[0])),
        *(m(x, b.tensor([0, 1, 1])) for m in (*focal, old[1])),
        [str(w.message) for w in caught],
        [isinstance(m, loss._Loss) for m in (b.nn.HuberLoss(), b.nn.MSELoss(), b.nn.BCELoss(), focal[0])],
    ]


# Tools


@program
def clipping(b: Any) -> list[Any]:
    log: list[Any] = []
    for norm_type in (2.0, 1, float("inf")):
        p = [b.nn.Parameter(numbers(b, 3)), b.nn.Parameter(numbers(b, 2, 2, seed=2)), b.nn.Parameter(b.ones(1))]
        (p[0].pow(2).sum() * 3 + p[1].pow(3).sum()).backward()
        log += [b.nn.utils.clip_grad_norm_(p, 0.5, norm_type), p[0].grad, p[1].grad]
        b.nn.utils.clip_grad_value_(p, 0.05)
        log += [p[0].grad, b.nn.utils.get_total_norm([q.grad for q in p[:2]])]
    p[0].grad.fill_(float("inf"))
    log.append(tried(lambda: b.nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)))
    m = weights(b, b.nn.Linear(2, 2))
    vector = b.nn.utils.parameters_to_vector(m.parameters())
    b.nn.utils.vector_to_parameters(vector * 2, m.parameters())
    return [*log, vector, m.weight, m.bias]


@program
def parametrizations(b: Any) -> list[Any]:
    class Symmetric(b.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Doubled(b.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

        def right_inverse(self, x: Any) -> Any:
            return x / 2

    parametrize = b.nn.utils.parametrize
    m = weights(b, b.nn.Linear(3, 3))
    parametrize.register_parametrization(m, "weight", Symmetric())
    parametrize.register_parametrization(m, "weight", Doubled())
    x = numbers(b, 2, 3)
    m(x).pow(2).sum().backward()
    log: list[Any] = [repr(m), list(m.state_dict()), m.weight, m.parametrizations.weight.original.grad]
    log += [
        [n for n, _ in m.named_parameters()],
        parametrize.is_parametrized(m),
        parametrize.is_parametrized(m, "bias"),
    ]
    m.weight = b.eye(3, dtype=b.float64)
    log += [m.weight, copy.deepcopy(m).weight, type(m).__name__]
    with parametrize.cached():
        log.append(m.weight is m.weight)
    parametrize.remove_parametrizations(m, "weight")
    log += [repr(m), m.weight, type(m).__name__]
    parametrize.register_parametrization(m, "weight", Doubled())
    parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    log += [m.weight, [n for n, _ in m.named_parameters()]]
    log.append(tried(lambda: parametrize.register_parametrization(m, "nothing", Doubled())))
    return log


@program
def weight_norms(b: Any) -> list[Any]:
    log: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for utils in (b.nn.utils, b.nn.utils.parametrizations):
            for dim in (0, 1, None):
                m = weights(b, b.nn.Conv1d(2, 3, 2))
                utils.weight_norm(m, dim=dim)
                x = numbers(b, 1, 2, 4)
                m(x).pow(2).sum().backward()
                log += [list(m.state_dict()), m.weight, *(p.grad for p in m.parameters()), m.state_dict()]
                if utils is b.nn.utils:
                    utils.remove_weight_norm(m)
                    log += [list(m.state_dict()), m.weight]
        log.append(tried(lambda: b.nn.utils.remove_weight_norm(b.nn.Linear(2, 2))))
        old = b.nn.utils.weight_norm(weights(b, b.nn.Linear(2, 2))).state_dict()
        new = b.nn.utils.parametrizations.weight_norm(b.nn.Linear(2, 2).double())
        log += [str(new.load_state_dict(old)), new.weight]
    return log


@program
def spectral_norms(b: Any) -> list[Any]:
    log: list[Any] = []
    for utils in (b.nn.utils, b.nn.utils.parametrizations):
        for make in (lambda: b.nn.Linear(3, 4), lambda: b.nn.ConvTranspose1d(2, 3, 2)):
            m = weights(b, make())
            utils.spectral_norm(m, n_power_iterations=2)
            state = m.state_dict()
            log.append(list(state))
            for key, vector in state.items():
                if key.endswith(("_u", "_v")):
                    vector.fill_(vector.numel() ** -0.5)
            x = numbers(b, 2, 3) if isinstance(m, b.nn.Linear) else numbers(b, 1, 2, 4)
            m(x).pow(2).sum().backward()
            log += [m.weight if utils is b.nn.utils else None, *(p.grad for p in m.parameters()), m.state_dict()]
            log.append(m.eval()(x))
            if utils is b.nn.utils:
                utils.remove_spectral_norm(m)
                log += [list(m.state_dict()), m.weight]
    return log


@program
def orthogonal_weights(b: Any) -> list[Any]:
    log: list[Any] = []
    for shape in ((4, 4), (3, 5), (5, 3)):
        for kind in ("matrix_exp", "cayley", "householder"):
            m = weights(b, b.nn.Linear(shape[1], shape[0], bias=False))
            b.nn.utils.parametrizations.orthogonal(m, orthogonal_map=kind, use_trivialization=False)
            m(numbers(b, 2, shape[1])).pow(3).sum().backward()
            log += [m.weight, m.parametrizations.weight.original.grad, list(m.state_dict())]
            n = b.nn.utils.parametrizations.orthogonal(weights(b, b.nn.Linear(shape[1], shape[0])), orthogonal_map=kind)
            q = n.weight if shape[0] >= shape[1] else n.weight.mT
            log += [bool((q.mT @ q - b.eye(min(shape), dtype=b.float64)).abs().max() < 1e-12), list(n.state_dict())]
    return log


@program
def pruning(b: Any) -> list[Any]:
    import importlib

    prune = importlib.import_module(f"{b.__name__}.nn.utils.prune")
    log: list[Any] = []
    m = weights(b, b.nn.Conv1d(3, 4, 2))
    prune.l1_unstructured(m, "weight", 0.3)
    log += [list(m.state_dict()), m.weight, [n for n, _ in m.named_parameters()], prune.is_pruned(m)]
    prune.ln_structured(m, "weight", 1, n=2, dim=0)
    prune.l1_unstructured(m, "weight", 3, importance_scores=numbers(b, 4, 3, 2))
    m(numbers(b, 1, 3, 5)).pow(2).sum().backward()
    log += [m.weight, m.weight_mask, m.weight_orig.grad]
    log += [[type(h).__name__ for h in m._forward_pre_hooks.values()], len(next(iter(m._forward_pre_hooks.values())))]
    log.append(prune.remove(m, "weight"))
    log += [list(m.state_dict()), m.weight, prune.is_pruned(m), tried(lambda: prune.remove(m, "weight"))]
    prune.custom_from_mask(m, "bias", b.tensor([1, 0, 1, 0]))
    log += [m.bias, tried(lambda: prune.l1_unstructured(m, "weight", 1.5))]
    log += [
        tried(lambda: prune.l1_unstructured(m, "weight", "a")),
        tried(lambda: prune.ln_structured(m, "bias", 1, 2, 0)),
    ]
    pair = b.nn.Sequential(b.nn.Linear(3, 4), b.nn.Linear(4, 2))
    weights(b, pair)
    prune.global_unstructured([(layer, "weight") for layer in pair], prune.L1Unstructured, amount=0.5)
    log += [pair[0].weight, pair[1].weight, list(pair.state_dict())]
    prune.random_unstructured(pair[0], "bias", 2)
    prune.random_structured(pair[1], "weight", 1, 0)
    return [*log, int((pair[0].bias == 0).sum()), prune.identity(b.nn.Linear(2, 2), "weight").weight_mask]


@program
def functional_calls(b: Any) -> list[Any]:
    m = weights(b, b.nn.Sequential(b.nn.Linear(2, 2), b.nn.BatchNorm1d(2)))
    x = numbers(b, 3, 2)
    given = {name: (p * 2).detach().requires_grad_() for name, p in m.named_parameters()}
    out = b.func.functional_call(m, given, (x,))
    out.pow(2).sum().backward()
    log: list[Any] = [out, *(t.grad for t in given.values()), m[0].weight, m(x)]
    log.append(b.nn.utils.stateless.functional_call(m, {"0.bias": b.zeros(2, dtype=b.float64)}, x))
    models = [weights(b, b.nn.Linear(2, 1), seed) for seed in range(3)]
    parameters, buffers = b.func.stack_module_state(models)
    base = models[0]
    call = lambda p, x: b.func.functional_call(base, p, (x,))  # noqa: E731
    log += [b.vmap(call, in_dims=(0, None))(parameters, x), buffers]
    single = {k: v.detach() for k, v in base.named_parameters()}
    gradients = b.vmap(b.func.grad(lambda p, r: call(p, r).pow(2).sum()), in_dims=(None, 0))(single, x)
    return [*log, gradients, tried(lambda: b.func.functional_call(base, {"q": x}, (x,), strict=True))]


@program
def training_of_a_recurrent_network(b: Any) -> list[Any]:
    class Model(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = b.nn.Embedding(5, 4)
            self.rnn = b.nn.LSTM(4, 6, batch_first=True)
            self.out = b.nn.Linear(6, 5)

        def forward(self, x: Any) -> Any:
            return self.out(self.rnn(self.embed(x))[0])

    return trained(b, Model(), b.tensor(np.random.default_rng(3).integers(0, 5, (2, 7))))


@program
def training_of_a_transformer(b: Any) -> list[Any]:
    class Model(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = b.nn.Embedding(5, 4)
            layer = b.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
            self.encoder = b.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.out = b.nn.Linear(4, 5)

        def forward(self, x: Any) -> Any:
            mask = b.nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=b.float64)
            return self.out(self.encoder(self.embed(x), mask=mask, is_causal=True))

    return trained(b, Model(), b.tensor(np.random.default_rng(3).integers(0, 5, (2, 7))))


def trained(b: Any, model: Any, x: Any) -> list[Any]:
    """Losses of a few steps, and the parameters after them."""
    weights(b, model)
    loss_function = b.nn.CrossEntropyLoss()
    optimizer = b.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = loss_function(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, model.state_dict()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "enable_nested_tensor|dropout option adds|.*stateless.functional_call")
        ours, theirs = (shown(PROGRAMS[name](b), b) for b in (wg, torch))
    close(ours, theirs)
