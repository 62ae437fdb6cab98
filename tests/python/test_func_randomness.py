"""Random numbers inside vmap: whatever draws, whichever arguments are mapped, in one vmap and in two."""

import itertools

import pytest

import wengert as wg
from wengert.func import vmap

F = wg.nn.functional

# What draws: a function of a sample of shape [4] with values in (0, 1).
DRAWS = {
    "rand": lambda x: wg.rand(4),
    "randn of a tuple": lambda x: wg.randn((4,)),
    "randint": lambda x: wg.randint(1000, (4,)),
    "randperm": lambda x: wg.randperm(20),
    "normal of numbers": lambda x: wg.normal(0.0, 1.0, (4,)),
    "rand_like": lambda x: wg.rand_like(x),
    "randint_like": lambda x: wg.randint_like(x, 1000),
    "normal": lambda x: wg.normal(x, 1.0),
    "normal of deviations": lambda x: wg.normal(0.0, x),
    "bernoulli": lambda x: wg.bernoulli(x.expand(20, 4)),
    "bernoulli of a number": lambda x: wg.bernoulli(x.expand(20, 4), 0.5),
    "multinomial": lambda x: wg.multinomial(x, 40, replacement=True),
    "multinomial of rows": lambda x: wg.multinomial(x.expand(3, 4), 40, replacement=True),
    "dropout": lambda x: F.dropout(wg.ones(20) * x[0]) != 0,
    "rrelu": lambda x: F.rrelu(-x, training=True) / x,
    "gumbel_softmax": lambda x: F.gumbel_softmax(x),
}
IN_PLACE = {
    "uniform_": lambda x: x.uniform_(),
    "normal_": lambda x: x.normal_(),
    "exponential_": lambda x: x.exponential_(),
    "random_": lambda x: x.random_(),
    "random_ of a range": lambda x: x.random_(-500, 500),
    "bernoulli_ of probabilities": lambda x: x.expand(20, 4).clone().bernoulli_(x),
}


def differ(rows):
    """Whether all of them are different."""
    return all(not wg.equal(a, b) for a, b in itertools.combinations(rows, 2))


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_samples_have_numbers_of_their_own_or_share_them(draw, mapped):
    x = wg.full((4,), 0.5)
    batch = x.expand(3, 4)
    run = (lambda b: draw(b)) if mapped else (lambda b: draw(x))  # equal values: what differs was drawn
    assert differ(vmap(run, randomness="different")(batch))
    first, *others = vmap(run, randomness="same")(batch)
    assert all(wg.equal(first, other) for other in others)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(run)(batch)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(["same", "different"], repeat=2)))
def test_two_vmaps(draw, outer, inner):
    batch = wg.full((2, 3, 4), 0.5)
    out = vmap(vmap(draw, randomness=inner), randomness=outer)(batch)
    rows = [list(row) for row in out]
    for row in rows:
        assert differ(row) if inner == "different" else all(wg.equal(row[0], other) for other in row)
    for a, b in zip(*rows, strict=True):
        assert wg.equal(a, b) == (outer == "same")


@pytest.mark.parametrize("draw", IN_PLACE.values(), ids=IN_PLACE)
def test_writes_draw_for_each_sample_or_once_for_all(draw):
    def run(b):
        return draw(b * 1)

    batch = wg.full((3, 4), 0.5)
    assert differ(vmap(run, randomness="different")(batch))
    first, *others = vmap(run, randomness="same")(batch)
    assert all(wg.equal(first, other) for other in others)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(run)(batch)


@pytest.mark.parametrize("draw", [d for n, d in IN_PLACE.items() if "bernoulli" not in n])
def test_memory_that_all_samples_share_cannot_hold_numbers_of_each(draw):
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        vmap(lambda b: draw(wg.zeros(4)) + b, randomness="different")(wg.ones(3, 4))


def test_a_write_has_its_node_for_all_samples():
    x = wg.ones(3, 4, requires_grad=True)
    y = vmap(lambda b: (b * 2).normal_() + b, randomness="different")(x)
    y.sum().backward()
    assert x.grad.tolist() == [[1] * 4] * 3


def test_the_mode_ends_with_its_vmap():
    vmap(lambda b: b + wg.rand(2), randomness="different")(wg.ones(3))
    assert wg.rand(2).shape == (2,)

    def outer(b):
        inner = vmap(lambda c: c + wg.rand(()), randomness="different")(wg.ones(5))
        return inner + wg.rand(5)  # drawn for each sample of `outer` alone

    out = vmap(outer, randomness="different")(wg.ones(3))
    assert out.shape == (3, 5)
    assert differ(out)


def test_own_generators():
    def run(b):
        return b + wg.rand(4, generator=generator)

    generator = wg.Generator().manual_seed(3)
    drawn = vmap(run, randomness="different")(wg.zeros(3, 4))
    generator.manual_seed(3)
    assert wg.equal(drawn, wg.rand(3, 4, generator=generator))


def test_what_is_drawn_for_each_sample_cannot_be_written_to_one_tensor():
    out = wg.zeros(4)
    with pytest.raises(RuntimeError, match="out="):
        vmap(lambda b: b + wg.rand(4, out=out), randomness="different")(wg.ones(3, 4))
    assert out.tolist() == [0] * 4
    with pytest.raises(RuntimeError, match="out="):
        vmap(lambda b: b + wg.bernoulli(wg.ones(4), out=out), randomness="different")(wg.ones(3, 4))
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda b: b + wg.multinomial(wg.ones(4), 2, out=wg.zeros(2, dtype=wg.int64)))(wg.ones(3, 2))
    vmap(lambda b: b + wg.rand(4, out=out), randomness="same")(wg.ones(3, 4))
    assert (out != 0).all()
