"""The device source of the table computes what the CPU computes.

No GPU is needed: the same text is compiled for the host, where a launch is a loop over the numbers of its threads.
Operands are repeated, transposed or numbers, so that both the formulas and the walk over memory are compared.
"""

from __future__ import annotations

import ast
import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg
from codegen.elementwise import Kernel, kernels
from codegen.generate import device_texts, read

from .operations import OPERATIONS, Operation

ROOT = Path(__file__).parents[2]
BACKENDS = ROOT / "src/backends"
MAX_DIMS = 12  # of src/backends/cuda/loop.cuh
BLOCKS, THREADS = 2, 2  # fewer than a sample has elements
HOST = """
#define __global__
#define __device__
#define __grid_constant__
struct Dim { unsigned x; };
extern "C" { inline Dim blockIdx, threadIdx, blockDim, gridDim; }
"""
_, TABLE, VOCABULARY = read(ROOT / "ops")
ROWS = {row.name: row for row in TABLE if row.is_elementwise}
CASES = [(o, is_complex) for o in OPERATIONS if o.name in ROWS for is_complex in {False, o.allows_complex}]


@pytest.fixture(scope="session")
def device(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("device")
    (folder / "host.h").write_text(HOST)
    texts = {Path(name).stem: text for name, text in device_texts(ROOT / "ops").items()}
    texts |= {p.stem: p.read_text() for p in (*BACKENDS.glob("cpu/special/*.cpp"), *BACKENDS.glob("cuda/*.cu"))}
    options = ["-std=c++20", "-O0", "-fPIC", "-ffp-contract=off", "-include", "host.h", f"-I{ROOT / 'src'}"]
    for name, text in texts.items():
        (folder / f"{name}.cpp").write_text(text)
        subprocess.run([compiler, *options, "-c", f"{name}.cpp"], cwd=folder, check=True)
    subprocess.run([compiler, "-shared", "-o", "device.so", *(f"{name}.o" for name in texts)], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "device.so"))


def launch(device: ctypes.CDLL, name: str, *operands: Any) -> None:
    """The inputs and the output: arrays, or numbers in NumPy's types."""
    size, shape = len(operands), operands[-1].shape or (1,)

    class Launch(ctypes.Structure):  # of loop.cuh
        _fields_ = (("numbers", ctypes.c_char * 16 * size), ("data", ctypes.c_void_p * size),
                    ("steps", ctypes.c_int64 * size * MAX_DIMS), ("sizes", ctypes.c_int64 * MAX_DIMS),
                    ("dims", ctypes.c_int64), ("elements", ctypes.c_int64))  # fmt: skip

    it = Launch(dims=len(shape), elements=operands[-1].size, sizes=tuple(reversed(shape)))
    for a, operand in enumerate(operands):
        if isinstance(operand, np.generic):
            ctypes.memmove(it.numbers[a], operand.tobytes(), operand.nbytes)
        else:
            it.data[a] = operand.ctypes.data
            for d, step in enumerate(reversed(operand.strides)):
                it.steps[d][a] = step
    function = device[name]
    function.argtypes, function.restype = [Launch], None
    for block, thread in np.ndindex(BLOCKS, THREADS):
        place = {"blockIdx": block, "threadIdx": thread, "blockDim": THREADS, "gridDim": BLOCKS}
        for variable, value in place.items():
            ctypes.c_uint.in_dll(device, variable).value = value
        function(it)


def compare(device: ctypes.CDLL, kernel: Kernel, values: dict[str, Any], expected: np.ndarray) -> None:
    arrays = {n: v for n in kernel.inputs if isinstance(v := values[n], np.ndarray)}
    dtype = np.result_type(*(v for n, v in arrays.items() if n not in kernel.conditions))
    inputs = {n: np.asanyarray(values[n], bool if n in kernel.conditions else dtype) for n in kernel.inputs}
    operands = [v if n in arrays else v[()] for n, v in inputs.items()]
    output = np.empty_like(expected)
    launch(device, f"{kernel.name}_{dtype.name}", *operands, output)
    np.testing.assert_allclose(output, expected, rtol=1e-13, atol=0, err_msg=kernel.name)


def spread(operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
    """A value for each argument. Arrays have one shape, most by repetition; the first is transposed in memory."""
    values = {a["name"]: ast.literal_eval(a["default"] or "None") for a in operation.arguments} | given
    names = [n for n, v in values.items() if isinstance(v, np.ndarray)]
    first, *others = np.broadcast_arrays(*(values[n] for n in names))
    values |= zip(names, [first.copy("F"), *others], strict=True)
    return values | {ROWS[operation.name].reduces: "none"}


@pytest.mark.parametrize(("operation", "is_complex"), CASES, ids=str)
def test_values(device: ctypes.CDLL, operation: Operation, is_complex: bool) -> None:
    forward, *vjps = kernels(ROWS[operation.name], VOCABULARY)
    compared = set()
    for sample in operation.samples(is_complex=is_complex):
        values = spread(operation, sample.arguments)
        tensors = {n: wg.tensor(v) for n, v in values.items() if isinstance(v, np.ndarray)}
        for tensor in tensors.values():
            tensor.requires_grad_(bool(vjps) and tensor.is_floating_point() | tensor.is_complex())
        result = operation({**values, **tensors})
        values["result"] = result.detach().numpy()
        compare(device, forward, values, values["result"])
        if result.requires_grad:
            weights = np.cos(np.arange(1.0, 1 + result.numel())).reshape(result.shape)
            values["grad"] = weights.astype(values["result"].dtype)
            result.backward(wg.tensor(values["grad"]))
        for kernel in vjps:
            tensor = tensors.get(kernel.name.removeprefix(f"{operation.name}_d_"))
            if tensor is not None and tensor.grad is not None:
                compare(device, kernel, values, tensor.grad.numpy())
                compared.add(kernel.name)
    assert compared == {kernel.name for kernel in vjps}


def test_wrong_values_are_noticed(device: ctypes.CDLL) -> None:
    kernel, _ = kernels(ROWS["tanh"], VOCABULARY)
    with pytest.raises(AssertionError, match="tanh"):
        compare(device, kernel, {"self": np.ones((2, 3))}, np.full((2, 3), np.tanh(1.0) + 1e-12))
