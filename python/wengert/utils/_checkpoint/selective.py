"""Selective checkpoints: the results of chosen operations are kept after all, and the recomputation takes them over.

Two dispatch modes share a store. In the forward pass `_Keeping` asks the policy about each operation and keeps what
it is told to, as (operation, how many times it was called before). In the recomputation `_Reusing` counts along and
answers with what was kept, once; everything else is computed.
"""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from wengert import ops
from wengert._C import Tensor
from wengert.autograd._modes.context import Block

from .._python_dispatch import TorchDispatchMode


class CheckpointPolicy(enum.Enum):
    """What to do with an operation's results; PREFER leaves a compiler the choice, and means the same here."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEEP = {
    CheckpointPolicy.MUST_SAVE,
    CheckpointPolicy.PREFER_SAVE,
    CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD,
}

SAC_IGNORED_OPS: set[Any] = {ops.aten.detach.default}  # operations that the policy is not asked about


class SelectiveCheckpointContext:
    """What a policy is told besides the operation and its arguments.

    Attributes
    ----------
    is_recompute : bool
        Whether this is the second run. Policies are asked in the first only.
    op_output : object
        The operation's result.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Kept:
    """Results, with the versions they had."""

    def __init__(self, results: Any) -> None:
        self._is_single = isinstance(results, Tensor)
        tensors = [results] if self._is_single else list(results)
        self._tensors = [value.detach() if isinstance(value, Tensor) else value for value in tensors]
        self._versions = [value._version if isinstance(value, Tensor) else 0 for value in self._tensors]

    def take(self, func: Any, allow_mutation: bool) -> Any:
        """Return aliases: the recomputed graph gives what it gets a history."""
        for value, version in zip(self._tensors, self._versions, strict=True):
            if not allow_mutation and isinstance(value, Tensor) and value._version != version:
                raise RuntimeError(
                    f"Tensor cached during selective activation checkpoint has been mutated: a result of {func} of "
                    f"shape {list(value.shape)}, kept at version {version}, is at version {value._version}. Do not "
                    "keep results that are written in place, or pass allow_cache_entry_mutation=True."
                )
        aliases = tuple(value.detach() if isinstance(value, Tensor) else value for value in self._tensors)
        return aliases[0] if self._is_single else aliases


class _Store:
    def __init__(self) -> None:
        self.calls: Counter[Any] = Counter()
        self.kept: defaultdict[Any, dict[int, _Kept | None]] = defaultdict(dict)  # None: handed out


class _Keeping(TorchDispatchMode):
    def __init__(self, policy: Callable[..., Any], store: _Store) -> None:
        self._policy, self._store = policy, store

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return result
        answer = self._policy(SelectiveCheckpointContext(is_recompute=False, op_output=result), func, *args, **kwargs)
        if isinstance(answer, bool):
            answer = CheckpointPolicy.MUST_SAVE if answer else CheckpointPolicy.PREFER_RECOMPUTE
        number = self._store.calls[func]
        self._store.calls[func] += 1
        if answer in _KEEP:
            self._store.kept[func][number] = _Kept(result)
        return result


class _Reusing(TorchDispatchMode):
    def __init__(self, store: _Store, allow_mutation: bool) -> None:
        self._store, self._allow_mutation = store, allow_mutation
        self._calls: Counter[Any] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        if func not in self._store.calls:
            raise RuntimeError(
                f"{func} encountered during backward, but not found in storage: the recomputation of a selective "
                "checkpoint ran an operation that the forward pass did not"
            )
        number = self._calls[func]
        self._calls[func] += 1
        kept = self._store.kept[func]
        if number not in kept:
            return func(*args, **kwargs)
        results = kept[number]
        if results is None:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        kept[number] = None
        return results.take(func, self._allow_mutation)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """Return the two contexts of a checkpoint that keeps the results of some operations.

    Parameters
    ----------
    policy_fn_or_list : callable or list of operations
        Called as ``policy(ctx, op, *args, **kwargs)`` for each operation of the forward pass, returns a
        `CheckpointPolicy` (or a bool, True to keep). A list names the operations to keep, for example
        ``[wengert.ops.aten.mm.default]``.
    allow_cache_entry_mutation : bool, default False
        Whether a kept result may have been written in place since.

    Raises
    ------
    ValueError
        If an entry of the list is no operation.
    TypeError
        If the argument is neither callable nor list.

    Examples
    --------
    >>> import functools
    >>> import wengert as wg
    >>> from wengert.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> keep_products = functools.partial(create_selective_checkpoint_contexts, [wg.ops.aten.mm.default])
    >>> x = wg.eye(2).requires_grad_()
    >>> y = checkpoint(lambda x: (x @ x).exp(), x, use_reentrant=False, context_fn=keep_products)
    >>> y.sum().backward()
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, ops.OpOverload):
                hint = (
                    " Please update the OpOverloadPacket to a specific OpOverload, such as .default."
                    if isinstance(op, ops.OpOverloadPacket)
                    else " They are found under wengert.ops.aten."
                )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}.{hint}"
                )
        chosen = set(policy_fn_or_list)

        def policy(ctx: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in chosen else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    store = _Store()

    def recompute(block: Block) -> None:
        block.enter(_Reusing(store, allow_cache_entry_mutation))  # each counts the calls anew

    return _Keeping(policy, store), Block(recompute)
