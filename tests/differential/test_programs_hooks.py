"""Section 4 of the semantics: hooks of tensors and nodes."""

from tests.differential.fixtures import a_leaf
from tests.differential.observation import differential, raised


def H1_reads_and_replaces(tc):
    x = a_leaf(tc)
    seen = []
    y = x * 2
    y.register_hook(lambda grad: seen.append(grad))
    y.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: seen.append(grad))
    y.sum().backward()
    return seen, x.grad


def H1_on_leaves(tc):
    x = a_leaf(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(grad) or grad + 1)
    (x * 2 + x * 3).sum().backward()
    (g,) = tc.autograd.grad((x * 2).sum(), x)
    return seen, x.grad, g


def H1_runs_where_grad_only_captures(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad) or grad * 10)
    return tc.autograd.grad((y * 3).sum(), y), seen


def H1_capture_of_a_node_that_runs(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad) or grad * 10)
    return tc.autograd.grad((y * 3).sum(), [x, y]), seen


def H1_backward_inputs_sees_the_result(tc):
    x = a_leaf(tc)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    (y * 3).sum().backward(inputs=[x, y])
    return x.grad, y.grad


def H1_not_on_the_path(tc):
    x, z = a_leaf(tc), a_leaf(tc)
    y = z * 2
    seen = []
    y.register_hook(lambda grad: seen.append(1))
    tc.autograd.grad((x * y).sum(), x)
    return seen


def H1_root(tc):
    x = a_leaf(tc)
    y = (x * 2).sum()
    seen = []
    y.register_hook(lambda grad: seen.append(grad) or grad * 3)
    y.backward()
    return seen, x.grad


def H1_same_function_twice(tc):
    x = a_leaf(tc)
    seen = []

    def hook(grad):
        seen.append(grad)

    x.register_hook(hook)
    x.register_hook(hook)
    x.sum().backward()
    return len(seen)


def H1_callable_without_name(tc):
    class Doubler:
        def __call__(self, grad):
            return grad * 2

    x = a_leaf(tc)
    x.register_hook(Doubler())
    x.sum().backward()
    return x.grad


def H1_in_place_separates_old_and_new(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(("old", grad)))
    y.mul_(3)
    y.register_hook(lambda grad: seen.append(("new", grad)))
    y.sum().backward()
    return seen, x.grad


def H1_of_several_outputs(tc):
    x = a_leaf(tc)
    a, b = x.unbind()
    a.register_hook(lambda grad: grad * 10)
    b.register_hook(lambda grad: grad * 100)
    (a + b).backward()
    return x.grad


def H1_removed(tc):
    x = a_leaf(tc)
    seen = []
    handle = x.register_hook(lambda grad: seen.append(1))
    handle.remove()
    x.sum().backward()
    return seen


def H1_hook_removes_itself(tc):
    x = a_leaf(tc)
    seen = []

    def hook(grad):
        seen.append(1)
        handle.remove()

    handle = x.register_hook(hook)
    x.register_hook(lambda grad: seen.append(2))
    x.sum().backward()
    x.sum().backward()
    return seen


def H1_misuse(tc):
    x = a_leaf(tc)

    def failing(hook, fragment):
        y = x * 2
        y.register_hook(hook)
        return raised(lambda: y.sum().backward(), fragment)

    def named(grad):
        return tc.ones(3)

    return (
        raised(
            lambda: tc.ones(1).register_hook(print), "cannot register a hook on a tensor that doesn't require gradient"
        ),
        failing(lambda grad: 3, "expected Variable, but hook returned"),
        failing(lambda grad: "text", "expected Variable, but hook returned"),
        failing(named, "hook 'named' has changed the size of value"),
        failing(lambda grad: grad.double(), "has changed the type of value"),
    )


def H1_exception(tc):
    x = a_leaf(tc)

    def hook(grad):
        raise KeyError("mine")

    x.register_hook(hook)
    return raised(lambda: x.sum().backward(), "mine"), x.grad


