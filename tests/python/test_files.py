"""Objects with tensors in files: what is kept, and what is not saved."""

import io
import os
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import wengert as wg

KEPT = {
    "none": None, "true": True, "zero": 0, "byte": 255, "negative": -3, "long": 2**31, "longer": -(2**80), "float": 0.1,
    "infinite": float("inf"), "complex": 1 + 2j, "text": "grün \ud800 \n", "bytes": bytes(range(256)),
    "bytearray": bytearray(b"ab"), "tuple": (1, (), ("a", 2.0)), "list": [[], [1]], "dict": {1: {"a": 2}, (1, "b"): 3},
    "set": {1, 2}, "counter": Counter("abca"), "ordered": OrderedDict(b=1, a=2), "size": wg.Size([2, 0]),
    "dtype": wg.complex64, "device": wg.device("cpu"), "device with a number": wg.device("sim:1"), "layout": wg.strided,
}  # fmt: skip
DTYPES = [
    wg.bool, wg.uint8, wg.int8, wg.int16, wg.int32, wg.int64, wg.float32, wg.float64, wg.complex64, wg.complex128,
    wg.uint16, wg.uint32, wg.uint64,
]  # fmt: skip
LAYOUTS = {
    "scalar": lambda: wg.tensor(2.5),
    "empty": lambda: wg.empty(2, 0, 3),
    "transposed": lambda: wg.rand(3, 4).T,
    "row": lambda: wg.rand(3, 4)[1],
    "steps": lambda: wg.rand(3, 8)[:, 1::3],
    "expanded": lambda: wg.rand(3, 1).expand(3, 5),
    "conjugate": lambda: wg.randn(3, dtype=wg.complex64).conj(),
    "requires grad": lambda: wg.rand(3, requires_grad=True),
    "computed": lambda: wg.rand(3, requires_grad=True) * 2,
}


def again(obj, **options):
    file = io.BytesIO()
    wg.save(obj, file)
    file.seek(0)
    return wg.load(file, **options)


@pytest.mark.parametrize("name", KEPT)
def test_plain_objects_are_kept(name):
    value = again(KEPT[name])
    assert value == KEPT[name]
    assert type(value) is type(KEPT[name])


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_kept(dtype):
    x = wg.arange(5).to(dtype)
    y = again(x)
    assert y.dtype == dtype
    assert wg.equal(x, y)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("mapped", [False, True])
def test_layouts_are_kept(name, mapped, tmp_path):
    x = LAYOUTS[name]()
    wg.save(x, tmp_path / "x.pt")
    y = wg.load(tmp_path / "x.pt", mmap=mapped)
    assert wg.equal(x.detach().resolve_conj(), y.detach())
    assert (x.stride(), x.requires_grad) == (y.stride(), y.requires_grad)
    assert y.is_leaf
    assert not y._is_view()


def test_shared_memory_and_shared_objects_are_kept():
    x = wg.rand(4, 3)
    inner = [x]
    read = again({"x": x, "row": x[2:], "columns": x.T, "again": x, "a": inner, "b": inner, "other": x.clone()})
    assert read["again"] is read["x"]
    assert read["a"] is read["b"]
    read["x"][2, 1] = 7
    assert read["row"][0, 1] == read["columns"][1, 2] == 7
    assert read["other"][2, 1] != 7


def test_only_the_part_of_the_memory_that_is_needed_is_written():
    file = io.BytesIO()
    wg.save(wg.rand(1000, 1000)[:1], file)
    assert len(file.getvalue()) < 10_000


def test_a_list_in_itself():
    x = [1]
    x.append(x)
    y = again(x)
    assert y[1] is y


def test_attributes_are_kept():
    parameter, tensor, state = wg.nn.Parameter(wg.ones(2), requires_grad=False), wg.ones(2), OrderedDict(a=wg.ones(1))
    parameter.tag, tensor.tag, state._metadata = "p", [1], {"": {"version": 1}}
    parameter_, tensor_, state_ = again((parameter, tensor, state))
    assert type(parameter_) is wg.nn.Parameter
    assert not parameter_.requires_grad
    assert (parameter_.tag, tensor_.tag, state_._metadata) == ("p", [1], {"": {"version": 1}})


def test_mapped_files_are_not_written_to(tmp_path):
    path = tmp_path / "x.pt"
    wg.save(wg.zeros(3), path)
    x = wg.load(path, mmap=True)
    x += 1
    assert wg.load(path).tolist() == [0, 0, 0]


def test_mapped_tensors_are_saved_where_they_came_from(tmp_path):
    path = tmp_path / "x.pt"
    wg.save(wg.ones(30_000), path)
    x = wg.load(path, mmap=True)
    wg.save({"x": x}, path)
    assert wg.load(path)["x"].sum() == x.sum() == 30_000
    with pytest.raises(NotImplementedError, match="meta"):
        wg.save([wg.ones(2), wg.ones(2, device="meta")], path)
    assert wg.load(path)["x"].sum() == 30_000
    assert os.listdir(tmp_path) == ["x.pt"]


def test_records_are_aligned(tmp_path):
    path = tmp_path / "x.pt"
    wg.save([wg.ones(n) for n in (1, 3, 5)], path)
    data = path.read_bytes()
    assert all(data.index(np.ones(n, np.float32).tobytes() + b"PK") % 64 == 0 for n in (1, 3, 5))


@pytest.mark.parametrize("location", [None, "cpu", wg.device("cpu"), {"cuda:0": "cpu"}, lambda storage, where: storage])
def test_locations(location):
    assert again(wg.ones(1), map_location=location).tolist() == [1]


def test_what_load_would_refuse_is_not_saved(tmp_path):
    path = tmp_path / "x.pt"
    wg.save(1, path)

    class Subclass(wg.Tensor):
        pass

    class Module:
        state_dict = dict

    named_like_a_method = wg.ones(1)
    named_like_a_method.add_ = 1

    for obj, remedy in [
        (print, "save what it is made of"),
        (Module(), "save its state_dict"),
        (defaultdict(int), "plain containers"),
        (np.float64(1), r"save x\.item"),
        (np.ones(1), "wengert.from_numpy"),
        (wg.ones(1).as_subclass(Subclass), "as_subclass"),
        ({"a": [range(3)]}, "builtins.range"),
        ({((1, 2), 3): 4}, "a key is a tuple"),
        ({wg.ones(1): 4}, "a key is a Tensor"),
        ({((),), 1}, "a key is a tuple"),
        (named_like_a_method, "hides its 'add_'"),
    ]:
        with pytest.raises(TypeError, match=remedy):
            wg.save(obj, path)
    assert wg.load(path) == 1, "what cannot be saved leaves the file as it was"
    x = wg.randn(2, dtype=wg.complex64)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        again([x, wg.view_as_real(x)])


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match="module pickle"):
        wg.load(tmp_path / "x.pt", weights_only=False)
    with pytest.raises(ValueError, match="path of a file"):
        wg.load(io.BytesIO(), mmap=True)
    with pytest.raises((ValueError, RuntimeError), match="cuda"):
        again(1, map_location="cuda")


def test_loaded_when_first_used():
    code = "import sys, wengert; print([m for m in sys.modules if 'zipfile' in m or '_files' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
