"""Habits of programs that were written for PyTorch and run here after a change of the import, one test each."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import io
import pickle
import warnings
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function, forward_ad, grad
from wengert.autograd.graph import Node, saved_tensors_hooks
from wengert.utils.checkpoint import checkpoint


def leaf(*values):
    return wg.tensor(values, requires_grad=True)


def same(tensor):
    return tensor


class Identity(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g


# --- Hooks
def test_S10_scopes_left_and_entered_during_backward_end_with_the_pass():
    def leave(tensor):
        inner.__exit__()
        return tensor

    inner, outer = saved_tensors_hooks(same, leave), saved_tensors_hooks(same, same)
    with outer:
        inner.__enter__()
        leaf(1.0).sin().sum().backward()
    inner.__exit__()
    leaf(1.0).exp().grad_fn._raw_saved_result.register_hooks(same, same)  # none is left

    def entering():
        def enter(tensor):
            scope().__enter__()
            return tensor

        hooks = saved_tensors_hooks(same, enter)
        scope = weakref.ref(hooks)
        with hooks:
            leaf(1.0).sin().sum().backward()
        return weakref.ref(enter)

    assert entering()() is None


def test_S10_errors_undo_scopes_too():
    def enter(tensor):
        saved_tensors_hooks(same, same).__enter__()
        raise ValueError("stop")

    with saved_tensors_hooks(same, enter):
        y = leaf(1.0).sin()
    with pytest.raises(ValueError, match="stop"):
        y.backward()
    assert y.grad_fn._raw_saved_self.unpack_hook is enter
    assert leaf(1.0).sin().grad_fn._raw_saved_self.unpack_hook is None


def test_H12_first_post_hook_may_come_from_an_unpack_hook():
    seen = []

    def halve(grad_inputs, grad_outputs):
        seen.append(grad_outputs)
        return tuple(g / 2 for g in grad_inputs)

    def unpack(tensor):
        wg._C._current_autograd_node().register_hook(halve)
        return tensor

    x = leaf(3.0)
    with saved_tensors_hooks(same, unpack):
        x.exp().backward(wg.ones(1))
    assert seen == [(None,)]
    assert x.grad.item() == pytest.approx(wg.tensor(3.0).exp().item() / 2)


def test_H2_hook_on_a_view_with_a_new_history():
    base = leaf(1.0).clone()
    written, other = base[:], base[:]

    def never(gradient):
        raise AssertionError

    other.register_hook(never)
    written.mul_(2)
    assert other.grad_fn.name() == "AsStridedBackward0"
    seen = []
    other.register_hook(lambda gradient: seen.append(gradient.item()))
    (written + other).sum().backward()
    assert seen == [1.0]


def test_A1_post_hooks_of_a_leaf_see_the_stored_gradient():
    x = leaf(1.0, 2.0)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen = []

    def add(tensor):
        tensor.grad.add_(0.5)

    x.register_post_accumulate_grad_hook(add)
    node.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_outputs[0].tolist()))
    (x * 3).sum().backward()
    assert seen == [[3.5, 3.5]]
    assert x.grad.tolist() == [3.5, 3.5]


def test_A1_a_recorded_first_gradient_is_copied():
    x = leaf(1.0, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "CopyBackwards"
    x.grad = None


# --- Saved tensors
def test_S2_what_is_kept_of_a_saved_tensor():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda tensor: ("packed", tensor), lambda pair: pair[1]):
        squared = x**2
    raw = squared.grad_fn._raw_saved_self
    assert raw.data[0] == "packed"
    assert raw.data[1] is x
    assert raw.unpack_hook(raw.data) is x
    exponential = squared.exp()
    assert exponential.grad_fn._raw_saved_result.data is not exponential
    assert exponential.grad_fn._raw_saved_result.unpack_hook is None
    assert (exponential**2).grad_fn._raw_saved_self.data is exponential
    with pytest.raises(TypeError, match="incompatible function arguments"):
        raw.register_hooks(same)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        raw.register_hooks(1, 2)
    squared.backward()
    with pytest.raises(RuntimeError, match="freed"):
        _ = squared.grad_fn._raw_saved_self.data


def test_S6_whether_hooks_are_allowed():
    allowed = wg._C._autograd._saved_tensors_hooks_is_enabled
    assert allowed()
    with wg.autograd.graph.disable_saved_tensors_hooks("not here"):
        assert not allowed()


def test_F9_saved_tensors_that_are_cleared_can_be_read_once():
    class Twice(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            assert len(ctx.saved_tensors) == 1
            return g * len(ctx.saved_tensors)

    with pytest.raises(RuntimeError, match="can only be accessed once"):
        Twice.apply(leaf(1.0)).backward()


def test_K4_a_recomputation_that_ends_in_a_custom_function_leaves_nothing_behind():
    made = []

    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            made.append(weakref.ref(y))
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    gc.disable()
    try:
        checkpoint(Keeps.apply, leaf(2.0), use_reentrant=False).backward()
        assert [reference() for reference in made] == [None, None]
    finally:
        gc.enable()


# --- Views
@pytest.mark.parametrize(("block", "text"), [(wg.no_grad, "no_grad"), (wg.inference_mode, "inference_mode")])
def test_V9_the_block_a_view_was_made_in_comes_before_its_kind(block, text):
    base = leaf(1.0, 2.0).clone()
    with block():
        parts = base.unbind()
    with pytest.raises(RuntimeError, match=f"A view was created in .* Move both the view and the write.*{text} block"):
        parts[0].add_(1)


def test_V12_views_of_custom_functions_where_nothing_was_recorded():
    view = Identity.apply(wg.ones(2))
    view.add_(1)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        view.mul_(leaf(2.0, 3.0))
    with wg.no_grad():
        view = Identity.apply(leaf(1.0))
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.zero_()


def test_F11_marking_a_view_that_is_no_input():
    class Wrong(Identity):
        @staticmethod
        def forward(ctx, x):
            out = x.clone().view_as(x)
            ctx.mark_dirty(out)
            return out

    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        Wrong.apply(leaf(1.0).clone())


def test_F11_a_changed_and_saved_view_makes_no_cycle():
    class Saves(Identity):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(3.0)
    view = x.clone().view_as(x)
    Saves.apply(view).backward()
    assert x.grad.item() == 6
    gc.disable()
    try:
        view = x.clone().view_as(x)
        reference = weakref.ref(view)
        Saves.apply(view)
        del view
        assert reference() is None
    finally:
        gc.enable()


def test_F18_jvp_of_a_changed_input_has_to_change_the_tangent():
    class Double(Function):
        changes = True

        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            return x

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.mul_(2) if Double.changes else tangent

    for Double.changes in (True, False):
        x = wg.ones(1)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, wg.ones(1))
            if Double.changes:
                assert forward_ad.unpack_dual(Double.apply(dual)).tangent.item() == 2
            else:
                with pytest.raises(RuntimeError, match="must modify the corresponding gradient inplace"):
                    Double.apply(dual)


def test_F18_the_view_that_jvp_returns_stays_one():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2, tangent.view_as(tangent)

    tangent = wg.ones(2)
    with forward_ad.dual_level():
        _, unchanged = Both.apply(forward_ad.make_dual(wg.ones(2), tangent))
        assert forward_ad.unpack_dual(unchanged).tangent._base is tangent


# --- Functional derivatives
def test_T6_what_does_not_depend_on_the_input_is_named():
    def apart(x):
        return x.long().float().requires_grad_().clone()

    functional = wg.autograd.functional
    with pytest.raises(RuntimeError, match="Output 1 of the user-provided function is independent of input 0"):
        functional.jacobian(lambda x: (x * x, apart(x)), wg.ones(2), strict=True)
    for function in (lambda x: apart(x).sum(), lambda x: (3 * x).sum()):
        with pytest.raises(RuntimeError, match="jacobian of the user-provided function with respect to input 0 is"):
            functional.hessian(function, wg.ones(2), strict=True)


# --- Nodes and leaves
def test_G13_classes_of_nodes_have_names_before_there_are_nodes():
    classes = wg._C._functions
    assert isinstance(leaf(1.0).sinh().grad_fn, classes.SinhBackward0)
    assert issubclass(classes.CopySlices, Node)
    assert issubclass(classes.DelayedError, Node)
    assert issubclass(Node, Node)
    assert not isinstance(Node, Node)
    with pytest.raises(AttributeError, match="NoSuchBackward0"):
        _ = classes.NoSuchBackward0


def test_G17_what_joins_several_roots_is_not_part_of_the_order():
    x = leaf(1.0)
    y = x * 2
    first, second = y.sin(), y.cos()
    seen = []
    second.register_hook(
        lambda gradient: seen.extend(node.name() for node in wg._C._current_graph_task_execution_order())
    )
    with wg.autograd.set_multithreading_enabled(False):
        grad((first, second), x)
    assert seen == ["CosBackward0", "SinBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"]
    second.register_hook(lambda gradient: wg._C._current_graph_task_execution_order())
    with pytest.raises(RuntimeError, match="expects the current backward to be executed with multithreading disabled"):
        second.backward()


def test_L9_grad_dtype_belongs_to_leaves():
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        _ = (leaf(1.0) * 2).grad_dtype


def test_L6_distinct_elements_have_no_derivative():
    values, inverse = wg.unique(leaf(2.0, 1.0, 2.0), return_inverse=True)
    assert values.requires_grad
    assert not inverse.requires_grad
    with pytest.raises(NotImplementedError, match=r"the derivative for 'unique.*' is not implemented"):
        values.sum().backward()


def test_B6_warnings_that_come_once_come_always_if_wanted():
    x = leaf(1.0)
    assert not wg.is_warn_always_enabled()
    wg.set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="Using backward\\(\\) with create_graph=True"):
                (x * x).backward(create_graph=True)
            x.grad = None
    finally:
        wg.set_warn_always(False)


# --- Names
def test_old_tensor_types():
    x = wg.tensor([1, 2])
    assert isinstance(x, wg.LongTensor)
    assert not isinstance(x, wg.FloatTensor)
    assert isinstance(x.type(wg.DoubleTensor), wg.DoubleTensor)
    assert wg.LongTensor([3, 4]).tolist() == [3, 4]
    assert wg.ByteTensor(2, 3).shape == (2, 3)
    assert wg.BoolTensor().numel() == 0
    assert wg.IntTensor(wg.Size((2,))).dtype == wg.IntTensor.dtype == wg.int32
    assert x.new([5]).dtype == wg.int64
    assert wg.ones(2).new(x.size()).shape == (2,)
    with pytest.raises(TypeError, match=r"expected wengert\.float32"):
        wg.FloatTensor(x)
    with pytest.raises(TypeError, match="sizes or one argument of data"):
        wg.FloatTensor([1.0], [2.0])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("relu", ()), ("relu6", ()), ("elu", (0.5,)), ("selu", ()), ("celu", (2.0,)), ("leaky_relu", (0.1,)), ("silu", ()),
     ("mish", ()), ("hardtanh", (-1.0, 1.0)), ("hardswish", ()), ("hardsigmoid", ()), ("threshold", (0.5, 0.25))],
)  # fmt: skip
def test_activations_in_place(name, arguments):
    function = getattr(wg.nn.functional, name)
    x = leaf(-2.0, 0.7, 9.0)
    expected = function(x, *arguments)
    y = x.clone()
    assert function(y, *arguments, inplace=True) is y
    assert y.tolist() == expected.tolist()
    assert grad(y.sum(), x)[0].tolist() == grad(expected.sum(), x)[0].tolist()
    assert function(y.detach(), *arguments, False).requires_grad is False
    if hasattr(wg.nn.functional, f"{name}_"):
        z = x.clone()
        assert getattr(wg.nn.functional, f"{name}_")(z, *arguments) is z


def test_tensors_on_disk(tmp_path):
    parameter = wg.nn.Parameter(wg.ones(2, 3).t())
    state = {"weight": parameter, "step": 3, "names": ("a", {"b"}), "indices": wg.tensor([1, 2])}
    wg.save(state, tmp_path / "state.pt")
    read = wg.load(tmp_path / "state.pt", map_location="cpu")
    assert type(read["weight"]) is wg.nn.Parameter
    assert read["weight"].stride() == (1, 3)
    assert read["weight"].requires_grad
    assert read["names"] == ("a", {"b"})
    file = io.BytesIO()
    wg.save(print, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed: the file names"):
        wg.load(file)
    file.seek(0)
    assert wg.load(file, weights_only=False) is print


def test_save_hooks_to_disk(tmp_path):
    def pack(tensor):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        wg.save(tensor, path)
        return path

    x = leaf(2.0, 3.0)
    with saved_tensors_hooks(pack, wg.load):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_names_of_the_profiler():
    from wengert.autograd.profiler_util import EventList, FunctionEvent

    assert wg.autograd.kineto_available() in (True, False)
    assert not wg.autograd._profiler_enabled()
    events = EventList(
        FunctionEvent(id=i, node_id=0, name="", thread=0, start_us=a, end_us=b)
        for i, (a, b) in enumerate([(0, 2), (1, 2), (1, 3)])
    )
    events._populate_cpu_children()
    assert [[child.id for child in event.cpu_children] for event in events] == [[], [], [1]]


def test_D1_current_level():
    assert forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert forward_ad._current_level == 0


def test_functions_that_types_override():
    from wengert.overrides import handle_torch_function, has_torch_function, has_torch_function_unary, is_tensor_like

    def double(x):
        return handle_torch_function(double, (x,), x) if has_torch_function((x,)) else 2 * x

    class Named:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert double(Named()) == "double"
    assert double(wg.ones(1)).item() == 2
    assert has_torch_function_unary(Named())
    assert is_tensor_like(Named())
    assert is_tensor_like(wg.ones(1))
    assert not is_tensor_like(1)


def test_complex_numbers_are_close_by_modulus():
    a = wg.tensor([1 + 1j, 2j])
    assert wg.allclose(a, a + 1e-9)
    assert not wg.allclose(a, a + 1e-3j)
    assert wg.allclose(a, a + 1e-3j, atol=1e-2)
    assert wg.rand(3, dtype=wg.complex128).imag.min() >= 0
