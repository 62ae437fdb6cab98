"""Files that one package writes and the other reads."""

import io
from collections import OrderedDict

import numpy as np
import pytest

import wengert as wg
from wengert.utils import safetensors

torch = pytest.importorskip("torch")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip


def content(backend):
    """Return an object with everything that files hold, made of the tensors of a package."""
    generator = np.random.default_rng(0)
    x = backend.tensor(generator.standard_normal((4, 3)))
    tagged, parameter = backend.ones(2), backend.nn.Parameter(backend.arange(3.0), requires_grad=False)
    tagged.tag = parameter.tag = "a"
    state = OrderedDict(x=x)
    state._metadata = {"version": 1}
    return {
        "shared": [x, x[1:], x.T, x[:, ::2], x[0, 0]],
        "empty": backend.empty(0, 3),
        "expanded": backend.ones(1).expand(3),
        "conjugate": backend.tensor([1 + 2j]).conj(),
        "wants grad": backend.ones(2, requires_grad=True),
        "dtypes": {name: backend.arange(3).to(getattr(backend, name)) for name in DTYPES},
        "parameter": parameter,
        "tagged": tagged,
        "state": state,
        "plain": [None, True, 3, -(2**70), 0.5, "ü", b"\xff", bytearray(b"x"), 1j, (1, (2,)), {1, 2}, {(1, 2): 3}],
        "of the package": [x.shape, backend.float32, backend.device("cpu"), backend.device("cpu:0"), backend.strided],
    }


def values(tensor):
    plain = tensor.detach().resolve_conj()
    return (plain.float() if str(plain.dtype).endswith("bfloat16") else plain).numpy()


def assert_same(ours, theirs):
    """Compare objects of the two packages, tensors with their geometry and attributes."""
    if isinstance(ours, wg.Tensor):
        assert str(ours.dtype).rpartition(".")[2] == str(theirs.dtype).rpartition(".")[2]
        assert (tuple(ours.shape), ours.stride()) == (tuple(theirs.shape), theirs.stride())
        assert (ours.storage_offset(), ours.requires_grad) == (theirs.storage_offset(), theirs.requires_grad)
        assert type(ours).__name__ == type(theirs).__name__
        assert getattr(ours, "tag", None) == getattr(theirs, "tag", None)
        np.testing.assert_array_equal(values(ours), values(theirs))
    elif isinstance(ours, dict):
        assert getattr(ours, "_metadata", None) == getattr(theirs, "_metadata", None)
        assert list(ours) == list(theirs)
        for own, their in zip(ours.values(), theirs.values(), strict=True):
            assert_same(own, their)
    elif isinstance(ours, (list, tuple)):
        assert type(ours).__name__ == type(theirs).__name__
        for own, their in zip(ours, theirs, strict=True):
            assert_same(own, their)
    else:
        assert str(ours).replace("wengert", "torch") == str(theirs)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("writer", ["wengert", "torch"])
def test_exchange(writer, mmap, tmp_path):
    path = str(tmp_path / "x.pt")
    package = wg if writer == "wengert" else torch
    package.save(content(package), path)
    ours, theirs = wg.load(path, mmap=mmap), torch.load(path, weights_only=True, mmap=mmap)
    assert_same(ours, theirs)
    assert_same(ours["plain"], content(torch)["plain"])
    ours["shared"][0][1, 0] = 9
    assert ours["shared"][1][0, 0] == ours["shared"][2][0, 1] == 9


def test_training_state():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    assert_same(wg.load(file), state)


def trained(backend):
    """Return a model and its optimizer after a step."""
    model = backend.nn.Sequential(backend.nn.Linear(3, 2), backend.nn.BatchNorm1d(2))
    optimizer = backend.optim.Adam(model.parameters())
    model(backend.ones(4, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.mark.parametrize(("writer", "reader"), [(wg, torch), (torch, wg)], ids=["ours", "theirs"])
def test_models_and_optimizers_move(writer, reader):
    model, optimizer = trained(writer)
    file = io.BytesIO()
    writer.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    state = reader.load(file, weights_only=True)
    other, other_optimizer = trained(reader)
    other.load_state_dict(state["model"])
    other_optimizer.load_state_dict(state["optimizer"])
    for own, their in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        np.testing.assert_array_equal(own.detach().numpy(), their.detach().numpy())


def test_dtypes_that_are_not_here():
    file = io.BytesIO()
    torch.save(torch.ones(2).to(torch.float8_e5m2), file)
    file.seek(0)
    with pytest.raises(Exception, match="Weights only load failed"):
        wg.load(file)


def test_safetensors_of_the_package(tmp_path):
    public = pytest.importorskip("safetensors.torch")
    generator = np.random.default_rng(0)
    array = generator.standard_normal((3, 2)).astype(np.float32)
    public.save_file({"x": torch.tensor(array), "i": torch.arange(3)}, tmp_path / "theirs", {"a": "b"})
    safetensors.save_file({"x": wg.tensor(array), "i": wg.arange(3)}, tmp_path / "ours", {"a": "b"})
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()
    for name in ("theirs", "ours"):
        assert_same(safetensors.load_file(tmp_path / name), public.load_file(tmp_path / name))
