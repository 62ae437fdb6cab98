"""Several processes that compute together, on one machine or many, by MPI.

PyTorch's names and meanings (``torch.distributed``), through mpi4py::

    pip install 'wengert[mpi]' mpich          # or the MPI library of your cluster
    mpiexec -n 4 python program.py

where each of the four processes, the *ranks*, runs ``program.py``:

    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> x = wg.full((2,), dist.get_rank() + 1.0)
    >>> dist.all_reduce(x)
    >>> x  # with four ranks tensor([10., 10.]); this is one
    tensor([1., 1.])
    >>> dist.destroy_process_group()

Which module does what:

- `_groups.py`: who takes part. Read it first.
- `_collectives.py`, `_point_to_point.py`, `_objects.py`: communication that writes into tensors, or moves objects.
- `nn.functional` (by `_linear.py` and `_linked.py`): communication that is differentiated, in both modes.
- `_transfers.py`, `_reductions.py`: how tensors move, and how they are added, in the order of ranks.
- `_progress.py`, `_work.py`: how messages go on while the program computes.
- `_agreement.py`, `_failure.py`: what keeps an error on one rank from being a silence on the others.

`wengert.nn.parallel.DistributedDataParallel` trains on several ranks, `optim.ZeroRedundancyOptimizer` shares out the
state of optimizers, `wengert.utils.data.DistributedSampler` the samples.
"""

from . import nn as nn
from . import optim as optim
from ._agreement import DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env
from ._collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from ._errors import DistBackendError, DistError
from ._groups import (
    Backend,
    GroupMember,
    ProcessGroup,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_initialized,
    new_group,
    new_subgroups,
)
from ._mpi import is_mpi_available
from ._objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from ._point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from ._reductions import ReduceOp
from ._work import Work

__all__ = [
    "Backend",
    "DebugLevel",
    "DistBackendError",
    "DistError",
    "GroupMember",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_debug_level",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "is_mpi_available",
    "isend",
    "new_group",
    "new_subgroups",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "set_debug_level",
    "set_debug_level_from_env",
]
