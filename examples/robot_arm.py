"""Robot arm: swinging a double pendulum up, by iterated linear-quadratic control.

Shows second derivatives as mechanics, and Jacobians of a whole trajectory at once. The equations of motion are never
written down: they follow from the kinetic and potential energy, whose Hessian with respect to velocities is the mass
matrix (Lagrange's equations). The controller linearizes them at all times together by `vmap` of `jacrev`, and solves
Riccati's recursion.

Two rods hang in gravity; motors at both joints are too weak to lift them slowly. The method: W. Li and E. Todorov,
"Iterative linear quadratic regulator design for nonlinear biological movement systems", ICINCO 2004; regularization
and line search as in Y. Tassa et al., IROS 2012.

    python examples/robot_arm.py --plot arm.png
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import wengert as wg

MASS, LENGTH, GRAVITY = 1.0, 1.0, 9.81
STEP = 0.02  # seconds
GOAL = np.array([np.pi, 0.0, 0.0, 0.0])  # angles from hanging, the second relative to the first; their velocities
EFFORT, RUNNING, FINAL = 0.004, np.diag([0.04, 0.04, 0.004, 0.004]), np.diag([300.0, 300.0, 30.0, 30.0])


def joints(angles):
    """Where the ends of both rods are [2,2]."""
    turned = angles.cumsum(0)
    ends = LENGTH * wg.stack([turned.sin(), -turned.cos()], 1)
    return ends.cumsum(0)


def lagrangian(angles, velocities):
    """Kinetic minus potential energy; each rod has its mass at its end, and half as much again in its middle."""

    def masses(angles):
        ends = joints(angles)
        return wg.cat([ends, (ends + wg.cat([wg.zeros(1, 2, dtype=wg.float64), ends[:1]])) / 2])

    weights = wg.tensor([1.0, 1.0, 0.5, 0.5], dtype=wg.float64) * MASS
    places, speeds = wg.func.jvp(masses, (angles,), (velocities,))
    return (weights * (0.5 * speeds.square().sum(1) - GRAVITY * places[:, 1])).sum()


def acceleration(angles, velocities, torques):
    """What Lagrange's equations say: M a = torques + dL/dq - (d2L/dv dq) v."""
    force = wg.func.grad(lagrangian, argnums=0)(angles, velocities)
    mass = wg.func.hessian(lagrangian, argnums=1)(angles, velocities)
    momentum = wg.func.grad(lagrangian, argnums=1)
    _, drift = wg.func.jvp(lambda q: momentum(q, velocities), (angles,), (velocities,))
    return wg.linalg.solve(mass, torques + force - drift)


def next_state(state, torques):
    """The state [4] a step later: the midpoint rule."""
    angles, velocities = state[:2], state[2:]
    half = velocities + STEP / 2 * acceleration(angles, velocities, torques)
    middle = angles + STEP / 2 * velocities
    return wg.cat([angles + STEP * half, velocities + STEP * acceleration(middle, half, torques)])


linearized = wg.func.vmap(wg.func.jacrev(next_state, argnums=(0, 1)))


def roll_out(start, torques, nominal=None, gains=None):
    """States [T+1,4] under torques [T,2], corrected where states leave the nominal ones; and the torques."""
    states, used = [np.asarray(start)], []
    for t, torque in enumerate(torques):
        if gains is not None:
            torque = torque + gains[t] @ (states[t] - nominal[t])
        used.append(torque)
        states.append(next_state(wg.tensor(states[t]), wg.tensor(torque)).numpy())
    return np.array(states), np.array(used)


def cost(states, torques):
    off = states - GOAL
    return float(
        0.5 * np.einsum("ti,ij,tj", off[:-1], RUNNING, off[:-1]) * STEP
        + 0.5 * EFFORT * (torques**2).sum() * STEP
        + 0.5 * off[-1] @ FINAL @ off[-1]
    )


