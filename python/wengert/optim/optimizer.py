"""What PyTorch's module of this name has: the base class, and hooks around the steps of all optimizers."""

from ._groups import required as required
from ._hooks import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from ._optimizer import Optimizer

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]
