"""``torch.backends``: libraries that are not here, and switches without effect."""

from __future__ import annotations

from ._switches import Switches

cpu = Switches()
cuda = Switches(matmul=Switches(allow_tf32=False), enabled=False)
cudnn = Switches(enabled=False, benchmark=False, deterministic=True, allow_tf32=False)
cusparselt, mkl, mkldnn, openmp, xeon = Switches(), Switches(), Switches(), Switches(), Switches()
mps = Switches()
opt_einsum = Switches(enabled=False, strategy=None)
quantized = Switches(engine="none", supported_engines=["none"])
