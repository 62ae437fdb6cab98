"""gradcheck and gradgradcheck: one test for each row C1-C12 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import Function, gradcheck, gradgradcheck
from wengert.autograd._gradcheck._reverse_checks import check_undefined_gradients
from wengert.autograd.gradcheck import (
    GradcheckError,
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)

modes = pytest.mark.parametrize("fast_mode", [False, True])


def leaf(*values, dtype=wg.float64):
    return wg.tensor(list(values), dtype=dtype, requires_grad=True)


def function(backward, forward=lambda ctx, x: x * 1, jvp=None):
    """Return the apply of a Function that passes its input on and has the given backward."""

    class Made(Function):
        pass

    Made.forward, Made.backward = staticmethod(forward), staticmethod(backward)
    if jvp is not None:
        Made.jvp = staticmethod(jvp)
    return Made.apply


@modes
def test_C1_right_derivatives(fast_mode):
    x, w = leaf(0.5, 2.0), leaf(1.0, -1.0)
    assert gradcheck(lambda x, w: (x * w, x.sin().sum()), (x, w), check_forward_ad=True, fast_mode=fast_mode)
    assert x.tolist() == [0.5, 2.0]
    assert x.grad is None


@modes
def test_C1_wrong_backward(fast_mode):
    wrong = function(lambda ctx, g: g * 2)
    with pytest.raises(GradcheckError, match=r"Jacobian mismatch for output 0 with respect to input 0,\s+numerical:"):
        gradcheck(wrong, leaf(1.0, 2.0), fast_mode=fast_mode)
    assert gradcheck(wrong, leaf(1.0, 2.0), raise_exception=False, fast_mode=fast_mode) is False
    assert issubclass(GradcheckError, RuntimeError)


@modes
def test_C1_wrong_jvp(fast_mode):
    wrong = function(lambda ctx, g: g, jvp=lambda ctx, t: t * 3)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(wrong, leaf(1.0, 2.0), check_forward_ad=True, fast_mode=fast_mode)


def test_C1_names_the_worst_element():
    def backward(ctx, gradient):
        return gradient * wg.tensor([1.0, 1.5], dtype=wg.float64)

    with pytest.raises(GradcheckError, match=r"greatest difference is 0\.[45]\d* at \[1, 1\]"):
        gradcheck(function(backward), leaf(1.0, 2.0))


def test_C1_complex():
    z = leaf(1.0 + 2.0j, -0.5 + 0.1j, dtype=wg.complex128)
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda z, x: (z * z * x, z.abs()), (z, x), check_forward_ad=True)
    wrong = function(lambda ctx, g: g.real + 2j * g.imag)
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex outputs only"):
        gradcheck(wrong, z)
    wrong = function(lambda ctx, g: g, jvp=lambda ctx, t: t.real * 1j + t.imag)
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex inputs only"):
        gradcheck(wrong, z, check_forward_ad=True, check_backward_ad=False)


def test_C1_errors_of_the_function_pass_through():
    def broken(x):
        raise KeyError("user")

    with pytest.raises(KeyError):
        gradcheck(broken, leaf(1.0), raise_exception=False)


def test_C2_inputs():
    with pytest.warns(UserWarning, match="not a double precision floating point or complex"):
        gradcheck(lambda x: x * 2, leaf(1.0, dtype=wg.float32), eps=1e-2, atol=1e-2)
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x, wg.ones(2, dtype=wg.float64))
    expanded = leaf(1.0).expand(3)
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * 2, expanded)


def test_C2_non_contiguous_and_other_inputs():
    x = wg.arange(6.0, dtype=wg.float64).reshape(2, 3).t().requires_grad_()
    assert gradcheck(lambda x, n, plain: x * n * plain, (x, 3, wg.ones(1, dtype=wg.float64)), check_forward_ad=True)
    empty = wg.zeros(0, 2, dtype=wg.float64, requires_grad=True)
    for fast_mode in (False, True):
        assert gradcheck(lambda x: x * 2, empty, check_forward_ad=True, fast_mode=fast_mode)


def test_C3_outputs():
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda x: [x * 2, x * 3], x)
    assert gradcheck(lambda x: (), x)
    assert gradcheck(lambda x: x.detach() * 0, x)
    assert gradcheck(lambda x: (x * 2, x > 1), x)
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, x)


def test_C3_outputs_that_change():
    x = leaf(1.0)
    with pytest.raises(AssertionError, match="with the same shape when inputs are perturbed"):
        gradcheck(lambda x: x * wg.ones(2 if x.item() > 1 else 1, dtype=wg.float64), x)
    with pytest.raises(AssertionError, match="with the same dtype when inputs are perturbed"):
        gradcheck(lambda x: x.float() if x.item() > 1 else x * 1, x)


@modes
def test_C4_determinism(fast_mode):
    calls = []

    def backward(ctx, gradient):
        calls.append(1)
        return gradient * (1 + 1e-3 * (len(calls) % 2))

    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(function(backward), leaf(1.0), fast_mode=fast_mode)
    assert gradcheck(function(backward), leaf(1.0), nondet_tol=1.0, atol=1e-2, rtol=1e-2, fast_mode=fast_mode)


def test_C5_zero_gradients():
    def adds(ctx, gradient):
        return gradient + (1e-7 if gradient.abs().sum().item() == 0 else 0.0)

    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(function(adds), leaf(1.0))


def test_C5_dtypes():
    def single(ctx, gradient):
        return gradient.float()

    assert gradcheck(function(single), leaf(1.0), check_grad_dtypes=True)


def test_C6_undefined_gradients():
    def needs_one(ctx, gradient):
        return gradient * 1

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1

    def refuses(ctx, gradient):
        if gradient is None:
            raise RuntimeError("x must be given")
        return gradient * 1

    x = leaf(1.0)
    with (
        pytest.warns(UserWarning, match="Backwards compatibility: New undefined gradient support"),
        pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads"),
    ):
        gradcheck(function(refuses, forward), x)
    assert gradcheck(function(refuses, forward), x, check_undefined_grad=False)
    assert gradcheck(function(needs_one), x)


def test_C6_undefined_gradient_of_one_output():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    def backward(ctx, first, second):
        if first is None and second is None:
            return None
        if first is None:
            raise RuntimeError("first must be given")
        return first if second is None else first + 2 * second

    both = function(backward, forward)
    x = leaf(1.0)
    with (
        pytest.warns(UserWarning, match="Backwards compatibility"),
        pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads"),
    ):
        check_undefined_gradients(both(x), [x])


def test_C7_batched_gradients():
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda x: x.exp(), x, check_batched_grad=True)
    assert gradcheck(lambda x: x.exp(), x, check_forward_ad=True, check_batched_forward_grad=True)

    def wrong_for_batches(ctx, gradient):
        return gradient * (2.0 if "BatchedTensor" in repr(gradient) else 1.0)

    message = "gradcheck or gradgradcheck failed while testing batched gradient"
    with pytest.raises(GradcheckError, match=message):
        gradcheck(function(wrong_for_batches), x, check_batched_grad=True, nondet_tol=100.0, atol=100.0)


class Tripled(Function):
    """Three times its input, but four times in a batch."""

    @staticmethod
    def forward(x):
        return x * 3

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3

    @staticmethod
    def vmap(info, in_dims, x):
        return x * 4, in_dims[0]


class TripledBack(Function):
    """Right but for the function that its backward calls."""

    forward, setup_context = staticmethod(Tripled.forward), staticmethod(Tripled.setup_context)

    @staticmethod
    def backward(ctx, gradient):
        return Tripled.apply(gradient)


class Doubtful(Function):
    """Its rule is derived, and its jvp is another one in a batch."""

    generate_vmap_rule = True
    forward, setup_context = staticmethod(Tripled.forward), staticmethod(Tripled.setup_context)
    backward = staticmethod(Tripled.backward)

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * (4.0 if "BatchedTensor" in repr(tangent) else 3.0)


@modes
@pytest.mark.parametrize(
    ("wrong", "options"),
    [
        (TripledBack, {"check_batched_grad": True}),
        (Tripled, {"check_forward_ad": True, "check_batched_forward_grad": True}),
        (Doubtful, {"check_forward_ad": True, "check_batched_forward_grad": True}),
    ],
)
def test_C7_what_is_wrong_for_batches_only_is_found(wrong, options, fast_mode):
    x = leaf(1.0, 2.0)
    without = {key: False if "batched" in key else value for key, value in options.items()}
    assert gradcheck(wrong.apply, x, fast_mode=fast_mode, **without)
    assert gradcheck(wrong.apply, x, fast_mode=fast_mode, raise_exception=False, **options) is False
    with pytest.raises(
        GradcheckError, match=r"(?s)For output 0 and input 0, the batch gave\n.*but one call a sample gives"
    ):
        gradcheck(wrong.apply, (x,), fast_mode=fast_mode, **options)


@modes
def test_C7_the_output_and_the_input_that_are_wrong_are_named(fast_mode):
    def several(x, w):
        return x * w, TripledBack.apply(w) * x

    inputs = (leaf(1.0, 2.0), leaf(3.0, 4.0))
    with pytest.raises(GradcheckError, match="For output 1 and input 1, the batch gave"):
        gradcheck(several, inputs, check_batched_grad=True, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match=r"\(forward mode\).*For output 1 and input 0"):
        gradcheck(
            lambda x, w: (x * w, Tripled.apply(x) * w),
            inputs,
            check_forward_ad=True,
            check_batched_forward_grad=True,
            fast_mode=fast_mode,
        )


def test_C7_second_derivatives_of_batches():
    assert gradgradcheck(lambda x: Tripled.apply(x) ** 3, leaf(1.0, 2.0))
    with pytest.raises(GradcheckError, match="the batch gave"):
        gradgradcheck(lambda x: TripledBack.apply(x) ** 3, leaf(1.0, 2.0), check_batched_grad=True)


def test_C7_what_batches_cannot_do_runs_one_by_one():
    def looks(ctx, gradient):
        return gradient if gradient.sum() < 1e6 else gradient * 2

    x = leaf(1.0, 2.0)
    assert gradcheck(function(looks, jvp=looks), x, check_batched_grad=True)
    options = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert gradcheck(function(looks, jvp=looks), x, **options)


def test_C8_flags():
    x = leaf(1.0)
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or check_backward_ad"):
        gradcheck(lambda x: x, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_backward_ad"):
        gradcheck(lambda x: x, x, check_forward_ad=True, check_backward_ad=False, check_batched_grad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        gradcheck(lambda x: x, x, check_batched_forward_grad=True)


def test_C9_fast_mode_explains_itself():
    wrong = function(lambda ctx, g: g * 2)
    with pytest.raises(GradcheckError, match=r"fast mode(.|\n)*slow mode"):
        gradcheck(wrong, leaf(1.0, 2.0), fast_mode=True)


def test_C9_fast_mode_runs_fewer_backward_passes():
    counts = []
    for fast_mode in (False, True):
        calls = []
        counted = function(lambda ctx, g, calls=calls: calls.append(1) or g)
        x = wg.ones(20, dtype=wg.float64, requires_grad=True)
        assert gradcheck(counted, x, fast_mode=fast_mode, check_undefined_grad=False)
        counts.append(len(calls))
    assert counts[0] > 40 > counts[1]


def test_C10_forward_mode():
    x, w = leaf(0.5), leaf(2.0)
    seen = []

    def product(x, w):
        seen.append((x.requires_grad, w.requires_grad))
        return x * w

    assert gradcheck(product, (x, w), check_forward_ad=True, check_backward_ad=False)
    assert (False, False) in seen


@pytest.mark.parametrize(("undefined", "expected"), [(False, 2), (True, 6)])
def test_C10_number_of_jvp_calls(undefined, expected):
    calls = []

    def jvp(ctx, x_t, w_t):
        calls.append(1)
        return x_t, w_t

    both = function(lambda ctx, a, b: (a, b), lambda ctx, x, w: (x.clone(), w.clone()), jvp)
    assert gradcheck(
        both, (leaf(0.5), leaf(2.0)), check_forward_ad=True, check_backward_ad=False, check_undefined_grad=undefined
    )
    assert len(calls) == expected


def test_C10_mismatch_in_tangent_values():
    def forward(ctx, x, w):
        ctx.set_materialize_grads(False)
        return x * 1 + w * 1

    def jvp(ctx, x_t, w_t):
        if x_t is None or w_t is None:
            return (x_t if w_t is None else w_t) * 5
        return x_t + w_t

    wrong = function(lambda ctx, g: (g, g), forward, jvp)
    with pytest.raises(GradcheckError, match="Mismatch in tangent values"):
        gradcheck(wrong, (leaf(0.5), leaf(2.0)), check_forward_ad=True, check_backward_ad=False)


@modes
def test_C11_gradgradcheck(fast_mode):
    x, w = leaf(0.5, 2.0), leaf(1.0, -1.0)
    assert gradgradcheck(
        lambda x, w: x * x * w, (x, w), check_fwd_over_rev=True, check_batched_grad=True, fast_mode=fast_mode
    )
    assert gradgradcheck(lambda x: (x**3, x.sin().sum()), x, gen_non_contig_grad_outputs=True, fast_mode=fast_mode)
    assert gradgradcheck(lambda x: x**3, x, leaf(1.0, 2.0), fast_mode=fast_mode)
    z = leaf(1.0 + 2.0j, dtype=wg.complex128)
    assert gradgradcheck(lambda z: z * z * z, z, fast_mode=fast_mode)


def test_C11_wrong_second_derivative():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * 3 * x.detach() * x

    assert gradcheck(Cube.apply, leaf(1.0))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(Cube.apply, leaf(1.0))
    assert gradgradcheck(Cube.apply, leaf(1.0), raise_exception=False) is False


def test_C11_flags():
    x = leaf(1.0)
    with pytest.raises(AssertionError, match="Expected at least one of check_fwd_over_rev or check_rev_over_rev"):
        gradgradcheck(lambda x: x * x, x, check_rev_over_rev=False)
    with pytest.raises(AssertionError, match="check_undefined_grad=True requires check_rev_over_rev"):
        gradgradcheck(lambda x: x * x, x, check_rev_over_rev=False, check_fwd_over_rev=True)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_rev_over_rev"):
        gradgradcheck(
            lambda x: x * x,
            x,
            check_rev_over_rev=False,
            check_fwd_over_rev=True,
            check_undefined_grad=False,
            check_batched_grad=True,
        )
    assert gradgradcheck(
        lambda x: x * x, x, check_rev_over_rev=False, check_fwd_over_rev=True, check_undefined_grad=False
    )


def test_C12_legacy_jacobians():
    x = leaf(0.5, 2.0)
    y = x * x
    expected = np.diag([1.0, 4.0])
    with pytest.warns(FutureWarning, match="get_numerical_jacobian"):
        (numerical,) = get_numerical_jacobian(lambda inputs: inputs[0] ** 2, (x,), eps=1e-6)
    with pytest.warns(FutureWarning, match="get_analytical_jacobian"):
        (analytical,), deterministic, sizes, dtypes = get_analytical_jacobian((x,), y)
    np.testing.assert_allclose(numerical.numpy(), expected, atol=1e-6)
    np.testing.assert_allclose(analytical.numpy(), expected)
    assert deterministic
    assert sizes
    assert dtypes
    (specific,) = get_numerical_jacobian_wrt_specific_input(lambda x: x**2, 0, (x,), (y,), 1e-6)
    np.testing.assert_allclose(specific.numpy(), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_C12_legacy_errors():
    x, z = leaf(0.5), leaf(1.0j, dtype=wg.complex128)
    with pytest.raises(ValueError, match=r"Expected grad_out to be 1.0"):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,), grad_out=2.0)
    with pytest.raises(ValueError, match=r"Expected grad_out to be 1.0"):
        get_analytical_jacobian((x,), x * 2, grad_out=2.0)
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        get_numerical_jacobian(lambda inputs: inputs[0] * 2, (z,))
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        get_analytical_jacobian((z,), z * 2)
