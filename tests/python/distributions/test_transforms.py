"""Transforms: inverses, determinants against Jacobians, shapes, caches; and regions that they lead to."""

import math

import pytest

import wengert as wg
from tests.python.distributions.families import t
from wengert import distributions as D  # noqa: N812
from wengert.distributions import constraints, transforms

# A transform, the shape of one variable, and whether arguments must be positive.
BIJECTIONS = {
    "exp": (transforms.ExpTransform(), ()),
    "power": (transforms.PowerTransform(t(-1.5)), ()),
    "sigmoid": (transforms.SigmoidTransform(), ()),
    "softplus": (transforms.SoftplusTransform(), ()),
    "tanh": (transforms.TanhTransform(), ()),
    "affine": (transforms.AffineTransform(t(0.5), t(-2.0)), ()),
    "affine of vectors": (transforms.AffineTransform(t(0.5, 1.0), t(-2.0, 3.0), event_dim=1), (2,)),
    "distribution": (transforms.CumulativeDistributionTransform(D.Normal(t(0.3), t(2.0))), ()),
    "stick breaking": (transforms.StickBreakingTransform(), (4,)),
    "correlations": (transforms.CorrCholeskyTransform(), (6,)),
    "inverse": (transforms.ExpTransform().inv, ()),
    "composed": (transforms.ComposeTransform([transforms.TanhTransform(), transforms.AffineTransform(1.0, 3.0)]), ()),
    "composed of vectors": (
        transforms.ComposeTransform([transforms.AffineTransform(1.0, 3.0), transforms.StickBreakingTransform()]), (3,),
    ),
    "independent": (transforms.IndependentTransform(transforms.ExpTransform(), 2), (2, 3)),
    "reshaped": (transforms.ReshapeTransform((2, 3), (6,)), (2, 3)),
    "cat": (
        transforms.IndependentTransform(
            transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1, [2, 1]), 1
        ), (3,),
    ),
    "stack": (transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1), (2,)),
}  # fmt: skip


def argument(name, batch=()):
    wg.manual_seed(0)
    transform, event = BIJECTIONS[name]
    x = wg.randn((*batch, *event), dtype=wg.float64) * 0.7
    return transform, x.abs() + 0.1 if name in ("power", "inverse") else x


@pytest.mark.parametrize("name", BIJECTIONS)
def test_inverse(name):
    transform, x = argument(name, (3,))
    y = transform(x)
    assert wg.allclose(transform.inv(y), x, rtol=1e-9, atol=1e-11)
    assert wg.allclose(transform(transform.inv(y)), y, rtol=1e-9, atol=1e-11)
    assert transform.inv.inv is transform
    assert transform.bijective
    assert transform.codomain.check(y).all()


@pytest.mark.parametrize("name", BIJECTIONS)
def test_determinant(name):
    transform, x = argument(name)
    y = transform(x)
    jacobian = wg.func.jacrev(transform)(x)
    if name == "stick breaking" or name == "composed of vectors":
        jacobian = jacobian[:-1]  # the last coordinate follows from the others
    if name == "correlations":
        rows, columns = wg.tril_indices(4, 4, -1)
        jacobian = jacobian[rows, columns]
    expected = jacobian.reshape(x.numel(), x.numel()).det().abs().log()
    actual = transform.log_abs_det_jacobian(x, y)
    assert actual.sum().item() == pytest.approx(expected.item(), rel=1e-9, abs=1e-11)
    back = transform.inv.log_abs_det_jacobian(y, x)
    assert wg.allclose(back, -actual)


@pytest.mark.parametrize("name", BIJECTIONS)
def test_batches_and_derivatives(name):
    transform, x = argument(name, (3,))
    y = transform(x)
    assert wg.allclose(wg.vmap(transform)(x), y)
    dims = transform.domain.event_dim
    assert transform.log_abs_det_jacobian(x, y).shape == x.shape[: x.dim() - dims]
    assert transform.forward_shape(x.shape) == y.shape
    assert transform.inverse_shape(y.shape) == x.shape
    leaf = x.clone().requires_grad_()
    assert wg.autograd.gradcheck(lambda v: (transform(v), transform.log_abs_det_jacobian(v, transform(v))), [leaf])


