"""Mixed precision: `autocast` computes what may in 16 bits, `GradScaler` keeps small gradients out of underflow.

The casts are made by the operations themselves (the key ``autocast`` of their rows in the table).
"""

from ._autocast import autocast as autocast
from ._autocast import is_autocast_available as is_autocast_available
from ._custom_function import custom_bwd as custom_bwd
from ._custom_function import custom_fwd as custom_fwd
from ._grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
