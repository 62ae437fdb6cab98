"""Sequences of different lengths: padded, or packed step by step without padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import wengert
from wengert._C import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences in decreasing order of length: first all their first elements, then all second ones, ...

    `pack_padded_sequence` and `pack_sequence` make it.

    Attributes
    ----------
    data : Tensor
        [sum of lengths, ...]
    batch_sizes : Tensor
        How many sequences have a first element, a second one, ...; on the CPU, as lengths are.
    sorted_indices, unsorted_indices : Tensor or None
        The permutation from the order of the batch to decreasing length, and back.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("PackedSequence needs batch_sizes")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def _with(self, change: Callable[[Tensor], Tensor]) -> Self:
        data, sizes, *orders = self
        changed = change(data)
        moved = (bind(order, lambda t: t.to(changed.device)) for order in orders)
        return self if changed is data else type(self)(changed, sizes, *moved)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the data; called as `Tensor.to`."""
        return self._with(lambda data: data.to(*args, **kwargs))

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self._with(lambda data: data.cpu())

    def double(self) -> Self:
        """Convert to float64."""
        return self._with(lambda data: data.double())

    def float(self) -> Self:
        """Convert to float32."""
        return self._with(lambda data: data.float())

    def half(self) -> Self:
        """Convert to float16."""
        return self._with(lambda data: data.half())

    def long(self) -> Self:
        """Convert to int64."""
        return self._with(lambda data: data.long())

    def int(self) -> Self:
        """Convert to int32."""
        return self._with(lambda data: data.int())

    @property
    def is_cuda(self) -> bool:
        """Whether the data are on a GPU."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Whether the data are in page-locked memory."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the inverse of a permutation."""
    if permutation is None:
        return None
    places = wengert.arange(permutation.numel(), device=permutation.device)
    return wengert.empty_like(permutation).scatter_(0, permutation, places)


def _positions(batch_sizes: list[int], batch: int, device: Any) -> Tensor:
    """Return where in [steps, batch] (flattened) each packed element stands."""
    places = [step * batch + i for step, size in enumerate(batch_sizes) for i in range(size)]
    return wengert.tensor(places, device=device)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences that are padded to one length.

    Parameters
    ----------
    input : Tensor
        [T, B, ...]; [B, T, ...] with `batch_first`.
    lengths : Tensor or sequence of int
        [B]
    batch_first : bool, default False
    enforce_sorted : bool, default True
        Whether sequences have to come in decreasing order of length; otherwise they are sorted.

    Returns
    -------
    PackedSequence

    Raises
    ------
    RuntimeError
        If a length is not positive, or lengths do not decrease and `enforce_sorted` is True.

    Examples
    --------
    >>> import wengert as wg
    >>> packed = wg.nn.utils.rnn.pack_padded_sequence(wg.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True)
    >>> packed.data, packed.batch_sizes
    (tensor([1, 3, 2]), tensor([2, 1]))
    """
    if not isinstance(lengths, Tensor):
        lengths = wengert.tensor(list(lengths), dtype=wengert.int64)
    order = None
    if batch_first:
        input = input.transpose(0, 1)
    if not enforce_sorted:
        lengths, order = wengert.sort(lengths, descending=True, stable=True)
        order = order.to(input.device)
        input = input.index_select(1, order)
    known: list[int] = [int(length) for length in lengths.tolist()]
    if len(known) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(known)} (batch_size={input.shape[1]})"
        )
    if known != sorted(known, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if known[-1] <= 0:
        raise RuntimeError(
            f"Length of all samples has to be greater than 0, but found an element in 'lengths' that is {known[-1]}"
        )
    if known[0] > input.shape[0]:
        raise RuntimeError(f"the longest sequence has {known[0]} steps, but `input` has only {input.shape[0]}")
    sizes = [sum(length > step for length in known) for step in range(known[0])]
    data = input.flatten(0, 1).index_select(0, _positions(sizes, len(known), input.device))
    return PackedSequence(data, wengert.tensor(sizes, dtype=wengert.int64), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Pad packed sequences to one length: the inverse of `pack_padded_sequence`.

    Parameters
    ----------
    sequence : PackedSequence
    batch_first : bool, default False
    padding_value : float, default 0
    total_length : int, optional
        The length of the result; that of the longest sequence by default.

    Returns
    -------
    padded : Tensor
        [T, B, ...]; [B, T, ...] with `batch_first`.
    lengths : Tensor
        [B]

    Raises
    ------
    ValueError
        If `total_length` is too small.
    """
    sizes: list[int] = [int(size) for size in sequence.batch_sizes.tolist()]
    steps, batch = len(sizes), sizes[0]
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    data = sequence.data
    empty = data.new_full((steps * batch, *data.shape[1:]), padding_value)
    padded = empty.index_copy(0, _positions(sizes, batch, data.device), data).unflatten(0, (steps, batch))
    lengths = wengert.tensor([sum(size > i for size in sizes) for i in range(batch)], dtype=wengert.int64)
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices
        padded, lengths = padded.index_select(1, order), lengths[order.cpu()]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stack sequences of different lengths, padded to the longest.

    Parameters
    ----------
    sequences : sequence of Tensor
        [L, ...] each
    batch_first : bool, default False
        Whether the result is [B, T, ...] rather than [T, B, ...].
    padding_value : float, default 0
    padding_side : {'right', 'left'}

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.utils.rnn.pad_sequence([wg.ones(2), wg.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    if padding_side not in ("right", "left"):
        raise ValueError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    tensors = list(sequences)
    longest = max(len(t) for t in tensors)
    padded = []
    for tensor in tensors:
        filling = tensor.new_full((longest - len(tensor), *tensor.shape[1:]), padding_value)
        padded.append(wengert.cat([tensor, filling] if padding_side == "right" else [filling, tensor]))
    return wengert.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Return the sequences without their padding: the inverse of `pad_sequence`."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:length] for s, length in zip(padded_sequences, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths, [L, ...] each; see `pack_padded_sequence`."""
    lengths = wengert.tensor([len(s) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a packed one, in the order of the batch."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


def bind(optional: Any, fn: Callable[[Any], Any]) -> Any:
    """Return ``fn(optional)``, or None for None."""
    return None if optional is None else fn(optional)
