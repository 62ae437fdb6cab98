"""Changes of all tensors of a module at once: dtype, device, whether they want gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import wengert
from wengert._C import Tensor

from .hooks import Hooked


class Conversion(Hooked):
    """The part of a module that converts it; every method changes the module in place and returns it."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace parameters (their data, so that optimizers keep them), their gradients, and buffers."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with wengert.no_grad():
                converted = fn(parameter)
                grad = None if parameter.grad is None else fn(parameter.grad)
            if converted is not parameter:
                parameter.grad = None
                parameter.data = converted
                parameter.grad = grad
        for name, buffer in list(self._buffers.items()):
            if buffer is not None:
                self._registry("_buffers", "buffer")[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Any], None]) -> Self:
        """Call ``fn(module)`` for every module in this one, then for this one; typically to initialise parameters."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert all parameters and buffers, in place; called as `Tensor.to`.

        Parameters
        ----------
        device : device, optional
        dtype : dtype, optional
            Floating point or complex; integer buffers keep theirs.
        non_blocking : bool, default False
        memory_format : memory_format, optional
            Of parameters and buffers with 4 or 5 dimensions.

        Raises
        ------
        TypeError
            If `dtype` is neither floating point nor complex.

        Examples
        --------
        >>> import wengert as wg
        >>> wg.nn.Linear(2, 3).to(wg.float64).weight.dtype
        wengert.float64
        """
        device, dtype, options, memory_format = _read_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor: Any) -> Tensor:
            wanted = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            if memory_format is not None and tensor.ndim in (4, 5):
                options["memory_format"] = memory_format
            else:
                options.pop("memory_format", None)
            result: Tensor = tensor.to(device, wanted or tensor.dtype, **options)
            return result

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying values: memory there is as it comes."""
        return self._apply(lambda tensor: wengert.empty_like(tensor, device=device), recurse=recurse)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _floating(self, method: str) -> Self:
        return self._apply(lambda tensor: getattr(tensor, method)() if tensor.is_floating_point() else tensor)

    def float(self) -> Self:
        """Convert floating-point parameters and buffers to float32."""
        return self._floating("float")

    def double(self) -> Self:
        """Convert floating-point parameters and buffers to float64."""
        return self._floating("double")

    def half(self) -> Self:
        """Convert floating-point parameters and buffers to float16."""
        return self._floating("half")

    def bfloat16(self) -> Self:
        """Convert floating-point parameters and buffers to bfloat16."""
        return self._floating("bfloat16")

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move all parameters and buffers to a GPU."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def train(self, mode: bool = True) -> Self:
        """Switch this module and those in it to training, or with False to evaluation: dropout and batch norms differ.

        Raises
        ------
        ValueError
            If `mode` is not bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Switch this module and those in it to evaluation."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether all parameters want gradients."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters: drop them, or with False fill them with zeros."""
        for parameter in self.parameters():
            grad = parameter.grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    def share_memory(self) -> Self:
        """Return the module: tensors are shared with processes by pickling their values."""
        raise NotImplementedError("share_memory: tensors cannot be shared between processes yet; send state_dict()")


def _read_to(
    device: Any = None, dtype: Any = None, non_blocking: bool = False, *more: Any, memory_format: Any = None
) -> tuple[Any, Any, dict[str, Any], Any]:
    """Read the arguments of `Tensor.to`: a device and a dtype, a dtype alone, or a tensor that has both."""
    if isinstance(device, Tensor):
        device, dtype, non_blocking = device.device, device.dtype, dtype or non_blocking
    elif isinstance(device, wengert.dtype):
        device, dtype, non_blocking = None, device, dtype or non_blocking
    return device, dtype, {"non_blocking": bool(non_blocking)}, memory_format