def H1_gradient_may_be_changed_in_place(tc):
    x = a_leaf(tc)
    y = x * 2
    y.register_hook(lambda grad: grad.clone().mul_(5))
    y.sum().backward()
    return x.grad


def H2_view_then_in_place(tc):
    x = a_leaf(tc)
    base = x * 2
    view = base[0:1]
    sibling = base[1:2]
    seen = []
    view.register_hook(lambda grad: seen.append("view"))
    sibling.register_hook(lambda grad: seen.append("sibling"))
    view.mul_(3)
    base.sum().backward()
    return seen, x.grad


def H2_registered_after_touching_grad_fn(tc):
    x = a_leaf(tc)
    base = x * 2
    view = base[0:1]
    view.register_hook(lambda grad: seen.append("old"))
    view.mul_(3)
    seen = []
    node = view.grad_fn
    view.register_hook(lambda grad: seen.append(("new", grad)))
    (view * 5).sum().backward()
    return seen, node is not None, x.grad


def H3_post_hook(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    (y * 3).sum().backward()
    return seen, x.grad


def H3_none_clears_a_gradient(tc):
    x, z = a_leaf(tc), a_leaf(tc)
    y = x * z
    y.grad_fn.register_hook(lambda inputs, outputs: (None, inputs[1]))
    y.sum().backward()
    return x.grad, z.grad


def H3_only_where_the_node_runs(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(1))
    tc.autograd.grad((y * 3).sum(), y, retain_graph=True)
    return seen


def H3_single_tensor_return(tc):
    x = a_leaf(tc)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10,))
    y.sum().backward()
    return x.grad


def H3_saved_tensors_are_still_there(tc):
    x = a_leaf(tc)
    y = x.exp()
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(y.grad_fn._saved_result))
    y.sum().backward()
    return seen, raised(lambda: y.grad_fn._saved_result, "after they have already been freed")


def H3_misuse(tc):
    x = a_leaf(tc)

    def failing(hook, fragment):
        y = x * x
        y.grad_fn.register_hook(hook)
        return raised(lambda: y.sum().backward(), fragment)

    return (
        failing(lambda i, o: (i[0],), "incorrect number of values (got 1, but expected 2)"),
        failing(lambda i, o: (*i, None), "incorrect number of values (got 3, but expected 2)"),
        failing(lambda i, o: 3, "expected tuple, but hook returned"),
        failing(lambda i, o: list(i), "expected tuple, but hook returned"),
        failing(lambda i, o: (3, None), "expected Variable, but hook returned"),
        failing(lambda i, o: (tc.ones(5), None), "has changed the size of value"),
    )


def H4_pre_hook(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: grad + 1)
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    y.sum().backward()
    return seen, x.grad


def H4_only_where_the_node_runs(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.grad_fn.register_prehook(lambda grads: seen.append(1))
    tc.autograd.grad((y * 3).sum(), y, retain_graph=True)
    return seen


def H4_removed_by_an_earlier_hook(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []

    def first(grads):
        second.remove()
        second.remove()
        seen.append("first")

    y.grad_fn.register_prehook(first)
    second = y.grad_fn.register_prehook(lambda grads: seen.append("second"))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return seen


def H4_misuse(tc):
    x = a_leaf(tc)

    def failing(hook, fragment):
        y = x * x
        y.grad_fn.register_prehook(hook)
        return raised(lambda: y.sum().backward(), fragment)

    return (
        failing(lambda g: (g[0], g[0]), "incorrect number of values (got 2, but expected 1)"),
        failing(lambda g: 3, "expected tuple, but hook returned"),
        failing(lambda g: ("a",), "expected Variable, but hook returned"),
        failing(lambda g: (tc.ones(5),), "has changed the size of value"),
    )


def H4_whole_order(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []
    y.retain_grad()

    def log(name):
        return lambda *args: seen.append((name, y.grad is None))

    y.grad_fn.register_prehook(log("node pre"))
    y.grad_fn.register_hook(log("node post"))
    y.register_hook(log("tensor"))
    y.register_hook(log("tensor again"))
    (y * 3).sum().backward()
    return seen


test_program = differential(globals())
