"""Tensors in files: what is kept, what is refused, and files made to do harm."""

import io
import json
import pickle
import struct
import subprocess
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import wengert as wg
from wengert.utils import safetensors

KEPT = {
    "none": None, "true": True, "zero": 0, "byte": 255, "negative": -3, "long": 2**31, "longer": -(2**80), "float": 0.1,
    "infinite": float("inf"), "complex": 1 + 2j, "text": "grün \ud800 \n", "bytes": bytes(range(256)),
    "bytearray": bytearray(b"ab"), "tuple": (1, (), ("a", 2.0)), "list": [[], [1]], "dict": {1: {"a": 2}, (1, "b"): 3},
    "set": {1, 2}, "counter": Counter("abca"), "ordered": OrderedDict(b=1, a=2), "size": wg.Size([2, 0]),
    "dtype": wg.complex64, "device": wg.device("cpu"), "layout": wg.strided,
}  # fmt: skip
DTYPES = [
    wg.bool, wg.uint8, wg.int8, wg.int16, wg.int32, wg.int64, wg.float32, wg.float64, wg.complex64, wg.complex128,
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


# --- Files made to do harm
def archive(data, records=(), folder="x", compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        zipped.writestr(f"{folder}/data.pkl", data)
        for name, content in records:
            zipped.writestr(name, content)
    file.seek(0)
    return file


def program(*parts):
    return b"\x80\x02" + b"".join(parts) + b"."


def tensor_program(numel, offset, size, stride, storage="FloatStorage", key="0"):
    integers = [pickle.dumps(n, 2)[2:-1] for n in (numel, offset)]
    shapes = [pickle.dumps(n, 2)[2:-1] for n in (size, stride)]
    name = pickle.dumps(key, 2)[2:-1]
    return program(
        b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n" + storage.encode() + b"\n" + name,
        b"X\x03\x00\x00\x00cpu" + integers[0] + b"tQ" + integers[1] + b"".join(shapes) + b"\x89NtR",
    )


class Evil:
    def __reduce__(self):
        return exec, ("import wengert; wengert.evil = True",)


BAD_PICKLES = {
    "calls exec": pickle.dumps(Evil(), 2),
    "calls exec, protocol 4": pickle.dumps(Evil(), 4),
    "names os.system": program(b"cos\nsystem\n"),
    "names getattr": program(b"cbuiltins\ngetattr\n(ctorch\nTensor\nX\x05\x00\x00\x00__mro__tR"),
    "names a part of what is allowed": program(b"ccollections\nOrderedDict.__class__\n"),
    "calls a value": program(b"ctorch\nfloat32\n)R"),
    "calls a list": program(b"])R"),
    "instance": b"(ios\nsystem\n.",
    "object of a class": program(b"ctorch\nTensor\n)\x81"),
    "attributes of a tensor's type": program(b"ctorch\nTensor\n}X\x01\x00\x00\x00aK\x01sb"),
    "attributes that hide methods": program(b"ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsK\x01sb"),
    "attributes that are none": program(b"ccollections\nOrderedDict\n)RK\x01b"),
    "an extension": program(b"\x82\x01"),
    "an index of the memo that is not there": program(b"h\x05"),
    "a large index of the memo": program(b"Nr\xff\xff\xff\xff0N"),
    "an empty stack": program(b"0"),
    "no mark": program(b"t"),
    "two results": program(b"NN"),
    "a mark as the result": program(b"("),
    "a mark in a tuple": program(b"(\x85"),
    "no end": b"\x80\x02N",
    "nothing": b"",
    "noise": bytes(range(256)),
    "bytes that are not there": program(b"\x8e" + struct.pack("<Q", 1 << 40)),
    "text that is not there": program(b"X\xff\xff\xff\x7f"),
    "text that is no text": program(b"X\x01\x00\x00\x00\xff"),
    "bytes in a strange encoding": program(b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00rot13tR"),
    "a key that takes for ever": program(b")q\x00" + b"h\x00h\x00\x86q\x00" * 60 + b"}h\x00Ns"),
    "a list as a key": program(b"}]Ns"),
    "items of a tuple": program(b")K\x01K\x02s"),
    "an odd number of items": program(b"}(K\x01u"),
    "a persistent id of another kind": program(b"K\x01Q"),
    "a storage of no dtype": tensor_program(1, 0, (1,), (1,), storage="Tensor"),
    "a dtype that is not supported": tensor_program(1, 0, (1,), (1,), storage="HalfStorage"),
    "a path as a key": tensor_program(1, 0, (1,), (1,), key="../../../etc/passwd"),
    "a storage that is not there": tensor_program(1, 0, (1,), (1,), key="9"),
    "a storage that is too large": tensor_program(1 << 40, 0, (1,), (1,)),
    "a storage that is too small": tensor_program(3, 0, (1,), (1,)),
    "a negative storage": tensor_program(-4, 0, (1,), (1,)),
    "sizes beyond the storage": tensor_program(4, 0, (5,), (1,)),
    "strides beyond the storage": tensor_program(4, 0, (2, 2), (3, 1)),
    "an offset beyond the storage": tensor_program(4, 4, (1,), (1,)),
    "an offset beyond the storage, empty": tensor_program(4, 5, (0,), (1,)),
    "a negative offset": tensor_program(4, -1, (1,), (1,)),
    "a negative size": tensor_program(4, 0, (-1,), (1,)),
    "a negative stride": tensor_program(4, 3, (2,), (-1,)),
    "sizes that overflow": tensor_program(4, 0, (1 << 62, 1 << 62), (1 << 62, 0)),
    "a size of 2**63": tensor_program(4, 0, (1 << 63,), (0,)),
    "sizes without strides": tensor_program(4, 0, (2, 2), (1,)),
    "sizes that are no integers": tensor_program(4, 0, (1.5,), (1,)),
    "many dimensions": tensor_program(4, 0, (1,) * 100, (1,) * 100),
}


@pytest.mark.parametrize("name", BAD_PICKLES)
def test_bad_pickles(name):
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        wg.load(archive(BAD_PICKLES[name], [("x/data/0", np.arange(4, dtype=np.float32).tobytes())]))
    assert not hasattr(wg._C, "evil")
    assert "evil" not in vars(wg)


def good():
    file = io.BytesIO()
    wg.save({"x": wg.arange(50), "y": wg.rand(3)}, file)
    return file.getvalue()


def test_files_that_are_cut_off():
    data = good()
    for length in range(0, len(data), 7):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            wg.load(io.BytesIO(data[:length]))


def test_files_with_a_wrong_byte(tmp_path):
    """Any byte may be wrong: then the file is refused, or the byte did not matter."""
    data = good()
    read = {"x": wg.arange(50)}
    for place in range(0, len(data), 3):
        broken = bytearray(data)
        broken[place] ^= 0xFF
        for mapped in (False, True):
            try:
                if mapped:
                    (tmp_path / "x.pt").write_bytes(broken)
                read = wg.load(tmp_path / "x.pt" if mapped else io.BytesIO(broken), mmap=mapped)
            except (RuntimeError, pickle.UnpicklingError):
                continue
            assert mapped or wg.equal(read["x"], wg.arange(50))


BAD_ARCHIVES = {
    "compressed": lambda: archive(program(b"N"), compression=zipfile.ZIP_DEFLATED),
    "a bomb": lambda: archive(program(b"X\0\0\0\x10" + b"a" * (1 << 22)), compression=zipfile.ZIP_DEFLATED),
    "two pickles": lambda: archive(program(b"N"), [("y/data.pkl", program(b"N"))]),
    "code": lambda: archive(program(b"N"), [("x/constants.pkl", program(b"N"))]),
    "no pickle": lambda: archive_of_nothing(),
    "no archive": lambda: io.BytesIO(b"hello"),
    "empty": lambda: io.BytesIO(b""),
    "an old file": lambda: io.BytesIO(pickle.dumps(0x1950A86A20F9469CFC6C, 2)),
    "two records of one name": lambda: archive_with_a_name_twice(),
    "records on each other": lambda: overlapping_records(),
}


def archive_of_nothing():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("x/version", "3")
    file.seek(0)
    return file


def archive_with_a_name_twice():
    with pytest.warns(UserWarning, match="Duplicate name"):
        return archive(program(b"N"), [("x/data/0", b"1"), ("x/data/0", b"2")])


def overlapping_records():
    """Two names in the directory for one record: how small archives become large."""
    data = bytearray(archive(program(b"N"), [("x/data/0", b"1234"), ("x/data/1", b"1234")]).getvalue())
    second, third = [i for i in range(len(data)) if data[i : i + 4] == b"PK\x01\x02"][1:]
    data[third + 42 : third + 46] = data[second + 42 : second + 46]
    return io.BytesIO(data)


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_bad_archives(name):
    file = BAD_ARCHIVES[name]()
    with pytest.raises(RuntimeError):
        wg.load(file)


def test_names_in_archives_are_no_paths(tmp_path):
    """Nothing is unpacked, so a name may be anything."""
    file = archive(tensor_program(1, 0, (1,), (1,)), [("../../x", b"1"), ("/etc/x", b""), ("x/data/0", b"\0\0\0\0")])
    assert wg.load(file).tolist() == [0]


def test_big_endian():
    file = archive(
        tensor_program(2, 0, (2,), (1,)),
        [("x/byteorder", b"big"), ("x/data/0", np.array([1, 2], ">f4").tobytes())],
    )
    assert wg.load(file).tolist() == [1, 2]


# --- safetensors
def test_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    tensors = {str(dtype): wg.arange(6).reshape(2, 3).to(dtype).T for dtype in DTYPES if dtype != wg.complex128}
    tensors |= {"ü": wg.tensor(1.5), "empty": wg.empty(0, 2)}
    safetensors.save_file(tensors, path, metadata={"format": "pt"})
    for read in (safetensors.load_file(path), safetensors.load(safetensors.save(tensors))):
        assert set(read) == set(tensors)
        for name, x in tensors.items():
            assert (read[name].dtype, read[name].shape) == (x.dtype, x.shape)
            assert wg.equal(read[name], x)
            read[name].zero_()
    with safetensors.safe_open(path, framework="pt", device="cpu") as file:
        assert file.metadata() == {"format": "pt"}
        assert set(file.keys()) == set(file) == set(tensors)
        assert file.get_tensor("ü").item() == 1.5
        with pytest.raises(safetensors.SafetensorError, match="no tensor named 'none'"):
            file.get_tensor("none")
    with pytest.raises(safetensors.SafetensorError, match="closed"):
        file.get_tensor("ü")


@pytest.mark.parametrize("tensors", [{"x": 1}, {1: wg.ones(1)}, {"x": wg.ones(1, dtype=wg.complex128)}])
def test_what_safetensors_does_not_hold(tensors):
    with pytest.raises(TypeError):
        safetensors.save(tensors)


def safetensors_file(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="U8", shape=(2,), offsets=(0, 2)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


BAD_SAFETENSORS = {
    "nothing": b"",
    "a short length": b"\1\0",
    "a header that is too long": safetensors_file({}, length=1 << 60),
    "a header that ends behind the file": safetensors_file({}, length=100),
    "no JSON": safetensors_file(b"{"),
    "no text": safetensors_file(b"\xff\xff"),
    "deep JSON": safetensors_file(b"[" * 200_000),
    "no object": safetensors_file([1]),
    "a name twice": safetensors_file(b'{"a":%s,"a":%s}' % ((json.dumps(entry()).encode(),) * 2), b"12"),
    "no dtype": safetensors_file({"x": {"shape": [2], "data_offsets": [0, 2]}}, b"12"),
    "another dtype": safetensors_file({"x": entry("F8_E4M3")}, b"12"),
    "a dtype that is none": safetensors_file({"x": entry([])}, b"12"),
    "a negative shape": safetensors_file({"x": entry(shape=(-1, -2))}, b"12"),
    "a shape that overflows": safetensors_file({"x": entry(shape=(1 << 62, 1 << 62))}, b"12"),
    "true as a size": safetensors_file({"x": entry(shape=(True, 2))}, b"12"),
    "an offset behind the end": safetensors_file({"x": entry(offsets=(0, 2))}, b"1"),
    "offsets that leave a rest": safetensors_file({"x": entry()}, b"123"),
    "offsets that leave a gap": safetensors_file({"x": entry(offsets=(1, 3))}, b"123"),
    "offsets that overlap": safetensors_file({"x": entry(), "y": entry(offsets=(1, 3))}, b"123"),
    "offsets in reverse": safetensors_file({"x": entry(shape=(0,), offsets=(2, 0))}, b"12"),
    "metadata that is no text": safetensors_file({"__metadata__": {"a": 1}}),
}


@pytest.mark.parametrize("name", BAD_SAFETENSORS)
def test_bad_safetensors(name, tmp_path):
    with pytest.raises(safetensors.SafetensorError):
        safetensors.load(BAD_SAFETENSORS[name])
    (tmp_path / "x").write_bytes(BAD_SAFETENSORS[name])
    with pytest.raises(safetensors.SafetensorError):
        safetensors.load_file(tmp_path / "x")


def test_loaded_when_first_used():
    code = "import sys, wengert; print([m for m in sys.modules if 'zipfile' in m or '_files' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
