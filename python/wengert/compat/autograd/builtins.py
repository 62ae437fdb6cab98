"""Python's containers: nests of them are arguments and results as they are, without boxes of their own."""

from __future__ import annotations

import builtins

dict, list, tuple = builtins.dict, builtins.list, builtins.tuple
DictBox, ListBox, TupleBox = dict, list, tuple
isinstance, type = builtins.isinstance, builtins.type

__all__ = ["DictBox", "ListBox", "TupleBox", "dict", "isinstance", "list", "tuple", "type"]
