"""Work on one element: nothing but the cost of an operation, a node and a call of the engine."""

from itertools import repeat

from benchmarks.workload import Workload

LOOP = 1_000
LONG = 200_000


def add(wg):
    """``a + b`` without gradients."""
    a, b = wg.tensor([1.0]), wg.tensor([2.0])

    def step():
        for _ in repeat(None, LOOP):
            result = a + b
        return [result]

    return step


def add_with_grad(wg):
    """``a + b`` where both require gradients: one node is made and freed."""
    a, b = wg.tensor([1.0], requires_grad=True), wg.tensor([2.0], requires_grad=True)

    def step():
        for _ in repeat(None, LOOP):
            result = a + b
        return [result]

    return step


def smallest_grad(wg):
    """``grad`` through one node that saves nothing."""
    x = wg.tensor([1.0], requires_grad=True)
    y = x + 1.0
    grad = wg.autograd.grad

    def step():
        for _ in repeat(None, LOOP):
            result = grad(y, x, retain_graph=True)
        return result

    return step


def chain(length):
    """A product of `length` factors, one after another, forward and backward and freed."""

    def prepare(wg):
        x, factor = wg.tensor([1.0], requires_grad=True), wg.tensor([1.000001])

        def step():
            y = x
            for _ in repeat(None, length):
                y = y * factor
            y.backward()
            gradient, x.grad = x.grad, None
            return [y.detach(), gradient]

        return step

    return prepare


WORKLOADS = (
    Workload("add", 0.03, add, repeats=LOOP),
    Workload("add_with_grad", 0.04, add_with_grad, repeats=LOOP),
    Workload("smallest_grad", 0.06, smallest_grad, repeats=LOOP),
    Workload("chain_1000", 0.03, chain(LOOP)),
)
LONG_CHAIN = Workload("chain_200000", 0.03, chain(LONG))
