"""Files of safetensors: what is kept, where it comes to be, and what is refused."""

import json
import os
import struct

import pytest

import wengert as wg
from wengert.utils import safetensors

DTYPES = [
    wg.bool, wg.uint8, wg.int8, wg.int16, wg.int32, wg.int64, wg.uint16, wg.uint32, wg.uint64, wg.float32, wg.float64,
    wg.complex64,
]  # fmt: skip


def test_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    tensors = {str(dtype): wg.arange(6).reshape(2, 3).to(dtype).T for dtype in DTYPES}
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


@pytest.mark.parametrize("device", ["sim", wg.device("sim:1"), "meta"])
def test_devices(device, tmp_path):
    path = tmp_path / "x.safetensors"
    here = wg.arange(6.0).reshape(2, 3)
    safetensors.save_file({"x": here.to("sim:1").T}, path)
    assert wg.equal(safetensors.load_file(path)["x"], here.T)
    with safetensors.safe_open(path, "wengert", device) as file:
        for x in (file.get_tensor("x"), safetensors.load_file(path, device)["x"]):
            assert x.device == wg.empty(0, device=device).device
            assert x.device.type == "meta" or wg.equal(x.cpu(), here.T)
    with pytest.raises(RuntimeError, match="device string: cuda"):
        safetensors.load_file(path, device="cuda")


def test_what_cannot_be_saved_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.save_file({"x": wg.ones(2)}, path)
    with pytest.raises(NotImplementedError, match="meta"):
        safetensors.save_file({"x": wg.zeros(2), "y": wg.ones(1, device="meta")}, path)
    assert safetensors.load_file(path)["x"].tolist() == [1, 1]
    assert os.listdir(tmp_path) == ["x.safetensors"]


def test_saved_where_it_came_from(tmp_path):
    path, link = tmp_path / "x.safetensors", tmp_path / "link"
    link.symlink_to(path)
    safetensors.save_file({"x": wg.ones(30_000)}, path)
    path.chmod(0o640)
    read = safetensors.load_file(link)
    read["x"][0] = 2
    safetensors.save_file({"y": read["x"]}, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read["x"].sum() == safetensors.load_file(path)["y"].sum() == 30_001


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
