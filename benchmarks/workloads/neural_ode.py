"""A neural differential equation, 100 Runge-Kutta steps of order 4, differentiated through the solver.

The field is that of the demonstration in torchdiffeq (R. T. Q. Chen et al., Neural ordinary differential
equations, 2018): 2-50-2 on cubed states, here for a batch of 20.
"""

import numpy as np

from benchmarks.workload import Workload, gradients_of, leaves, random_arrays

STEPS, STEP_SIZE, BATCH = 100, 0.025, 20


def data():
    """Parameters and initial states [20,2]."""
    generator = np.random.default_rng(0)
    parameters = random_arrays(generator, w0=(50, 2), b0=(50,), w1=(2, 50), b1=(2,))
    return parameters, generator.uniform(-1, 1, (BATCH, 2)).astype(np.float32)


def integrate(field, state):
    """Advance `state` along `field` by the classical Runge-Kutta rule; plain arithmetic on any array."""
    h = STEP_SIZE
    for _ in range(STEPS):
        k1 = field(state)
        k2 = field(state + (0.5 * h) * k1)
        k3 = field(state + (0.5 * h) * k2)
        k4 = field(state + h * k3)
        state = state + (h / 6.0) * (k1 + 2.0 * (k2 + k3) + k4)
    return state


def prepare(wg):
    """See the module."""
    functional = wg.nn.functional
    parameters, initial = data()
    p, initial = leaves(wg, parameters), wg.tensor(initial)

    def field(state):
        hidden = functional.linear(state**3, p["w0"], p["b0"]).tanh()
        return functional.linear(hidden, p["w1"], p["b1"])

    def step():
        return gradients_of(integrate(field, initial).pow(2).mean(), p)

    return step


WORKLOAD = Workload("neural_ode_100", 0.12, prepare)
