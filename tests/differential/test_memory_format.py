"""`memory_format=`: where elements lie, in both packages."""

import pytest

import wengert as wg

torch = pytest.importorskip("torch")

PROGRAMS = {
    "contiguous": lambda tc, x: x.contiguous(memory_format=tc.channels_last),
    "contiguous again": lambda tc, x: x.contiguous(memory_format=tc.channels_last).contiguous(),
    "contiguous as it is": lambda tc, x: x.contiguous(memory_format=tc.contiguous_format),
    "clone": lambda tc, x: x.clone(memory_format=tc.channels_last),
    "clone kept": lambda tc, x: x.contiguous(memory_format=tc.channels_last).clone(memory_format=tc.preserve_format),
    "clone by default": lambda tc, x: x.contiguous(memory_format=tc.channels_last).clone(),
    "clone in rows": lambda tc, x: x.transpose(1, 3).clone(memory_format=tc.contiguous_format),
    "clone None": lambda tc, x: tc.clone(x, memory_format=None),
    "to": lambda tc, x: x.to(memory_format=tc.channels_last),
    "to a dtype": lambda tc, x: x.to(tc.float64, memory_format=tc.channels_last),
    "to another's": lambda tc, x: x.to(tc.ones(1, dtype=tc.float64), memory_format=tc.channels_last),
    "volumes": lambda tc, x: x.unsqueeze(2).expand(2, 3, 2, 2, 4).contiguous(memory_format=tc.channels_last_3d),
    "empty": lambda tc, x: tc.empty(2, 3, 2, 4, memory_format=tc.channels_last).zero_(),
    "ones_like": lambda tc, x: tc.ones_like(x, memory_format=tc.channels_last),
    "ones_like in rows": lambda tc, x: tc.ones_like(x.transpose(1, 3), memory_format=tc.contiguous_format),
    "full_like": lambda tc, x: tc.full_like(x.contiguous(memory_format=tc.channels_last), 2.0),
}

ERRORS = {
    "kept": lambda tc, x: x.transpose(1, 3).contiguous(memory_format=tc.preserve_format),
    "rank": lambda tc, x: x[0].contiguous(memory_format=tc.channels_last),
    "rank of volumes": lambda tc, x: x.clone(memory_format=tc.channels_last_3d),
    "positional": lambda tc, x: x.contiguous(tc.contiguous_format),
    "a dtype": lambda tc, x: x.clone(memory_format=tc.float32),
}


def sample(tc):
    return tc.arange(48, dtype=tc.float32).reshape(2, 3, 2, 4).requires_grad_()


@pytest.mark.parametrize("program", PROGRAMS)
def test_layouts(program):
    ours, theirs = (PROGRAMS[program](tc, sample(tc)) for tc in (wg, torch))
    assert ours.stride() == theirs.stride()
    assert ours.tolist() == theirs.tolist()
    assert str(ours.dtype).removeprefix("wengert.") == str(theirs.dtype).removeprefix("torch.")
    for name in ("contiguous_format", "channels_last", "channels_last_3d"):
        assert ours.is_contiguous(memory_format=getattr(wg, name)) == theirs.is_contiguous(
            memory_format=getattr(torch, name)
        )


@pytest.mark.parametrize("program", ["contiguous", "clone", "clone in rows", "to", "to a dtype"])
def test_gradients_arrive(program):
    for tc in (wg, torch):
        x = sample(tc)
        y = PROGRAMS[program](tc, x)
        assert not y._is_view()
        (y * y).sum().backward()
        assert x.grad.tolist() == (2 * x).tolist()


def test_a_copy_in_rows_is_a_clone():
    for tc in (wg, torch):
        assert sample(tc).transpose(1, 3).contiguous().grad_fn.name() == "CloneBackward0"


@pytest.mark.parametrize("program", ERRORS)
def test_refused_formats(program):
    with pytest.raises((RuntimeError, TypeError)) as theirs:
        ERRORS[program](torch, sample(torch))
    with pytest.raises(theirs.type):
        ERRORS[program](wg, sample(wg))


def test_what_is_laid_out_so_is_not_copied():
    x = sample(wg)
    y = x.contiguous(memory_format=wg.channels_last)
    assert y.contiguous(memory_format=wg.channels_last) is y
    assert y.to(memory_format=wg.channels_last) is y
    assert x.to(memory_format=wg.preserve_format) is x


def test_samples_of_a_batch_are_laid_out():
    x = wg.randn(5, 2, 3, 2, 4)
    layouts = []

    def laid_out(t):
        y = t.contiguous(memory_format=wg.channels_last)
        layouts.append(y.stride())
        return y

    result = wg.func.vmap(laid_out)(x)
    assert layouts == [(24, 1, 12, 3)]
    assert wg.equal(result, x)
