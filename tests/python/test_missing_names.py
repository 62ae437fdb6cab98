"""A name that is not there says where it is, or what to use instead."""

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
        (wg, "float16", "use float32"),
        (wg, "compile", "nothing to compile"),
        (wg, "backends", "there is no such device"),
        (wg, "sparse_coo_tensor", "sparse_jacobian"),
        (wg, "array", "use wengert.tensor(data)"),
        (wg, "Linear", "use wengert.nn.Linear"),
        (wg, "Module", "use wengert.nn.Module"),
        (wg.nn, "DataParallel", "one process has one CPU"),
        (wg.nn, "relu", "use wengert.relu"),
        (wg.optim, "SparseAdam", "tensors are dense"),
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


def test_there_is_no_gpu():
    assert not wg.cuda.is_available()
    assert wg.cuda.device_count() == 0
    device = "cuda" if wg.cuda.is_available() else "cpu"
    assert wg.zeros(2, device=device).device.type == "cpu"
