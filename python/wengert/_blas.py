"""Finds BLAS and LAPACK routines for the core: MKL's runtime if it is installed, else SciPy's.

SciPy's wheels bring the library OpenBLAS, from which the routines are taken by name: importing ``scipy.linalg`` would
cost 0.4 s. Other builds of SciPy are asked for them: ``cython_blas`` and ``cython_lapack`` publish every routine as a
capsule whose name is its C signature.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.machinery
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

_BLAS_NAMES = ("gemm", "trsm")  # the rest is LAPACK
# How libraries spell routines whose integers have 32 bits; those of 64 bits end in "64_".
_SPELLINGS = ("{}_", "scipy_{}_")
_THREAD_CONTROLS = (
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
)
_TYPE_LETTERS = {
    "char": "b",
    "int": "i",
    "float": "s",
    "double": "d",
    "float_complex": "c",
    "double_complex": "z",
}


def find(routines: Mapping[str, str]) -> dict[str, int]:
    """Return the addresses of those BLAS and LAPACK routines that are found with their signature; maybe none.

    Of each routine its Fortran name and its signature are given, a letter an argument: ``b`` char, ``i`` 32-bit int,
    ``s d c z`` the element types.
    """
    for path in _libraries():
        if addresses := _from_library(path, routines):
            return addresses
    # A SciPy that is missing or built in an unforeseen way leaves the core with its own routines.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        return _from_scipy(routines)
    return {}


def thread_controls() -> list[tuple[int, int]]:
    """Return the addresses of ``int get()`` and ``void set(int)`` of each loaded BLAS: its number of threads."""
    controls = []
    for path in _libraries():
        for get, set_ in _THREAD_CONTROLS:
            with contextlib.suppress(OSError, AttributeError):
                library = ctypes.CDLL(str(path), mode=getattr(os, "RTLD_NOLOAD", 0) | getattr(os, "RTLD_LAZY", 0))
                controls.append((_address(library[get]), _address(library[set_])))
    return controls


def _libraries() -> Iterator[Path]:
    """The files in which BLAS libraries may lie: MKL's, and those that NumPy and SciPy bring."""
    yield from sorted(_environment_libraries().glob("*mkl_rt*"))
    for name in ("numpy", "scipy"):
        spec = importlib.machinery.PathFinder.find_spec(name)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            for folder in (package.with_name(f"{name}.libs"), package / ".dylibs"):
                yield from sorted(folder.glob("*openblas*"))


def _environment_libraries() -> Path:
    return Path(sysconfig.get_path("data")) / ("Library/bin" if sys.platform == "win32" else "lib")


def _from_library(path: Path, routines: Mapping[str, str]) -> dict[str, int]:
    """The routines of a library, if it has all of them."""
    with contextlib.suppress(OSError):
        library = ctypes.CDLL(str(path), mode=getattr(ctypes, "RTLD_LOCAL", 0))
        for spelling in _SPELLINGS:
            with contextlib.suppress(AttributeError):
                return {name: _address(library[spelling.format(name)]) for name in routines}
    return {}


def _address(function: ctypes._FuncPointer) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _from_scipy(routines: Mapping[str, str]) -> dict[str, int]:
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    blas, lapack = map(importlib.import_module, ("scipy.linalg.cython_blas", "scipy.linalg.cython_lapack"))
    addresses = {}
    for name, signature in routines.items():
        module = blas if name[1:] in _BLAS_NAMES else lapack
        capsule = module.__pyx_capi__.get(name)
        if capsule is not None and _letters(get_name(capsule).decode()) == signature:
            addresses[name] = get_pointer(capsule, get_name(capsule))
    return addresses


def _letters(declaration: str) -> str:
    """``void (char *, int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *)`` -> ``bid``; empty if it is another kind."""
    match = re.fullmatch(r"void \((.*)\)", declaration)
    if match is None:
        return ""
    letters = []
    for argument in match[1].split(", "):
        kind = argument.removesuffix("*").strip().removeprefix("__pyx_t_")
        element = re.fullmatch(r".*cython_(?:blas|lapack)_([sdcz])", kind)
        letters.append(element[1] if element else _TYPE_LETTERS.get(kind, "?"))
    return "".join(letters)
