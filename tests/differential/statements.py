"""The statements that programs made at random consist of (test_random_programs.py).

A statement is a function of the package, of a tensor `x` that is there already, of all that are there, and of a source
of choices. It returns the tensors that it made, None for none. Names that end in `_` write.
"""

from collections.abc import Callable
from typing import Any

from tests.functions import function_of

STATEMENTS: dict[str, Callable] = {}


def statements(pattern: str, functions: dict[str, Callable]) -> None:
    """Enter functions of x alone; `pattern` says what they are."""
    for name, function in functions.items():
        STATEMENTS[pattern.format(name)] = lambda tc, x, pool, choice, f=function: f(x)


def statement(function: Callable) -> Callable:
    STATEMENTS[function.__name__] = function
    return function


statements(
    "view {}",
    {
        "select": lambda x: x.select(0, -1),
        "slice": lambda x: x[::2],
        "narrow": lambda x: x.narrow(-1, 0, 1),
        "transpose": lambda x: x.transpose(0, -1),
        "view": lambda x: x.view(-1),
        "reshape": lambda x: x.reshape(-1),
        "unsqueeze": lambda x: x.unsqueeze(0),
        "squeeze": lambda x: x.squeeze(),
        "expand": lambda x: x.expand(2, *x.shape),
        "diagonal": lambda x: x.diagonal(),
        "movedim": lambda x: x.movedim(0, -1),
        "flatten": lambda x: x.flatten(),
        "unfold": lambda x: x.unfold(0, 2, 1),
        "as_strided": lambda x: x.as_strided((2,), (1,)),
        "view_as": lambda x: x.view_as(x),
        "unbind": lambda x: x.unbind(0),
        "split": lambda x: x.split(1, -1),
        "tensor_split": lambda x: x.tensor_split(2),
        "detach": lambda x: x.detach(),
    },
)
statements(
    "{}",
    {
        "sin": lambda x: x.sin(),
        "tanh": lambda x: x.tanh(),
        "relu": lambda x: x.relu(),
        "exp": lambda x: x.exp(),
        "clone": lambda x: x.clone(),
        "contiguous": lambda x: x.contiguous(),
        "sum": lambda x: x.sum(),
        "sum_last": lambda x: x.sum(-1, keepdim=True),
        "mean": lambda x: x.mean(),
        "prod": lambda x: x.prod(),
        "max": lambda x: x.max(),
        "sort": lambda x: x.sort(0)[0],
        "cumsum": lambda x: x.cumsum(0),
        "softmax": lambda x: x.softmax(0),
        "clamp": lambda x: x.clamp(-0.5, 0.5),
        "square": lambda x: x**2,
        "twice": lambda x: 2 * x,
    },
)
statements(
    "{}",
    {
        "sin_": lambda x: x.sin_(),
        "tanh_": lambda x: x.tanh_(),
        "sigmoid_": lambda x: x.sigmoid_(),
        "exp_": lambda x: x.exp_(),
        "relu_": lambda x: x.relu_(),
        "neg_": lambda x: x.neg_(),
        "clamp_": lambda x: x.clamp_(-1, 1),
        "zero_": lambda x: x.zero_(),
        "fill_": lambda x: x.fill_(0.5),
        "mul_number_": lambda x: x.mul_(-1.5),
        "t_": lambda x: x.t_(),
        "squeeze_": lambda x: x.squeeze_(),
        "unsqueeze_": lambda x: x.unsqueeze_(0),
        "detach_": lambda x: x.detach_(),
        "requires_grad_": lambda x: x.requires_grad_(),
    },
)
for _name in ("add", "sub", "mul", "div", "matmul", "add_", "sub_", "mul_", "div_", "copy_"):
    STATEMENTS[_name] = lambda tc, x, pool, choice, name=_name: getattr(x, name)(choice(pool))


@statement
def cat(tc, x, pool, choice):
    return tc.cat([x, choice(pool)])


@statement
def stack(tc, x, pool, choice):
    return tc.stack([x, x * 2])


@statement
def where(tc, x, pool, choice):
    return tc.where(x > 0, x, choice(pool))


@statement
def index(tc, x, pool, choice):
    return x[tc.tensor([0, 0])]


@statement
def set_first_(tc, x, pool, choice):
    x[0] = choice(pool).sum()


@statement
def set_column_(tc, x, pool, choice):
    x[..., :1] = choice([2.0, -1.0])


@statement
def write_without_recording_(tc, x, pool, choice):
    with tc.no_grad():
        x.mul_(choice([2.0, -1.0]))


@statement
def compute_without_recording(tc, x, pool, choice):
    with tc.no_grad():
        return x * 2


@statement
def view_without_recording(tc, x, pool, choice):
    with tc.no_grad():
        return x.view_as(x)


@statement
def record_again(tc, x, pool, choice):
    with tc.no_grad(), tc.enable_grad():
        return x * x


@statement
def checkpoint(tc, x, pool, choice):
    return tc.utils.checkpoint.checkpoint(lambda t: t.sin() * t, x, use_reentrant=False)


@statement
def custom(tc, x, pool, choice):
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a.detach() + 1

    def backward(ctx, of_product, of_sum):
        a, b = ctx.saved_tensors
        return of_product * b + of_sum, of_product * a

    return function_of(tc, forward=forward, backward=backward).apply(x, choice(pool))


@statement
def custom_(tc, x, pool, choice):
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a.mul_(2)

    return function_of(tc, forward=forward, backward=lambda ctx, grad: 2 * grad).apply(x)


def takes_hooks(x: Any) -> bool:
    """PyTorch crashes on hooks of views of leaves that were made without recording."""
    return x.requires_grad and not (x.is_leaf and x._is_view())


@statement
def retain_grad(tc, x, pool, choice):
    if takes_hooks(x):
        x.retain_grad()


@statement
def hook(tc, x, pool, choice):
    if takes_hooks(x):
        factor = choice([2.0, -1.0])
        x.register_hook(lambda grad: grad * factor)


@statement
def hook_of_node(tc, x, pool, choice):
    if x.grad_fn is not None:
        x.grad_fn.register_prehook(lambda grads: tuple(None if g is None else g * 2 for g in grads))


@statement
def forget_grad(tc, x, pool, choice):
    if x.is_leaf:
        x.grad = None


@statement
def backward(tc, x, pool, choice):
    (x * x).sum().backward(retain_graph=choice([True, True, False]))


@statement
def gradients(tc, x, pool, choice):
    inputs = [t for t in pool[:4] if t.requires_grad]
    found = tc.autograd.grad(
        (x * x).sum(), inputs, create_graph=choice([True, False]), retain_graph=True, allow_unused=choice([True, False])
    )
    return [g.clone() for g in found if g is not None]  # PyTorch's may share memory
