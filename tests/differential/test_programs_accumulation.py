"""Section 10 of the semantics: how gradients accumulate in leaves."""

from tests.differential.observation import better, differential, quietly


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def A1_user_gradient_is_not_aliased(tc):
    x = _x(tc)
    g = tc.ones(2)
    x.backward(g)
    aliased = x.grad.data_ptr() == g.data_ptr()
    (x * 1).backward(g)
    return aliased, g, x.grad


def A1_hook_gradient_is_not_aliased(tc):
    x = _x(tc)
    kept = []
    (x * 2).sum().backward()
    x.grad = None
    x.register_hook(lambda grad: kept.append(grad))
    (x * 2).sum().backward()
    x.grad.add_(100)
    return kept


def A1_first_gradient_has_no_graph(tc):
    x = _x(tc)
    (x * x).sum().backward()
    return x.grad.requires_grad, x.grad.grad_fn, x.grad.is_leaf


def A1_expanded_gradient(tc):
    x = tc.ones(3, requires_grad=True)
    x.sum().backward()
    x.grad.add_(tc.arange(3.0))
    return x.grad, x.grad.stride()


def A2_in_place(tc):
    x = _x(tc)
    (x * 2).sum().backward()
    first, pointer = x.grad, x.grad.data_ptr()
    (x * 3).sum().backward()
    return x.grad is first, x.grad.data_ptr() == pointer, first


def A2_out_of_place_under_create_graph(tc):
    x = _x(tc)
    (x * 2).sum().backward()
    first = x.grad
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    second = x.grad
    x.grad = None
    return second is first, first, second, second.requires_grad


def A2_zeroed_gradient(tc):
    x = _x(tc)
    (x * 2).sum().backward()
    first = x.grad
    x.grad.zero_()
    (x * 3).sum().backward()
    return x.grad is first, x.grad


def A2_recorded_then_plain(tc):
    x = _x(tc)
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    first = x.grad
    (x * 2).sum().backward()
    second = x.grad
    x.grad = None
    return first is second, second


def A3_dense_leaf(tc):
    x = tc.arange(6.0).reshape(2, 3).t().detach().requires_grad_()
    (x * tc.ones(3, 2)).sum().backward()
    first = x.grad.stride(), x.stride()
    y = tc.ones(2, 3, requires_grad=True)
    y.t().sum().backward()
    z = tc.ones(2, 3, requires_grad=True)
    (z * tc.arange(6.0).reshape(3, 2).t()).sum().backward()
    return first, y.grad.stride(), z.grad.stride(), z.grad


def A3_leaf_that_is_not_dense(tc):
    x = tc.arange(12.0).reshape(3, 4)[:, ::2].detach().requires_grad_()
    (x * x).sum().backward()
    y = tc.ones(1, 3).expand(2, 3).detach().requires_grad_()
    (y * 2).sum().backward()
    return x.stride(), x.grad.stride(), x.grad, y.stride(), y.grad.stride()


def A3_permuted_leaf(tc):
    x = tc.ones(2, 3, 4).permute(2, 0, 1).detach().requires_grad_()
    x.sum().backward()
    y = tc.ones(2, 3, 4).permute(2, 0, 1).detach().requires_grad_()
    (y * y).sum().backward()
    return x.grad.stride(), y.grad.stride()


def A4_two_leaves_one_gradient(tc):
    x, y = _x(tc), _x(tc)
    (x + y).sum().backward()
    x.grad.add_(100)
    return x.grad, y.grad, x.grad.data_ptr() == y.grad.data_ptr()


def A4_leaf_and_user_gradient(tc):
    x, y = _x(tc), _x(tc)
    g = tc.ones(2)
    (x + y).backward(g)
    x.grad.add_(100)
    return g, y.grad, len({g.data_ptr(), x.grad.data_ptr(), y.grad.data_ptr()})


def A4_retained_gradient(tc):
    x = _x(tc)
    y = x + 0
    y.retain_grad()
    y.sum().backward()
    y.grad.add_(100)
    return x.grad, y.grad


def A5_fan_in(tc):
    x = _x(tc)
    y = x * 1
    (y + y + y * 2 + y * y).sum().backward()
    return x.grad


def A5_user_gradients_are_not_changed(tc):
    x = _x(tc)
    y = x * 1
    g, h = tc.ones(2), tc.full((2,), 10.0)
    tc.autograd.backward([y, y, y], [g, h, g])
    return g, h, x.grad


def A5_shared_buffers_are_not_changed(tc):
    x = _x(tc)
    a, b = x * 1, x * 1
    seen = []
    a.register_hook(lambda grad: seen.append(grad))
    b.register_hook(lambda grad: seen.append(grad))
    (a + b).sum().backward()
    return seen, x.grad


def A5_hook_keeps_the_buffer(tc):
    x = _x(tc)
    y = x * 1
    kept = []
    z = y * 2
    z.grad_fn.register_hook(lambda inputs, outputs: kept.append(inputs[0]))
    (z + y * 3).sum().backward()
    return kept, x.grad


def A5_results_of_grad(tc):
    x, y = _x(tc), _x(tc)
    a, b = tc.autograd.grad(x + y, [x, y], tc.ones(2))
    a.add_(5)
    return better(
        b,
        torch=("tensor", "tc.float32", [6.0, 6.0]),
        wengert=("tensor", "tc.float32", [1.0, 1.0]),
        why="the results of one call never share memory",
    )


test_program = differential(globals())
