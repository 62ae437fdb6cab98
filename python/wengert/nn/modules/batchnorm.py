"""Batch normalisation: each channel is normalised over the batch, and in evaluation by running statistics."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._layers.affine import Affine
from .._uninitialized import UninitializedBuffer, UninitializedParameter
from .lazy import LazyLayer

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
    "SyncBatchNorm",
]  # fmt: skip


class _NormBase(Affine):
    """What batch and instance norms share: scale, shift, running statistics."""

    _version = 2
    _dims: ClassVar[tuple[int, ...]] = ()  # how many dimensions inputs may have
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make_affine(num_features, device, dtype, weight=affine, bias=affine and bias)
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        tracked = track_running_stats
        self.register_buffer("running_mean", wengert.zeros(num_features, **made) if tracked else None)
        self.register_buffer("running_var", wengert.ones(num_features, **made) if tracked else None)
        self.register_buffer(
            "num_batches_tracked", wengert.tensor(0, dtype=wengert.int64, device=device) if tracked else None
        )
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set running statistics to mean 0 and variance 1."""
        if self.track_running_stats:
            for buffer, value in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
                if buffer is not None:
                    buffer.fill_(value)

    def reset_parameters(self) -> None:
        """Set running statistics, scale and shift to what they are at first."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        if self._dims and input.ndim not in self._dims:
            wanted = " or ".join(f"{n}D" for n in self._dims)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], *more: Any, **kwargs: Any
    ) -> None:
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:  # not saved then
            state_dict[key] = wengert.tensor(0) if self.num_batches_tracked is None else self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *more, **kwargs)


class _BatchNorm(_NormBase):
    """Batch normalisation of any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalise; in training, running statistics move towards those of the batch."""
        self._check_input_dim(input)
        mean, var = self.running_mean, self.running_var
        training = self.training
        if training and self.track_running_stats:
            share = self._count_batch()
        else:
            share = 0.0 if self.momentum is None else self.momentum
            if training:
                mean = var = None
            else:
                training = mean is None and var is None
        return F.batch_norm(input, mean, var, self.weight, self.bias, training, share, self.eps)

    def _count_batch(self) -> float:
        """Return the share that a batch gets of running statistics, after counting it."""
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel of [N, C] or [N, C, L].

    Mean and variance (divided by N) are those of the batch in training. In evaluation they are running statistics, to
    which each batch in training contributed `momentum`, with its variance divided by N - 1 (Ioffe and Szegedy, 2015).

    Parameters
    ----------
    num_features : int
        C
    eps : float, default 1e-5
    momentum : float or None, default 0.1
        None makes running statistics the mean over all batches.
    affine : bool, default True
        Whether there are `weight` and `bias`.
    track_running_stats : bool, default True
        Whether there are running statistics; without them evaluation uses those of the batch.
    device : device, optional
    dtype : dtype, optional
    bias : bool, default True

    Attributes
    ----------
    weight, bias : Parameter or None
        [C]; ones and zeros at first.
    running_mean, running_var, num_batches_tracked : Tensor or None
        Buffers.

    Raises
    ------
    ValueError
        When called with another number of dimensions.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.BatchNorm1d(1, affine=False)(wg.tensor([[1.0], [3.0]]))
    tensor([[-1.0000],
            [ 1.0000]])
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`BatchNorm1d` of images, [N, C, H, W]."""

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """`BatchNorm1d` of volumes, [N, C, D, H, W]."""

    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm1d` of any number of dimensions; in PyTorch, over the batches of several processes.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats
        See `BatchNorm1d`.
    process_group : None
        There is one process.
    device : device, optional
    dtype : dtype, optional
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Return a module with its batch norms made such ones, which share parameters and buffers."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for registry in ("_parameters", "_buffers"):
                getattr(converted, registry).update(getattr(module, registry))
            converted.training = module.training
        for name, child in list(module.named_children()):
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _LazyNorm(LazyLayer):
    """What lazy norms share; they stand before the norm that they become."""

    _from_input = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        layer: Any = self
        layer.affine, layer.track_running_stats = affine, track_running_stats
        if affine:
            layer.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                layer.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            layer.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            layer.running_var = UninitializedBuffer(device=device, dtype=dtype)
            layer.num_batches_tracked = wengert.tensor(0, dtype=wengert.int64, device=device)

    def initialize_parameters(self, input: Tensor, *_: Any, **__: Any) -> None:
        """Make parameters and buffers from the first input."""
        layer: Any = self
        if self.has_uninitialized_params():
            layer.num_features = input.shape[1]
            for tensor in (layer.weight, layer.bias, layer.running_mean, layer.running_var):
                if tensor is not None:
                    tensor.materialize((layer.num_features,))
            layer.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """`BatchNorm1d` that takes `num_features` from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """`BatchNorm2d` that takes `num_features` from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """`BatchNorm3d` that takes `num_features` from its first input."""

    cls_to_become = BatchNorm3d
