"""Where BLAS and LAPACK come from: libraries are found without a module standing in for SciPy."""

import ctypes
import subprocess
import sys

import numpy as np

import wengert as wg
from wengert import _blas

DGEMM = {"dgemm": "bbiiiddididdi"}  # a letter an argument


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_a_thread_may_import_scipy_while_routines_are_found():
    code = """
import threading
import wengert as wg

def load():
    import scipy.linalg
    found.append(float(scipy.linalg.svdvals([[2.0]])[0]))

found = []
threads = [threading.Thread(target=load) for _ in range(4)]
for thread in threads:
    thread.start()
a = wg.eye(30, dtype=wg.float64)
values = [wg.linalg.svdvals(a @ a).sum().item() for _ in range(10)]
for thread in threads:
    thread.join()
import scipy
print(len(found), set(found), values[0], "__version__" in vars(scipy))
"""
    assert run(code) == ["4", "{2.0}", "30.0", "True"]


def test_routines_are_found_without_scipy_in_the_table_of_modules():
    code = """
import sys, wengert as wg
wg.linalg.svdvals(wg.eye(30) @ wg.eye(30))
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "scipy"))
"""
    from_wheel = any(_blas._from_library(path, DGEMM) for path in _blas._libraries())
    assert run(code) == [] or not from_wheel


def test_the_two_ways_to_the_routines_agree():
    pointer = ctypes.POINTER
    double, integer = pointer(ctypes.c_double), pointer(ctypes.c_int)
    kinds = {"b": ctypes.c_char_p, "i": integer, "d": double}
    a, b = np.random.default_rng(0).standard_normal((2, 3, 3))
    expected = (a.T @ b.T).T  # columns first
    for addresses in (_blas._from_scipy(DGEMM), _blas.find(DGEMM)):
        gemm = ctypes.CFUNCTYPE(None, *(kinds[letter] for letter in DGEMM["dgemm"]))(addresses["dgemm"])
        result = np.empty((3, 3))
        one, zero, n = ctypes.c_double(1), ctypes.c_double(0), ctypes.c_int(3)
        data = [array.ctypes.data_as(double) for array in (a, b, result)]
        gemm(b"N", b"N", n, n, n, one, data[0], n, data[1], n, zero, data[2], n)
        np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_a_library_without_the_routines_is_passed_by():
    assert all(_blas._from_library(path, {"no_such_routine": ""}) == {} for path in _blas._libraries())


def test_the_core_computes_with_what_was_found():
    a = wg.eye(40, dtype=wg.float64) * 2
    assert wg.linalg.inv(a @ a).diagonal().tolist() == [0.25] * 40