def test_extreme_arguments():
    """Determinants are computed from arguments, so they stay finite where results have been rounded to an end."""
    x = t(-800.0, -40.0, 40.0, 800.0)
    for transform in (transforms.SigmoidTransform(), transforms.TanhTransform(), transforms.SoftplusTransform()):
        assert transform.log_abs_det_jacobian(x, transform(x)).isfinite().all()
    vector = t(-60.0, 60.0, 3.0)
    stick = transforms.StickBreakingTransform()
    assert stick.log_abs_det_jacobian(vector, stick(vector)).isfinite().all()
    corr = transforms.CorrCholeskyTransform()
    assert corr.log_abs_det_jacobian(vector, corr(vector)).isfinite().all()
    assert transforms.SoftplusTransform()(t(30.0)).item() == 30 + math.log1p(math.exp(-30))


@pytest.mark.parametrize("size", [0, 1])
def test_caches(size):
    for transform in (transforms.ExpTransform(), transforms.CorrCholeskyTransform(), transforms.TanhTransform()):
        cached = transform.with_cache(size)
        x = t(0.3, -0.5, 1.0)
        assert (cached.inv(cached(x)) is x) == bool(size)
        assert (cached(x) is cached(x)) == bool(size)
        assert cached == transform
    composed = transforms.ComposeTransform([transforms.ExpTransform(), transforms.TanhTransform()]).with_cache(size)
    x = t(0.3)
    assert (composed.inv(composed(x)) is x) == bool(size)
    with pytest.raises(ValueError, match="0 or 1"):
        transforms.ExpTransform(2)


def test_equality():
    assert transforms.ExpTransform() == transforms.ExpTransform()
    assert transforms.ExpTransform() != transforms.TanhTransform()
    assert transforms.AffineTransform(t(1.0), 2) == transforms.AffineTransform(1.0, t(2.0))
    assert transforms.AffineTransform(t(1.0, 2.0), 2) != transforms.AffineTransform(1.0, 2)
    assert transforms.ExpTransform().inv == transforms.ExpTransform().inv
    assert transforms.ComposeTransform([transforms.ExpTransform()]) == transforms.ComposeTransform(
        [transforms.ExpTransform()]
    )
    assert transforms.identity_transform == transforms.ComposeTransform([])


