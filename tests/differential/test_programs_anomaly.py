"""Section 11 of the semantics: anomaly mode."""

import contextlib

from tests.differential.observation import differential, raised, warned


def _x(tc):
    return tc.tensor([0.1, 0.2, 0.3], requires_grad=True)


def _failing(tc):
    class Fails(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("inside")

    return Fails


def N1_warns_when_constructed(tc):
    def use():
        with tc.autograd.detect_anomaly(check_nan=False):
            seen.append((tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()))

    seen = []
    messages = warned(use, "Anomaly Detection has been enabled")
    return messages, seen, tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()


def N2_function_or_context(tc):
    seen = []
    with tc.autograd.set_detect_anomaly(True, check_nan=False):
        seen.append((tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()))
    seen.append((tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()))
    tc.autograd.set_detect_anomaly(True)
    seen.append(tc.is_anomaly_enabled())
    tc.autograd.set_detect_anomaly(False)
    return seen, tc.is_anomaly_enabled()


def N4_forward_traceback(tc):
    x, fails = _x(tc), _failing(tc)

    def with_record():
        with tc.autograd.set_detect_anomaly(True):
            raised(fails.apply(x).sum().backward)

    def run(made_inside):
        texts = []
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if made_inside:
                with tc.autograd.set_detect_anomaly(True):
                    y = fails.apply(x).sum()
                    try:
                        y.backward()
                    except KeyError:
                        texts.append("KeyError")
            else:
                y = fails.apply(x).sum()
                with tc.autograd.set_detect_anomaly(True):
                    try:
                        y.backward()
                    except KeyError:
                        texts.append("KeyError")
        text = "\n".join(str(warning.message) for warning in caught)
        head = "Error detected in FailsBackward. "
        return (
            texts,
            head + "Traceback of forward call that caused the error:" in text,
            head + "No forward pass information available" in text,
            "y = fails.apply(x).sum()" in text,
        )

    return run(True), run(False)


def N5_nan(tc):
    x = tc.tensor([-1.0, 2.0], requires_grad=True)

    class Nan(tc.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient * float("nan")

    def run(check_nan):
        import warnings

        with warnings.catch_warnings(), tc.autograd.set_detect_anomaly(True, check_nan):
            warnings.simplefilter("ignore")
            return raised(
                Nan.apply(x * 1, x * 2).sum().backward, "Function 'NanBackward' returned nan values in its 1th output."
            )

    return run(True), run(False)


def N6_parents(tc):
    import warnings

    x, fails = _x(tc), _failing(tc)

    class Outer(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return fails.apply(gradient)

    with warnings.catch_warnings(record=True) as caught, tc.autograd.set_detect_anomaly(True):
        warnings.simplefilter("always")
        cotangent = tc.ones(3, requires_grad=True)
        (g,) = tc.autograd.grad(Outer.apply(x), x, cotangent, create_graph=True)
        with contextlib.suppress(KeyError):
            g.sum().backward()
    texts = [str(warning.message) for warning in caught]
    return len(texts), "Error detected in FailsBackward" in texts[0], "induced by OuterBackward" in texts[1]


test_program = differential(globals())
