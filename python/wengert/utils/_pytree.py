"""Trees of Python containers: taken apart into leaves and put together again.

A node is a tuple, list, dict (also OrderedDict and defaultdict), deque, named tuple (also those that operations
return), or an instance of a class that was registered; everything else is a leaf, None too. `tree_flatten` walks a tree
without recursion limits that matter here (containers nest a few levels deep, graphs do not come this way) and describes
its shape in a `TreeSpec`, which can be compared with another and filled with other leaves.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class NodeDef(NamedTuple):
    """How a class of containers is taken apart and put together."""

    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]


@dataclasses.dataclass(frozen=True)
class TreeSpec:
    """The shape of a tree: the class of its root, what else identifies that, and the shapes of its children."""

    type: Any
    context: Any
    children_specs: tuple[TreeSpec, ...]
    num_leaves: int = dataclasses.field(compare=False)

    def is_leaf(self) -> bool:
        return self.type is None

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        children = ", ".join(map(repr, self.children_specs))
        if self.type is tuple:
            return f"({children},)" if len(self.children_specs) == 1 else f"({children})"
        if self.type is list:
            return f"[{children}]"
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"


LEAF = TreeSpec(None, None, (), 1)
LeafSpec = TreeSpec


def _dict_items(d: Any) -> tuple[list[Any], Any]:
    return list(d.values()), tuple(d.keys())


SUPPORTED_NODES: dict[type, NodeDef] = {
    tuple: NodeDef(lambda t: (list(t), None), lambda leaves, _: tuple(leaves)),
    list: NodeDef(lambda t: (t, None), lambda leaves, _: list(leaves)),
    dict: NodeDef(_dict_items, lambda leaves, keys: dict(zip(keys, leaves, strict=True))),
    OrderedDict: NodeDef(_dict_items, lambda leaves, keys: OrderedDict(zip(keys, leaves, strict=True))),
    defaultdict: NodeDef(
        lambda d: (list(d.values()), (d.default_factory, tuple(d.keys()))),
        lambda leaves, context: defaultdict(context[0], zip(context[1], leaves, strict=True)),
    ),
    deque: NodeDef(lambda d: (list(d), d.maxlen), lambda leaves, maxlen: deque(leaves, maxlen)),
}
_NAMED_TUPLE = NodeDef(lambda t: (list(t), type(t)), lambda leaves, cls: cls(*leaves))
_STRUCT_SEQUENCE = NodeDef(lambda t: (list(t), type(t)), lambda leaves, cls: cls(leaves))  # wengert.return_types.max


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
) -> None:
    """Make instances of `cls` nodes: ``flatten_fn(x) -> (children, context)`` and its inverse.

    Raises
    ------
    ValueError
        If the class is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn)


def register_dataclass(cls: type) -> None:
    """Make instances of a dataclass nodes, whose children are their fields."""
    names = tuple(field.name for field in dataclasses.fields(cls))
    register_pytree_node(
        cls,
        lambda x: ([getattr(x, name) for name in names], names),
        lambda leaves, keys: cls(**dict(zip(keys, leaves, strict=True))),
    )


def _definition(tree: Any) -> NodeDef | None:
    cls = type(tree)
    known = SUPPORTED_NODES.get(cls)
    return _record(cls) if known is None and isinstance(tree, tuple) else known


def _record(cls: type) -> NodeDef | None:
    """Return how a tuple with names is taken apart; None for other subclasses of tuple."""
    return _NAMED_TUPLE if hasattr(cls, "_fields") else _STRUCT_SEQUENCE if hasattr(cls, "n_sequence_fields") else None


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, from left to right, and its shape.

    Examples
    --------
    >>> from wengert.utils import _pytree
    >>> _pytree.tree_flatten({"a": 1, "b": (2, 3)})[0]
    [1, 2, 3]
    """
    if type(tree) is tuple:
        for child in tree:
            if type(child) in SUPPORTED_NODES or isinstance(child, tuple):
                break
        else:
            return list(tree), _flat(len(tree))
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


@functools.cache
def _flat(count: int) -> TreeSpec:
    """Return the shape of a tuple of leaves: most arguments are one."""
    return TreeSpec(tuple, None, (LEAF,) * count, count)


def _flatten(tree: Any, leaves: list[Any]) -> TreeSpec:
    definition = _definition(tree)
    if definition is None:
        leaves.append(tree)
        return LEAF
    children, context = definition.flatten_fn(tree)
    before = len(leaves)
    specs = tuple(_flatten(child, leaves) for child in children)
    return TreeSpec(type(tree), context, specs, len(leaves) - before)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return the tree of shape `treespec` with these leaves.

    Raises
    ------
    ValueError
        If their number differs.
    """
    values = list(leaves)
    if len(values) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(values)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    if treespec is _flat(len(values)):
        return tuple(values)
    return _unflatten(iter(values), treespec)


def _unflatten(values: Any, spec: TreeSpec) -> Any:
    if spec.is_leaf():
        return next(values)
    definition = SUPPORTED_NODES.get(spec.type) or _record(spec.type)
    assert definition is not None
    return definition.unflatten_fn([_unflatten(values, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree."""
    return tree_flatten(tree)[0]


def tree_structure(tree: Any) -> TreeSpec:
    """Return the shape of a tree."""
    return tree_flatten(tree)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """Return a tree of the same shape with `func` applied to each leaf (and to those of `rests` beside it)."""
    leaves, spec = tree_flatten(tree)
    others = [tree_flatten(rest) for rest in rests]
    for _, other in others:
        if other != spec:
            raise ValueError(f"tree_map: trees differ in structure: {spec} and {other}")
    return tree_unflatten([func(*values) for values in zip(leaves, *(o[0] for o in others), strict=True)], spec)


def tree_map_only(cls: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """Apply `func` to the leaves that are instances of `cls`."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, cls) else leaf, tree)


def broadcast_to(tree: Any, treespec: TreeSpec) -> list[Any] | None:
    """Return leaves for `treespec` from a tree whose leaves may each stand for a whole subtree; None if it does not
    fit.

    Examples
    --------
    >>> from wengert.utils import _pytree
    >>> _pytree.broadcast_to((0, None), _pytree.tree_structure(("x", {"y": 1, "z": 2})))
    [0, None, None]
    """
    leaves: list[Any] = []
    return leaves if _broadcast(tree, treespec, leaves) else None


def _broadcast(tree: Any, spec: TreeSpec, leaves: list[Any]) -> bool:
    definition = _definition(tree)
    if definition is None:
        leaves.extend([tree] * spec.num_leaves)
        return True
    children, context = definition.flatten_fn(tree)
    if spec.type is not type(tree) or spec.context != context or len(children) != len(spec.children_specs):
        return False
    return all(_broadcast(child, s, leaves) for child, s in zip(children, spec.children_specs, strict=True))


_broadcast_to_and_flatten = broadcast_to
