"""A name that is not there says where it is, or what to use instead."""

import pickle
import subprocess
import sys

import pytest

import wengert as wg
from wengert.nn import functional as F  # noqa: N812


@pytest.mark.parametrize(
    ("module", "name", "remedy"),
    [
        (wg, "softplus", "use wengert.nn.functional.softplus"),
        (wg, "eigh", "use wengert.linalg.eigh"),
        (wg, "grad", "use wengert.func.grad"),
        (wg, "jacrev", "use wengert.func.jacrev"),
        (wg, "rfft", "use wengert.fft.rfft"),
        (wg, "minimize", "use wengert.optimize.minimize"),
        (wg, "float8_e5m2", "use float32"),
        (wg, "compile", "nothing to compile"),
        (wg, "backends", "there is no such device"),
        (wg, "sparse_bsr_tensor", "sparse_jacobian"),
        (wg, "array", "use wengert.tensor(data)"),
        (wg, "Linear", "use wengert.nn.Linear"),
        (wg, "Module", "use wengert.nn.Module"),
        (wg.nn, "DataParallel", "nothing splits a batch over devices; wengert.nn.parallel.DistributedDataParallel"),
        (wg, "multiprocessing", "use wengert.distributed, the module multiprocessing of Python"),
        (wg, "float8_e4m3fn", "numbers of 8 bits or less with a fraction are not supported, use float32"),
        (wg, "complex32", "use complex64"),
        (wg, "Normal", "use wengert.distributions.Normal"),
        (wg, "DataLoader", "use wengert.utils.data.DataLoader"),
        (wg.optim, "StepLR", "use wengert.optim.lr_scheduler.StepLR"),
        (wg.optim, "AveragedModel", "use wengert.optim.swa_utils.AveragedModel"),
        (wg.nn, "xavier_uniform_", "use wengert.nn.init.xavier_uniform_"),
        (wg.nn, "clip_grad_norm_", "use wengert.nn.utils.clip_grad_norm_"),
        (wg.nn, "pad_sequence", "use wengert.nn.utils.rnn.pad_sequence"),
        (wg.nn, "relu", "use wengert.relu"),
        (F, "exp", "use wengert.exp"),
        (wg.linalg, "gammaln", "use wengert.special.gammaln"),
        (wg.special, "inv", "use wengert.linalg.inv"),
        (wg.autograd, "jvp", "use wengert.func.jvp"),
    ],
)
def test_missing_names_have_a_remedy(module, name, remedy):
    with pytest.raises(AttributeError) as error:
        getattr(module, name)
    assert f"module {module.__name__!r} has no attribute {name!r}" in str(error.value)
    assert remedy in str(error.value)
    assert error.value.obj is module
    assert error.value.name == name


def test_names_without_any_relation_have_none():
    with pytest.raises(AttributeError, match=r"^module 'wengert' has no attribute 'zzzz'$"):
        wg.zzzz  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'wengert' has no attribute '__wrapped__'$"):
        wg.__wrapped__  # noqa: B018  # as inspect and doctest ask


def test_asking_loads_nothing():
    code = """
import sys, wengert
loaded = set(sys.modules)
print(any(hasattr(wengert, name) for name in ("complex32", "Normal", "zzzz")))
print(sorted(name for name in set(sys.modules) - loaded if name != "wengert._missing"))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n[]\n"


def test_errors_are_pickled_with_their_message():
    with pytest.raises(AttributeError) as error:
        wg.softplus  # noqa: B018
    (message,) = pickle.loads(pickle.dumps(error.value.args))
    assert message == str(error.value)
    assert repr(error.value) == f"AttributeError({message!r})"


def test_there_is_no_gpu():
    assert not wg.cuda.is_available()
    assert wg.cuda.device_count() == 0
    for call in (wg.cuda.current_device, wg.ones(1).cuda):
        with pytest.raises(
            RuntimeError, match=r"built without CUDA; devices are the CPU, meta and sim \(wengert\.sim\)"
        ):
            call()
    device = "cuda" if wg.cuda.is_available() else "cpu"
    assert wg.zeros(2, device=device).device.type == "cpu"