def test_mistakes():
    with pytest.raises(ValueError, match="not a flattened lower-diagonal"):
        transforms.CorrCholeskyTransform()(t(1.0, 2.0))
    with pytest.raises(ValueError, match="different numbers of elements"):
        transforms.ReshapeTransform((2,), (3,))
    with pytest.raises(ValueError, match="dimension 0 has 3"):
        transforms.CatTransform([transforms.ExpTransform()] * 2)(t(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match=r"\.domain\.event_dim or \.codomain"):
        _ = transforms.CorrCholeskyTransform().event_dim
    with pytest.raises(NotImplementedError, match="not monotone"):
        _ = transforms.SoftmaxTransform().sign


CONSTRAINTS = {
    "real": constraints.real,
    "vectors": constraints.real_vector,
    "positive": constraints.positive,
    "nonnegative": constraints.nonnegative,
    "above": constraints.greater_than(t(1.0, 2.0, 3.0)),
    "below": constraints.less_than(t(1.0)),
    "interval": constraints.interval(t(-1.0), 3.0),
    "half open": constraints.half_open_interval(-1.0, t(3.0)),
    "unit": constraints.unit_interval,
    "simplex": constraints.simplex,
    "correlations": constraints.corr_cholesky,
    "parts": constraints.cat([constraints.positive, constraints.real], -1, [1, 2]),
    "slices": constraints.stack([constraints.positive, constraints.real, constraints.unit_interval], -1),
    "arrays": constraints.independent(constraints.positive, 2),
}
MATRICES = {
    "lower": constraints.lower_cholesky,
    "definite": constraints.positive_definite,
    "semidefinite": constraints.positive_semidefinite,
}


@pytest.mark.parametrize("name", [*CONSTRAINTS, *MATRICES])
def test_registered_transforms_lead_into_their_region(name):
    wg.manual_seed(0)
    for registry in (D.transform_to,) if name in MATRICES else (D.biject_to, D.transform_to):
        constraint = CONSTRAINTS.get(name) or MATRICES[name]
        transform = registry(constraint)
        x = 3 * wg.randn(5, 3, 3, dtype=wg.float64)
        y = transform(x)
        assert constraint.check(y).all()
        assert wg.allclose(transform(transform.inv(y)), y, rtol=1e-6)
        assert registry is D.transform_to or transform.bijective


def test_own_constraints_can_be_registered():
    class Even(constraints.Constraint):
        def check(self, value):
            return value % 2 == 0

    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        D.transform_to(Even())

    @D.transform_to.register(Even)
    def _(constraint):
        return transforms.AffineTransform(0, 2)

    assert D.transform_to(Even())(t(3.0)) == 6
    with pytest.raises(TypeError, match="Expected constraint"):
        D.transform_to.register(3, lambda c: None)


CHECKS = [
    (constraints.real, t(1.0, math.nan, math.inf), [True, False, True]),
    (constraints.boolean, t(0.0, 1.0, 0.5), [True, True, False]),
    (constraints.positive, t(0.0, 1.0, math.nan), [False, True, False]),
    (constraints.nonnegative, t(0.0, -1.0, 2.0), [True, False, True]),
    (constraints.nonnegative_integer, t(0.0, -1.0, 1.5), [True, False, False]),
    (constraints.positive_integer, t(0.0, 1.0, 2.0), [False, True, True]),
    (constraints.integer_interval(1, 2), t(0.0, 1.0, 1.5), [False, True, False]),
    (constraints.interval(0.0, 1.0), t(0.0, 1.0, 1.5), [True, True, False]),
    (constraints.half_open_interval(0.0, 1.0), t(0.0, 1.0, 1.5), [True, False, False]),
    (constraints.less_than(1.0), t(0.0, 1.0, 1.5), [True, False, False]),
    (constraints.simplex, t([[0.2, 0.8], [0.3, 0.8], [-0.5, 1.5]]), [True, False, False]),
    (constraints.one_hot, t([[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]]), [True, False, False]),
    (constraints.multinomial(3), t([[0.0, 3.0], [2.0, 2.0], [-1.0, 4.0]]), [True, False, False]),
    (constraints.square, wg.ones(2, 2, 3), [False, False]),
    (constraints.symmetric, t([[[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [3.0, 1.0]]]), [True, False]),
    (constraints.positive_definite, t([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]]), [True, False]),
    (constraints.positive_semidefinite, t([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]), [True, False]),
    (constraints.lower_triangular, t([[[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]), [True, False]),
    (constraints.lower_cholesky, t([[[1.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, -1.0]]]), [True, False]),
    (constraints.corr_cholesky, t([[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.7]]]), [True, False]),
]


@pytest.mark.parametrize(("constraint", "value", "expected"), CHECKS, ids=[str(c[0]) for c in CHECKS])
def test_checks(constraint, value, expected):
    assert constraint.check(value).tolist() == expected
    assert constraint.check(value[0]).item() == expected[0]


def test_dependent_constraints():
    assert constraints.is_dependent(D.Uniform.support)
    assert not constraints.is_dependent(D.Normal.support)
    assert D.Uniform.support.event_dim == 0
    assert D.Uniform(0.0, 1.0).support.check(t(0.5))
    with pytest.raises(ValueError, match="dependent constraint"):
        constraints.dependent.check(t(0.5))
    with pytest.raises(NotImplementedError, match="statically"):
        _ = constraints.dependent.event_dim
