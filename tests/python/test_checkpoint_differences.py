"""Checkpoints whose second run differs from the first: rows K5 (what is compared) and K6 (debug mode)."""

import pytest

import wengert as wg
from tests.checkpoints import Counting, again
from wengert.utils.checkpoint import CheckpointError, set_checkpoint_debug_enabled


@pytest.fixture
def x():
    return wg.tensor([0.1, 0.2, 0.3], requires_grad=True)


# --- K5
def test_k5_fewer_tensors_says_where_the_runs_part(x):
    runs = []

    def f(x):
        runs.append(1)
        y = x.sin()
        return y.cos() if len(runs) == 1 else y

    y = again(f, x).sum()
    with pytest.raises(CheckpointError, match="A different number of tensors was saved") as caught:
        y.backward()
    assert "during forward: 2" in str(caught.value)
    assert "during recomputation: 1" in str(caught.value)
    assert "Only the forward pass saved the tensor after that, by 'cos' at" in str(caught.value)
    assert __file__ in str(caught.value)
    y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x).sum()
    with pytest.raises(CheckpointError, match="The runs part at tensor 0: the forward pass saved it by 'sin' at"):
        y.backward()


def test_k5_more_tensors(x):
    y = again(Counting(lambda x: x.sin(), lambda x: x.sin().cos()), x, early_stop=False).sum()
    with pytest.raises(CheckpointError, match=r"trying to save more tensors during recomputation(.|\n)*by 'cos' at"):
        y.backward()


def test_k5_other_metadata(x):
    y = again(Counting(lambda x: x.sin() * 2, lambda x: x.double().sin()), x).sum()
    with pytest.raises(CheckpointError, match=r"have different metadata(.|\n)*float32(.|\n)*float64") as caught:
        y.backward()
    assert "tensor at position 0, saved by 'sin' at" in str(caught.value)


def test_k5_none_compares_numbers_only(x):
    f = Counting(lambda x: x.sin(), lambda x: x.double().sin())
    again(f, x, determinism_check="none").sum().backward()


# --- K6
def test_k6_debug_shows_the_operations_of_both_runs(x):
    y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x, debug=True).sum()
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    message = str(caught.value)
    assert "$1: float32[3] = aten.sin.default($0)" in message
    assert "aten.cos.default($1)   (2 of 2 in original)" in message
    assert "aten.exp.default($0)   (1 of 1 in recompute)" in message
    assert "test_checkpoint_differences.py" in message
    assert "A different number of tensors" in message


def test_k6_block_decides(x):
    with set_checkpoint_debug_enabled(True):
        y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x).sum()
    with pytest.raises(CheckpointError, match=r"aten.cos.default"):
        y.backward()
    with set_checkpoint_debug_enabled(False):
        y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x, debug=True).sum()
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    assert "aten.cos.default" not in str(caught.value)
