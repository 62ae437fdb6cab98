"""Inspection: which types and devices there are."""

from __future__ import annotations

import functools
from typing import Any

import wengert

__array_api_version__ = "2025.12"

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


def dtypes_by_kind(kind: Any) -> dict[str, Any]:
    """Return the standard's types, of one kind or several; all for None."""
    return dict(_known(kind))


@functools.cache
def _known(kind: Any) -> dict[str, Any]:
    kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
    if not set(kinds) <= set(_KINDS):
        raise ValueError(f"[isdtype] unknown kind of types {kind!r}; kinds are {', '.join(_KINDS)}")
    return {name: getattr(wengert, name) for one in kinds for name in _KINDS[one]}


class __array_namespace_info__:
    """What the namespace can do; the standard's inspection.

    Examples
    --------
    >>> import wengert.array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["real floating"]
    wengert.float32
    """

    def capabilities(self) -> dict[str, Any]:
        """What is optional in the standard, and whether it is there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device where tensors are made."""
        return wengert.get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The types of new tensors, by kind."""
        real = wengert.get_default_dtype()
        return {
            "real floating": real, "complex floating": real.to_complex(), "integral": wengert.int64,
            "indexing": wengert.int64,
        }  # fmt: skip

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The types, of one kind or several."""
        return dtypes_by_kind(kind)

    def devices(self) -> tuple[Any, ...]:
        """The devices whose tensors have values."""
        return (wengert.device("cpu"),)
