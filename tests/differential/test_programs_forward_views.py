"""Forward mode through views: what is written into a base, or into a view of it, is seen by the other one."""

import contextlib

from tests.differential.observation import differential, quietly, raised

OPERATIONS = {
    "multiplied": lambda tc, v: v * 2,
    "added": lambda tc, v: v + v,
    "a function": lambda tc, v: v.exp(),
    "summed": lambda tc, v: v.sum(),
    "a matrix product": lambda tc, v: v @ v,
    "concatenated": lambda tc, v: tc.cat([v, v]),
    "stacked": lambda tc, v: tc.stack([v, v]),
    "selected": lambda tc, v: tc.where(v > 0, v, 0.0),
    "copied": lambda tc, v: v.clone(),
    "converted": lambda tc, v: v.to(tc.float64),
    "viewed": lambda tc, v: v[0:1],
    "reshaped": lambda tc, v: v.reshape(-1, 1),
    "split": lambda tc, v: v.unbind()[0],
    "written": lambda tc, v: v.mul_(3.0),
    "written into another": lambda tc, v: tc.zeros(v.shape).add_(v),
    "copied into another": lambda tc, v: tc.zeros(v.shape).copy_(v),
    "of several": lambda tc, v: tc.addcmul(v, v, v),
    "an activation": lambda tc, v: tc.nn.functional.relu(v),
    "detached": lambda tc, v: v.detach(),
}
MODES = {
    "grad": lambda tc: contextlib.nullcontext(),
    "no grad": lambda tc: tc.no_grad(),
    "no grad and grad": lambda tc: nested(tc.no_grad(), tc.enable_grad()),
    "grad and no grad": lambda tc: nested(tc.enable_grad(), tc.no_grad()),
}


@contextlib.contextmanager
def nested(outer, inner):
    with outer, inner:
        yield


def _tangent_of(tc, x):
    tangent = tc.autograd.forward_ad.unpack_dual(x).tangent
    return None if tangent is None else tangent.tolist()


def _a_dual(tc, n):
    return quietly(lambda: tc.autograd.forward_ad.make_dual(tc.ones(n), tc.arange(1.0, n + 1)))


def _seen(tc, write_and_use):
    """Return the tangents of all operations in all modes, on what the function returns after its write."""
    seen = {}
    for name, operation in OPERATIONS.items():
        for mode, context in MODES.items():
            base = tc.full((3,), 2.0)
            view = base[0:2]
            with tc.autograd.forward_ad.dual_level(), context(tc):
                used = write_and_use(base, view)
                seen[name, mode] = _tangent_of(tc, quietly(lambda f=operation, v=used: f(tc, v)))
    return seen


def D6_base_written_and_view_used(tc):
    return _seen(tc, lambda base, view: (base.copy_(_a_dual(tc, 3)), view)[1])


def D6_view_written_and_base_used(tc):
    return _seen(tc, lambda base, view: (view.copy_(_a_dual(tc, 2)), base)[1])


def D6_base_written_where_the_level_is_opened_in_no_grad(tc):
    seen = []
    base = tc.zeros(3)
    view = base[1:]
    with tc.no_grad():
        with tc.autograd.forward_ad.dual_level():
            base.copy_(_a_dual(tc, 3))
            seen.append(_tangent_of(tc, view * 2))
        with tc.autograd.forward_ad.dual_level():
            seen.append(_tangent_of(tc, view * 2))
            base.mul_(_a_dual(tc, 3))
            seen.append(_tangent_of(tc, view * 2))
    return seen


def D6_views_of_views(tc):
    seen = []
    for mode in MODES.values():
        base = tc.zeros(2, 3)
        row = base[1]
        part, column = row[1:], base.t()[2]
        with tc.autograd.forward_ad.dual_level(), mode(tc):
            row.copy_(_a_dual(tc, 3))
            seen += [_tangent_of(tc, part + 1), _tangent_of(tc, column + 1), _tangent_of(tc, base + 1)]
    return seen


def D6_views_made_in_no_grad(tc):
    base = tc.zeros(3)
    with tc.no_grad():
        view = base[:2]
        with tc.autograd.forward_ad.dual_level():
            base.add_(_a_dual(tc, 3))
            return _tangent_of(tc, view.sin()), _tangent_of(tc, view)


def D6_written_in_part_under_no_grad(tc):
    base = tc.ones(4)
    left, right = base[:2], base[2:]
    with tc.autograd.forward_ad.dual_level(), tc.no_grad():
        left.mul_(_a_dual(tc, 2))
        return _tangent_of(tc, right * 2), _tangent_of(tc, left * 2), _tangent_of(tc, base * 2)


def D5_inference_mode_has_no_tangents(tc):
    base = tc.zeros(3)
    view = base[:2]
    with tc.autograd.forward_ad.dual_level():
        base.copy_(_a_dual(tc, 3))
        with tc.inference_mode():
            inside = _tangent_of(tc, view * 2), _tangent_of(tc, base * 2)
        return inside, _tangent_of(tc, view * 2), _tangent_of(tc, base * 2)


def D5_writing_in_inference_mode(tc):
    seen = []
    base = tc.zeros(3)
    view = base[:2]
    with tc.autograd.forward_ad.dual_level():
        dual = _a_dual(tc, 3)
        with tc.inference_mode():
            seen.append(raised(lambda: base.copy_(dual)))
            seen.append(base.tolist())
        seen += [_tangent_of(tc, view * 2), _tangent_of(tc, base * 2)]
    return seen


test_program = differential(globals())
