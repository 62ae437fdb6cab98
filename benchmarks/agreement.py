"""Contenders are timed only if they compute the same values and gradients."""

import numpy as np


def to_numpy(result):
    """A tensor of either package, or an array, as an array."""
    return np.asarray(result.detach().numpy() if hasattr(result, "detach") else result)


def require_agreement(results, tolerance):
    """Compare the results of all contenders with PyTorch's.

    Parameters
    ----------
    results : dict of str to sequence
        By contender, what its step returned: values and gradients in the same order.
    tolerance : float
        Largest difference, relative to the largest element of each result.

    Raises
    ------
    AssertionError
        Names the contender and the position of the result that differs.
    """
    expected = [to_numpy(result) for result in results["torch"]]
    for name, own in results.items():
        for index, (actual, reference) in enumerate(zip(map(to_numpy, own), expected, strict=True)):
            np.testing.assert_allclose(
                actual,
                reference,
                rtol=0,
                atol=tolerance * max(1e-30, np.abs(reference).max()),
                err_msg=f"result {index} of {name} differs from torch",
            )
