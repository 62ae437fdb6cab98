"""Every benchmark computes the same values and gradients in both packages."""

import pytest

import wengert as wg
from benchmarks.agreement import require_agreement
from benchmarks.workloads import WORKLOADS

torch = pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_workload_agrees(workload):
    results = {"wengert": workload.prepare(wg)(), "torch": workload.prepare(torch)()}
    require_agreement(results, workload.tolerance)
