"""Tensors in files, in formats that others read too.

A file of `save` is what PyTorch writes: a zip archive, nothing compressed, with

- ``data.pkl``, a pickle of the object, in which a tensor is a reference to a storage with offset, sizes and strides;
- ``data/0``, ``data/1``, ...: the bytes of the storages, each once, however many tensors lie on it;
- ``version`` and ``byteorder``.

A pickle is a program, and Python's unpickler runs whatever it names. Here `_unpickle.py` is an interpreter of its own
that knows a few instructions and the names in `_names.py`, so that a file can do no more than build tensors and plain
containers; everything else in it is an error. `_pickle.py` writes only what that interpreter reads. Read `_names.py`
first, then the two; `_archive.py` is the zip archive and trusts no number in it; `_state_files.py` puts them together.
"""

from ._state_files import load, save

__all__ = ["load", "save"]
