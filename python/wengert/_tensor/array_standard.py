"""The methods that the array API standard asks of arrays and PyTorch does not have."""

from __future__ import annotations

from typing import Any


def __array_namespace__(self: Any, /, *, api_version: str | None = None) -> Any:  # noqa: N807  # the standard's name
    """Return the functions of the array API standard, the module `wengert.array_api`.

    Parameters
    ----------
    api_version : str, optional
        The year and month of an edition of the standard, ``"2024.12"``.

    Raises
    ------
    ValueError
        If there is no such edition.
    """
    from wengert import array_api

    if api_version not in (None, *array_api._info.VERSIONS):
        raise ValueError(
            f"[__array_namespace__] there is no edition {api_version!r} of the standard here; editions are "
            f"{', '.join(array_api._info.VERSIONS)}"
        )
    return array_api


def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    """Return the tensor on a device, itself if it is there.

    Parameters
    ----------
    device : device or str
    stream : None
        There is no choice of streams here; use `wengert.accelerator.stream` around the call.

    Raises
    ------
    ValueError
        If a stream is given.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.ones(2).to_device("cpu")
    tensor([1., 1.])
    """
    if stream is not None:
        raise ValueError(f"[to_device] stream={stream!r} is not possible; make the copy on its stream, by a with block")
    return self.to(device)


METHODS = (__array_namespace__, to_device)
