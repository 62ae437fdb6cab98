"""A user's script, for mypy and pyright in strict settings: nothing here may be reported (`nox -s lint`).

It is not run; each line is a kind of use that stubs may get wrong.
"""

from collections.abc import Iterator

import numpy as np

import wengert as wg
import wengert.autograd.forward_ad as fwd
import wengert.nn.functional as F  # noqa: N812
from wengert import Tensor
from wengert.func import grad, hessian, jacfwd, vmap

# --- Creation, dtypes, devices
x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
y: Tensor = wg.zeros(2, 3, dtype=wg.double)
z = wg.ones((2, 3), dtype=float, device="cpu") + wg.full((3,), 2.5) + wg.arange(3) * wg.linspace(0, 1, 3)
noise = wg.randn(2, 3, generator=wg.Generator().manual_seed(0), dtype=wg.float32) + wg.rand_like(y)
counts = wg.randint(0, 10, (2, 3)) + wg.randperm(3) + wg.eye(3)[0].long()
kind: wg.dtype = x.dtype
where: wg.device = x.device
size: wg.Size = x.shape
rows, columns = y.shape
is_double: bool = kind == wg.float64 and kind.is_floating_point and wg.get_default_dtype().itemsize == 4
wg.manual_seed(0)
if wg.cuda.is_available():
    print(wg.finfo(wg.float32).eps)

# --- Operators and indexing
a = (x + 1) * 2.0 - np.ones(2) / x**2 @ x
a = 1 - x[0] + x[-1:] + x[None, ..., 0] + y[:, [0, 1]].sum() + y[y > 0].mean()
a += 1
y[0] = 3.0
y[:, 0] = x
y[y < 0] = [0.0]
mask: Tensor = (x > 0) & ~(x == 1) | (x > 1)
for row in y:
    print(row.T, len(row), float(row[0]), int(row[0]), bool(row[0] > 0))

# --- Methods: each spelling that a call may have
a = y.sum() + y.sum(0).sum() + y.sum(dim=(0, 1), keepdim=True) + y.sum(axis=0, keepdims=True, dtype=wg.float64)
a = y.view(3, 2) + y.reshape((3, 2)) + y.permute(1, 0) + y.expand(2, 2, 3).mean(0).mT + y.transpose(0, 1)
a = y.exp().clamp(min=0, max=1).to(wg.float32).double().type(wg.float64).contiguous().clone().detach()
best = y.max(dim=1)
a = best.values + best.indices + y.sort(descending=True).values[0] + y.topk(2).values.sum()
u, s, vh = wg.linalg.svd(y)
number: float = y.mean().item()
array: np.ndarray = y.detach().numpy()  # type: ignore[type-arg]
shape: int = y.size(0) + y.stride(0) + y.numel() + y.dim() + y.ndim
a = y.add_(1).relu_().requires_grad_() + y.real + y.new_zeros(2, 3) + y.uniform_(0, 1) + y.normal_(std=0.1)

# --- Functions and namespaces
a = wg.cat([x, x]) + wg.stack([x[0], 2 * x[1]]).repeat(2) + wg.where(x > 0, x, 0.0).tile(2) + wg.einsum("i,i->", x, x)
first, second = wg.meshgrid(x, x, indexing="ij")
a = (
    F.softplus(x)
    + F.mse_loss(x, x, reduction="sum")
    + F.relu_(x)
    + F.max_pool2d(y[None, None], 2).sum()
    + wg.tensordot(y, y, ([0, 1], [0, 1]))
    + wg.relu_(x)
)
a = wg.special.erf(x) + wg.fft.rfft(x).abs() + wg.linalg.solve(wg.eye(2), x) + wg.linalg.cond(y)
a = wg.hann_window(3) + wg.vmap(wg.sin)(x) + wg.unique(x)

# --- Derivatives
x.sin().sum().backward()
if x.grad is not None:
    x.grad.zero_()
(gradient,) = wg.autograd.grad((x * x).sum(), x, create_graph=True)
with wg.no_grad(), wg.autograd.detect_anomaly():
    x.sub_(0.1 * gradient)


@wg.inference_mode()
def predict(v: Tensor) -> Tensor:
    return v.tanh()


node = x.exp().grad_fn
if node is not None:
    print(node.name(), node.next_functions[0][0], node.metadata)
    node.register_hook(lambda grad_inputs, grad_outputs: None).remove()
with x.register_hook(lambda g: 2 * g):
    pass
with fwd.dual_level():
    tangent = fwd.unpack_dual(fwd.make_dual(x, wg.ones(2))).tangent


def energy(v: Tensor) -> Tensor:
    return (v**2).sum()


print(grad(energy)(x), hessian(energy)(x), jacfwd(energy)(x), vmap(energy)(y), predict(x))
print(wg.autograd.functional.hessian(energy, x), wg.func.sparse_hessian(energy, x), wg.graph.draw(energy(x)))


class Cube(wg.autograd.Function):
    @staticmethod
    def forward(ctx, v):  # type: ignore[no-untyped-def] # pyright: ignore
        ctx.save_for_backward(v)
        return v**3

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def] # pyright: ignore
        (v,) = ctx.saved_tensors
        return 3 * v**2 * g


# --- Training
def parameters() -> Iterator[Tensor]:
    yield wg.nn.Parameter(wg.zeros(2))


optimizer = wg.optim.Adam(list(parameters()), lr=1e-2)
optimizer.zero_grad()
optimizer.step()
result = wg.optimize.minimize(energy, x, method="BFGS")
wg.testing.assert_close(x, x)
wg.save({"x": x}, "x.pt")


# --- Modules
class Net(wg.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = wg.nn.Sequential(wg.nn.Linear(2, 3), wg.nn.ELU(2.0, inplace=True), wg.nn.Dropout(0.1))
        self.pool = wg.nn.MaxPool2d(2, padding=1)

    def forward(self, v: Tensor) -> Tensor:
        out: Tensor = self.layers(v)
        return out


net = Net().to(wg.float64).train()
cross_entropy = wg.nn.CrossEntropyLoss(label_smoothing=0.1)
cross_entropy(net(x), wg.tensor(1)).backward()
names = [name for name, parameter in net.named_parameters() if parameter.requires_grad]
wg.nn.init.kaiming_uniform_(net.get_parameter("layers.0.weight"))
wg.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
handle = net.register_forward_hook(lambda module, args, output: None)
handle.remove()
net.load_state_dict(net.state_dict())

# --- A tensor without dimensions where a number may stand
steps = wg.linspace(x.sum(), 2, 5) + wg.arange(0, energy(x), 0.5).sum() + wg.full((5,), x.sum(), dtype="float64")
drawn: Tensor = wg.rand(2, 3, generator=wg.Generator()).uniform_(0, 1)
