"""Files made to do harm are refused, and nothing of them runs."""

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

import wengert as wg


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
