"""All workloads, in the order of the report."""

from . import cnn, elementwise, gaussian_process, indexing, lstm, mlp, neural_ode, overhead, transformer

WORKLOADS = (
    *overhead.WORKLOADS,
    *indexing.WORKLOADS,
    mlp.WORKLOAD,
    lstm.WORKLOAD,
    neural_ode.WORKLOAD,
    gaussian_process.WORKLOAD,
    transformer.WORKLOAD,
    cnn.WORKLOAD,
    elementwise.WORKLOAD,
    overhead.LONG_CHAIN,
)

__all__ = ["WORKLOADS"]
