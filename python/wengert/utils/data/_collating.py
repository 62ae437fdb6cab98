"""Samples put together into batches."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

import wengert as wg
from wengert._C import Tensor

Functions = dict[Any, Callable[..., Any]]

_UNFIT = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data: Any) -> Any:
    """Make tensors of the NumPy arrays and numbers in a sample, and leave everything else as it is.

    What a loader does that makes no batches.

    Parameters
    ----------
    data : object
        Dictionaries, lists, tuples and named tuples are looked into.

    Returns
    -------
    object
        A tuple becomes a list.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.utils.data import default_convert
    >>> default_convert({"x": np.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, Tensor) or (isinstance(data, np.ndarray) and data.dtype.kind in "SUO"):
        return data
    if isinstance(data, (np.ndarray, np.number, np.bool_)):
        return wg.as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(value) for value in data])
    return data


def collate(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Put samples together as `default_collate` does, with functions of one's own for some types.

    Parameters
    ----------
    batch : sequence
        Samples of one kind.
    collate_fn_map : dict, optional
        A type, or a tuple of types, to a function that takes the samples and ``collate_fn_map``. Exact types come
        first, then the first entry that the first sample is an instance of.

    Returns
    -------
    object

    Raises
    ------
    TypeError
        If there is no function for a type.
    RuntimeError
        If sequences differ in length.

    Examples
    --------
    >>> from wengert.utils.data._collating import collate
    >>> collate([(1, 2), (3, 4)], collate_fn_map={int: lambda batch, **_: sum(batch)})
    [4, 6]
    """
    first, functions = batch[0], collate_fn_map or {}
    function = functions.get(type(first)) or next((f for t, f in functions.items() if isinstance(first, t)), None)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def together(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like_mapping(first, {key: together([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _like_sequence(first, [together(column) for column in zip(*batch, strict=True)])
    raise TypeError(_UNFIT.format(type(first)))


def default_collate(batch: Any) -> Any:
    """Put samples together into one batch.

    Tensors, NumPy arrays and numbers become one tensor with a new first dimension; texts stay a list. Of dictionaries,
    lists, tuples and named tuples each part is put together by itself.

    Parameters
    ----------
    batch : sequence
        Samples of one kind.

    Returns
    -------
    object
        Tuples become lists; floats become float64.

    Raises
    ------
    TypeError
        If there is something else in a sample.
    RuntimeError
        If sequences, or shapes of tensors, differ.

    Examples
    --------
    >>> from wengert.utils.data import default_collate
    >>> default_collate([(0, "a"), (1, "b")])
    [tensor([0, 1]), ('a', 'b')]
    >>> default_collate([{"x": 0.5}, {"x": 1.5}])
    {'x': tensor([0.5000, 1.5000], dtype=wengert.float64)}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _collate_arrays(batch: Any, *, collate_fn_map: Functions | None) -> Any:
    if batch[0].dtype.kind in "SUO":
        raise TypeError(_UNFIT.format(batch[0].dtype))
    return collate([wg.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


# What a sample is made of, and how it is put together. Programs may add types of their own.
default_collate_fn_map: Functions = {
    Tensor: lambda batch, **_: wg.stack(list(batch), 0),
    np.ndarray: _collate_arrays,
    (np.bool_, np.number): lambda batch, **_: wg.as_tensor(np.asarray(batch)),
    float: lambda batch, **_: wg.tensor(batch, dtype=wg.float64),
    int: lambda batch, **_: wg.tensor(batch),
    str: lambda batch, **_: batch,
    bytes: lambda batch, **_: batch,
}


def _like_mapping(model: Any, values: dict[Any, Any]) -> Any:
    """Return a mapping of the type of `model`, with its attributes; a dictionary if that type does not allow it."""
    if type(model) is dict:
        return values
    try:
        if not isinstance(model, MutableMapping):
            return type(model)(values)
        clone = copy.copy(model)
        clone.update(values)
        return clone
    except TypeError:
        return values


def _like_sequence(model: Any, values: list[Any]) -> Any:
    """Return a sequence of the type of `model`, with its attributes; a list for a tuple, or if that is not allowed."""
    if isinstance(model, tuple):
        return type(model)(*values) if hasattr(model, "_fields") else values
    if type(model) is list:
        return values
    try:
        if not isinstance(model, MutableSequence):
            return type(model)(values)
        clone = copy.copy(model)
        for position, value in enumerate(values):
            clone[position] = value
        return clone
    except TypeError:
        return values
