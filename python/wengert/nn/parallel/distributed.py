"""`DistributedDataParallel`: a module whose copies on all ranks learn from the samples of all."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import wengert as wg
from wengert._C import Tensor
from wengert.distributed import broadcast
from wengert.distributed._agreement import agree
from wengert.distributed._groups import resolve
from wengert.utils._pytree import tree_flatten

from .._module.module import Module
from ._reducer import Reducer

_MEGABYTE = 1 << 20


class DistributedDataParallel(Module):
    """A module that averages its gradients over ranks during the backward pass.

    Each rank has a copy of the module and computes with its own samples. All start with the parameters of the first
    rank, get the same averaged gradients, and so stay equal after steps of equal optimizers. Messages go while the
    backward pass still runs: `wengert.profiler` shows them (``distributed::all_reduce``) beside its nodes.

    Parameters
    ----------
    module : Module
    device_ids, output_device, dim, check_reduction
        Accepted: a rank has one device.
    broadcast_buffers : bool, default True
        Whether buffers, such as running means, are copied from the first rank before each forward pass.
    init_sync : bool, default True
        Whether parameters and buffers are copied from the first rank at the beginning.
    process_group : ProcessGroup, optional
        Who takes part; all ranks by default.
    bucket_cap_mb : float, optional
        Size of the buckets in which gradients travel, 25 by default.
    find_unused_parameters : bool, default False
        Whether a backward pass may leave parameters out. They count as zero where others have a gradient.
    gradient_as_bucket_view : bool, default False
        Whether ``param.grad`` lies in the bucket: half the memory, and a copy less. Then do not ``detach_`` it.

    Raises
    ------
    RuntimeError
        If no parameter requires a gradient.
    DistError
        If the modules of ranks differ in names, shapes or dtypes.

    Notes
    -----
    The average of gradients is that of the mean over all samples if each rank has equally many, and a mean as its loss.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> from wengert.nn.parallel import DistributedDataParallel
    >>> dist.init_process_group("mpi")
    >>> model = DistributedDataParallel(wg.nn.Linear(2, 1))
    >>> model(wg.ones(4, 2)).mean().backward()
    >>> model.module.weight.grad
    tensor([[1., 1.]])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
    ) -> None:
        super().__init__()
        group = resolve("DistributedDataParallel", process_group)
        if group is None:
            raise ValueError("[DistributedDataParallel] this rank is not in process_group")
        named = [(name, param) for name, param in module.named_parameters() if param.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self.module, self.process_group = module, group
        self.broadcast_buffers, self.find_unused_parameters = broadcast_buffers, find_unused_parameters
        self.require_backward_grad_sync = True
        everything = [*module.named_parameters(), *module.named_buffers()]
        described = " ".join(f"{name}:{t.dtype}{list(t.shape)}{t.requires_grad}" for name, t in everything)
        agree(group, f"DistributedDataParallel of a module with {len(everything)} tensors: {described}", 0)
        if init_sync:
            self._copy_from_first_rank(tensor for _, tensor in everything)
        capacity = int((25 if bucket_cap_mb is None else bucket_cap_mb) * _MEGABYTE)
        self.reducer = Reducer(named, group, capacity, find_unused_parameters, gradient_as_bucket_view)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        if wg.is_grad_enabled():
            self.reducer.prepare(self.require_backward_grad_sync)
        if self.require_backward_grad_sync and self.broadcast_buffers:
            self._copy_from_first_rank(self.module.buffers())
        outputs = self.module(*inputs, **kwargs)
        if wg.is_grad_enabled() and self.require_backward_grad_sync and self.find_unused_parameters:
            for leaf in tree_flatten(outputs)[0]:  # a pass that reaches no parameter takes part too
                if isinstance(leaf, Tensor) and leaf.requires_grad:
                    leaf.register_hook(self._begin)
        return outputs

    @contextmanager
    def no_sync(self) -> Generator[None, None, None]:
        """Let gradients add up on each rank: forward passes inside do not average them.

        The first pass outside averages what has come together.

        Examples
        --------
        >>> import wengert as wg
        >>> import wengert.distributed as dist
        >>> from wengert.nn.parallel import DistributedDataParallel
        >>> dist.init_process_group("mpi")
        >>> model = DistributedDataParallel(wg.nn.Linear(2, 1))
        >>> with model.no_sync():
        ...     model(wg.ones(4, 2)).mean().backward()
        >>> model(wg.ones(4, 2)).mean().backward()
        >>> model.module.weight.grad
        tensor([[2., 2.]])
        >>> dist.destroy_process_group()
        """
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def _begin(self, grad: Tensor) -> None:
        self.reducer.begin()

    def _copy_from_first_rank(self, tensors: Iterable[Tensor]) -> None:
        kinds: dict[Any, list[Tensor]] = {}
        for tensor in tensors:
            kinds.setdefault((tensor.dtype, str(tensor.device)), []).append(tensor.detach())
        for alike in kinds.values():
            _copy_together(alike, self.process_group)


def _copy_together(tensors: Sequence[Tensor], group: Any) -> None:
    """Copy tensors of one dtype and device from the first rank, in one message."""
    with wg.no_grad():
        flat = wg.cat([tensor.reshape(-1) for tensor in tensors])
        broadcast(flat, group=group, group_src=0)
        if group.rank() != 0:
            for tensor, part in zip(tensors, flat.split([t.numel() for t in tensors]), strict=True):
                tensor.copy_(part.view(tensor.shape))
