"""Trees: nested tuples, lists, dicts; anything else is a leaf."""

from __future__ import annotations

from typing import Any


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    leaves: list[Any] = []
    return leaves, _spec(tree, leaves)


def _spec(tree: Any, leaves: list[Any]) -> Any:
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return (lambda items: type(tree)(*items)), [_spec(item, leaves) for item in tree]
    if isinstance(tree, (tuple, list)):
        return type(tree), [_spec(item, leaves) for item in tree]
    if isinstance(tree, dict):
        keys = list(tree)
        return (lambda items: dict(zip(keys, items))), [_spec(tree[key], leaves) for key in keys]
    leaves.append(tree)
    return None


def tree_unflatten(leaves: Any, spec: Any) -> Any:
    return _build(iter(leaves), spec)


def _build(leaves: Any, spec: Any) -> Any:
    if spec is None:
        return next(leaves)
    make, parts = spec
    return make([_build(leaves, part) for part in parts])
