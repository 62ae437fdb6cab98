"""Communication on 2 and 4 ranks: each module of cases, see `launch.py`."""

import importlib.util

import pytest

spec = importlib.util.spec_from_file_location("launch", __file__.replace("test_cases", "launch"))
launch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launch)


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    "module",
    ["cases_collectives", "cases_messages", "cases_derivatives", "cases_parallel", "cases_optimizers", "cases_devices"],
)
def test_cases(module, ranks):
    assert launch.run_cases(module, ranks) > 0
