"""Each kind of kernel once: loops, BLAS, LAPACK, FFT, special functions, random numbers.

A part of use.py of its own, for a package that is no wheel yet (`nox -s aarch64`).
"""

import numpy as np

import wengert as wg

x = wg.tensor(np.linspace(0.5, 2, 12).reshape(3, 4), requires_grad=True)
loss = wg.logsumexp(x @ x.mT, 0).sum() + wg.linalg.svd(x)[1].sum() + wg.fft.rfft(x).abs().sum()
loss = loss + wg.special.gammaln(x).sum() + (x * wg.randn(4)).exp().sum()
loss.backward()
assert bool(x.grad.isfinite().all())
assert bool(wg.autograd.gradcheck(lambda v: (v.tanh() @ v.mT).sum(), x))
hessian = wg.func.sparse_hessian(lambda v: (v**3).sum(), x.detach()[0])
assert abs(hessian.toarray() - np.diag(6 * x.detach()[0].numpy())).max() < 1e-12
