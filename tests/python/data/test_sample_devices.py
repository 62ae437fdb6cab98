"""Samples that are not on the CPU come from workers as they are."""

import pytest

import wengert as wg
from wengert.utils.data import DataLoader, TensorDataset

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a machine with one core


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_meta(kind):
    dataset = TensorDataset(wg.empty(5, 3, device="meta"), wg.arange(5))
    loaded = list(DataLoader(dataset, batch_size=2, num_workers=2, workers=kind))
    assert [(x.device.type, tuple(x.shape), i.tolist()) for x, i in loaded] == [
        ("meta", (2, 3), [0, 1]),
        ("meta", (2, 3), [2, 3]),
        ("meta", (1, 3), [4]),
    ]


@pytest.mark.parametrize("options", [{"workers": "thread"}, {"multiprocessing_context": "spawn"}], ids=str)
def test_sim(options):
    dataset = TensorDataset(wg.arange(4.0, device="sim:1"))
    loaded = [x for (x,) in DataLoader(dataset, batch_size=2, num_workers=1, **options)]
    assert [str(x.device) for x in loaded] == ["sim:1", "sim:1"]
    assert [x.tolist() for x in loaded] == [[0, 1], [2, 3]]


def test_processes_made_by_fork_have_no_sim_that_is_in_use():
    dataset = TensorDataset(wg.arange(4.0, device="sim:1"))
    with pytest.raises(RuntimeError, match="use the 'spawn' start method"):
        list(DataLoader(dataset, batch_size=2, num_workers=1, multiprocessing_context="fork"))
