"""Debug mode: errors that name the operation and the line."""

import gc
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function, grad, is_debug_mode_enabled, set_debug_mode


@pytest.fixture
def x():
    return wg.tensor([0.5, 2.0], requires_grad=True)


@pytest.fixture(autouse=True)
def _off():
    yield
    set_debug_mode(False)


def here(offset=0):
    """Return "file:line" of the caller, `offset` lines away."""
    import sys

    return f"{__file__}:{sys._getframe(1).f_lineno + offset} in "


def test_switch():
    assert not is_debug_mode_enabled()
    with set_debug_mode(True):
        assert is_debug_mode_enabled()
    assert not is_debug_mode_enabled()
    set_debug_mode(True)
    assert is_debug_mode_enabled()


def test_backward_a_second_time_names_the_first_freed_node(x):
    y = (x.exp() * 2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time") as caught:
        y.backward()
    assert "that was freed is ExpBackward0. With wengert.autograd.set_debug_mode(True)" in str(caught.value)
    with set_debug_mode(True):
        y, place = x.exp().sum(), here()
    y.backward()
    with pytest.raises(RuntimeError, match="Specify retain_graph=True") as caught:
        y.backward()
    assert f"that was freed is ExpBackward0 made at {place}test_backward_a_second" in str(caught.value)


def test_custom_function_that_was_freed(x):
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            return 2 * ctx.saved_tensors[0] * gradient

    with set_debug_mode(True):
        y, place = Square.apply(x).sum(), here()
    y.backward()
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert f"SquareBackward made at {place}" in str(caught.value)


def test_modified_in_place_names_the_write(x):
    with set_debug_mode(True):
        y = x.exp()
        y.mul_(3), (place := here())
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation") as caught:
            y.sum().backward()
    message = str(caught.value)
    assert "mul_" in message
    assert place in message


def test_a_write_under_no_grad_is_named_too(x):
    with set_debug_mode(True):
        y = x * 2
        z = y.sin()
        with wg.no_grad():
            y.add_(1), (place := here())
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            z.sum().backward()
    assert "add_" in str(caught.value)
    assert place in str(caught.value)


def test_wrong_gradient_shapes_name_operation_and_line(x):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return wg.ones(5)

    with set_debug_mode(True):
        y, place = Wrong.apply(x), here()
        with pytest.raises(RuntimeError, match="Function WrongBackward returned an invalid gradient") as caught:
            y.sum().backward()
    assert f"(WrongBackward was made at {place}" in str(caught.value)
    with pytest.raises(RuntimeError, match="invalid gradient") as caught:
        Wrong.apply(x).sum().backward()
    assert "made at" not in str(caught.value)


def test_the_line_is_the_users_not_the_packages(x):
    with set_debug_mode(True):
        z, place = wg.utils.checkpoint.checkpoint(wg.exp, x, use_reentrant=False), here()
    assert wg._C._autograd._made_at(z.grad_fn).startswith(place)


def test_a_node_of_a_backward_pass_names_what_ran(x):
    with set_debug_mode(True):
        y, place = x.exp().sum(), here()
        (g,) = grad(y, x, create_graph=True)
        second = here(-1)
    words = wg._C._autograd._made_at(g.grad_fn)
    assert words.startswith(second)
    assert f"while ExpBackward0 ran, which was made at {place}" in words


def test_double_backward_error_has_both_lines(x):
    with set_debug_mode(True):
        y, place = x.exp().sum(), here()
        (g,) = grad(y, x, create_graph=True)
        g.sum().backward(retain_graph=False)
        with pytest.raises(RuntimeError, match="a second time") as caught:
            g.sum().backward()
    assert place in str(caught.value)


def test_debug_mode_keeps_no_node_alive(x):
    gc.collect()
    gc.disable()
    try:
        with set_debug_mode(True):
            y = x.exp()
            reference = weakref.ref(y.grad_fn)
            (g,) = grad(y.sum(), x, create_graph=True)
            del y, g
        assert reference() is None
    finally:
        gc.enable()


def test_metadata_is_still_a_dict(x):
    with set_debug_mode(True):
        y = x.exp()
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["mine"] = 3
    assert y.grad_fn.metadata == {"mine": 3}


def test_a_backward_pass_on_another_thread(x):
    import threading

    errors = []
    with set_debug_mode(True):
        y, place = x.exp().sum(), here()
    y.backward()

    def run():
        try:
            y.backward()
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert place in errors[0]
