"""All workloads, in the order of the report."""

from . import (
    cnn,
    cores,
    elementwise,
    gaussian_process,
    indexing,
    lstm,
    lstm_layer,
    mlp,
    modules,
    neural_ode,
    overhead,
    transformer,
    transforms,
)

WORKLOADS = (
    *overhead.WORKLOADS,
    *indexing.WORKLOADS,
    mlp.WORKLOAD,
    modules.WORKLOAD,
    lstm.WORKLOAD,
    lstm_layer.WORKLOAD,
    neural_ode.WORKLOAD,
    gaussian_process.WORKLOAD,
    transformer.WORKLOAD,
    cnn.WORKLOAD,
    elementwise.WORKLOAD,
    *cores.WORKLOADS,
    *transforms.WORKLOADS,
    overhead.LONG_CHAIN,
)

__all__ = ["WORKLOADS"]
