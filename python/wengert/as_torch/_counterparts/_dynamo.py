"""``torch._dynamo``, of which packages use what is also in ``torch.compiler``."""

from .compiler import allow_in_graph as allow_in_graph
from .compiler import disable as disable
from .compiler import is_compiling as is_compiling
from .compiler import reset as reset
