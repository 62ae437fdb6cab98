"""Random calls of what the package's Python code calls in the core: the functions of `wengert._C` and its submodules,
the methods of nodes, contexts and handles. None of it is public, but all of it can be reached.
"""

import random
import types

import wengert as wg
from wengert import _C
from wengert.autograd import Function

from .calls import LEFT_OUT, Arguments

# They change what later cases rely on, or are called by the collector alone.
KEPT_AWAY = LEFT_OUT | {
    "_set_overrides_disabled", "_set_num_threads", "set_grad_enabled", "_set_package_folder", "_show_shared_objects",
    "_set_multithreading_enabled", "_set_debug_mode", "_set_view_replay_enabled", "_node_log_start", "_profile_start",
    "_push_saved_tensors_default_hooks", "_saved_tensors_hooks_disable", "_set_write_observer",
    "_set_blas_functions", "_fail_allocation",
}  # fmt: skip


class Saves(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x * 2)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


def functions():
    found = {}
    waiting = [("_C", _C)]
    seen = set()
    while waiting:
        path, owner = waiting.pop()
        for name in dir(owner):
            value = getattr(owner, name)
            if (
                isinstance(value, types.ModuleType)
                and value.__name__.startswith("wengert._C")
                and id(value) not in seen
            ):
                seen.add(id(value))
                waiting.append((f"{path}.{name}", value))
            elif callable(value) and not name.startswith("__") and name not in KEPT_AWAY:
                found[f"{path}.{name}"] = value
    return dict(sorted(found.items()))


class Things(Arguments):
    """Nodes, contexts and handles too."""

    def thing(self):
        x = wg.rand(3).requires_grad_()
        y = self.rng.choice([Saves.apply, wg.exp, lambda t: t * t, lambda t: t[1:], lambda t: wg.cat([t, t])])(x)
        node = y.grad_fn
        if self.rng.random() < 0.2:
            y.sum().backward()
        return self.rng.choice(
            [node, node.next_functions[0][0], (node, 0), (node, 5), node.metadata, self.handle(node)]
        )

    def handle(self, node):
        for name in dir(node):
            if name.startswith("_raw_saved"):
                return getattr(node, name)
        return node.next_functions

    def any(self):
        return self.thing() if self.rng.random() < 0.2 else super().any()


def use(function, things):
    given = [things.any() for _ in range(things.rng.choice([0, 1, 1, 2, 2, 3, 4, 7]))]
    return function(*given)


def use_attribute(things):
    owner = things.thing()
    name = things.rng.choice(dir(owner))
    if name in ("__class__", "__del__"):
        return
    value = getattr(owner, name)
    if callable(value):
        value(*[things.any() for _ in range(things.rng.choice([0, 1, 1, 2]))])
    else:
        setattr(owner, name, things.any())


def cases(seed, count):
    rng = random.Random(seed)
    table = list(functions().items())
    for _ in range(count):
        state = rng.random()
        if rng.random() < 0.3:
            yield "attribute", lambda s=state: use_attribute(Things(random.Random(s)))
        else:
            name, function = rng.choice(table)
            yield name, lambda f=function, s=state: use(f, Things(random.Random(s)))