def feedback(states, torques, damping):
    """Riccati's recursion backwards: changes of torques [T,2] and gains [T,2,4]."""
    by_state, by_torque = (part.numpy() for part in linearized(wg.tensor(states[:-1]), wg.tensor(torques)))
    slope, curvature = FINAL @ (states[-1] - GOAL), FINAL
    changes, gains = np.zeros_like(torques), np.zeros((len(torques), 2, 4))
    for t in reversed(range(len(torques))):
        a, b = by_state[t], by_torque[t]
        q_x = STEP * RUNNING @ (states[t] - GOAL) + a.T @ slope
        q_u = STEP * EFFORT * torques[t] + b.T @ slope
        q_xx, q_ux = STEP * RUNNING + a.T @ curvature @ a, b.T @ curvature @ a
        q_uu = STEP * EFFORT * np.eye(2) + b.T @ (curvature + damping * np.eye(4)) @ b
        changes[t], gains[t] = -np.linalg.solve(q_uu, q_u), -np.linalg.solve(q_uu, q_ux)
        slope = q_x + gains[t].T @ q_u + q_ux.T @ changes[t] + gains[t].T @ q_uu @ changes[t]
        curvature = q_xx + gains[t].T @ q_uu @ gains[t] + gains[t].T @ q_ux + q_ux.T @ gains[t]
    return changes, gains


def control(duration=3.0, iterations=60, progress=False):
    """Find torques; return states [T+1,4], torques [T,2] and the cost at each iteration."""
    start = np.zeros(4)
    rng = np.random.default_rng(0)
    states, torques = roll_out(start, rng.normal(size=(int(duration / STEP), 2)) * 0.1)
    costs, damping = [cost(states, torques)], 1.0
    with tqdm(total=iterations, disable=not progress, unit="iteration") as bar:
        for _ in range(iterations):
            changes, gains = feedback(states, torques, damping)
            for share in 0.5 ** np.arange(8):
                moved, used = roll_out(start, torques + share * changes, states, gains)
                if np.isfinite(moved).all() and cost(moved, used) < costs[-1]:
                    states, torques, damping = moved, used, max(damping / 3, 1e-6)
                    break
            else:
                damping *= 10
            costs.append(cost(states, torques))
            bar.set_postfix(cost=f"{costs[-1]:.3f}", refresh=False)
            bar.update()
            if damping > 1e6 or (damping < 1e-3 and costs[-2] - costs[-1] < 1e-5 * costs[-1]):
                break
    return states, torques, costs


def plot(states, torques, costs, path):
    """Save the movement, the torques and the cost as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
    shades = plt.get_cmap("viridis")(np.linspace(0, 1, len(states)))
    for state, shade in list(zip(states, shades, strict=True))[::4]:
        ends = joints(wg.tensor(state[:2])).numpy()
        axes[0].plot([0, *ends[:, 0]], [0, *ends[:, 1]], color=shade, linewidth=1.5, alpha=0.7)
    axes[0].set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), title="movement, from dark to light")
    axes[1].plot(STEP * np.arange(len(torques)), torques, label=["first joint", "second joint"])
    axes[1].set(xlabel="seconds", title="torques [N m]")
    axes[1].legend()
    axes[2].semilogy(costs)
    axes[2].set(xlabel="iteration", title="cost")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, default=3.0, help="seconds that the movement may take")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--plot", metavar="PATH", help="save the movement there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    states, torques, costs = control(options.duration, options.iterations, progress=True)
    print(f"cost {costs[0]:.1f} at first, {costs[-1]:.3f} after {len(costs) - 1} iterations")
    off = np.abs(states[-1] - GOAL)[:2].max()
    print(f"off the goal by {off:.4f} rad at the end, torques up to {np.abs(torques).max():.1f} N m")
    print(f"{time.perf_counter() - start:.1f} s")
    if options.plot:
        plot(states, torques, costs, options.plot)
        print(f"movement saved to {options.plot}")


if __name__ == "__main__":
    main()
