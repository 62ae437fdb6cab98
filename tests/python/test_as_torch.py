"""`import torch` means Wengert after `wengert.as_torch.install()`, and in what ``python -m wengert.as_torch`` runs."""

import subprocess
import sys
import textwrap

import pytest


def run(program, *arguments):
    """Run lines in a process of their own, after the installation; returns what they print."""
    lines = "import wengert\nwengert.as_torch.install()\n" + textwrap.dedent(program)
    command = [sys.executable, *arguments] if arguments else [sys.executable, "-c", lines]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_modules_are_those_of_wengert():
    printed = run("""
        import torch, torch.nn as nn, torch.nn.functional as F, torch.utils.data
        from torch import Tensor, autograd, nn as also_nn, optim
        from torch.nn.utils.rnn import pad_sequence
        from torch.optim.lr_scheduler import StepLR
        print(Tensor is wengert.Tensor, nn.Linear is wengert.nn.Linear, F.relu is wengert.nn.functional.relu)
        print(nn is also_nn, torch.nn is nn, optim.Adam is wengert.optim.Adam)
        print(torch.utils.data.DataLoader is wengert.utils.data.DataLoader, torch.__name__, torch.__spec__.origin)
        print(torch.__version__ >= "2.0", torch.version.cuda, torch.cuda.is_available(), "sin" in dir(torch))
        namespace = {}
        exec("from torch.nn import *", namespace)
        print(namespace["Linear"] is nn.Linear)
    """)
    assert printed == [
        "True True True",
        "True True True",
        "True torch wengert.as_torch",
        "True None False True",
        "True",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "torch.optim.adam.Adam", "torch.optim.adamw.AdamW", "torch.optim.lbfgs.LBFGS",
        "torch.optim.lr_scheduler.StepLR",
        "torch.optim.lbfgs._strong_wolfe", "torch.optim.optimizer.Optimizer", "torch.distributions.laplace.Laplace",
        "torch.distributions.multivariate_normal.MultivariateNormal", "torch.nn.modules.conv.Conv2d",
        "torch.autograd.function.Function", "torch.utils.checkpoint.checkpoint",
    ],
)  # fmt: skip
def test_paths_of_pytorch(path):
    module, _, name = path.rpartition(".")
    assert run(f"from {module} import {name}\nprint({name}.__name__)") == [name]


def test_a_program_and_a_module(tmp_path):
    (tmp_path / "beside.py").write_text("import torch\nx = torch.ones(2)\n")
    program = tmp_path / "program.py"
    program.write_text("import sys\nfrom beside import x\nprint(__name__, sys.argv[1:], x.sum().item(), type(x))\n")
    said = ["__main__ ['--a', '3'] 2.0 <class 'wengert.Tensor'>"]
    assert run("", "-m", "wengert.as_torch", str(program), "--a", "3") == said
    assert "torch" in run("", "-m", "wengert.as_torch", "-m", "pydoc", "torch.version")[0]


def test_a_call_without_program():
    done = subprocess.run([sys.executable, "-m", "wengert.as_torch"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "usage" in done.stderr


def test_absent_names_may_be_mentioned():
    printed = run("""
        import torch, typing, torch.distributed.rpc as rpc
        from torch import complex32
        from torch.fx import Tracer
        class Own(Tracer): pass
        def f(x: torch.SymInt | None, y: typing.Optional[torch.futures.Future[int]]): ...
        def g(x: torch.Tensor | torch.SymInt): ...
        sizes = {torch.complex32: 4, torch.float64: 8}
        print(torch.complex32 is complex32, torch.float64 == complex32, sizes[torch.float64], 3 in (complex32,))
        print(isinstance(3, torch.SymInt), isinstance(torch.ones(1), (torch.SymInt, torch.Tensor)), complex32)
        print(issubclass(int, torch.SymInt), hasattr(torch, "complex32"), getattr(rpc, "x", None))
    """)
    assert printed == ["True False 8 False", "False True <torch.complex32: not in Wengert>", "False False None"]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            "torch.complex32(1)",
            "torch.complex32 is used, but module 'wengert' has no attribute 'complex32'; complex numbers with parts",
        ),
        ("torch.fx.symbolic_trace(1)", "torch.fx.symbolic_trace is used"),
        ("torch.nn.DataParallel(1)", "has no attribute 'DataParallel'; nothing splits a batch over devices"),
        ("torch.nn.quantized.x.y(1)", "module 'wengert.nn' has no attribute 'quantized'"),
        ("type('A', torch.fx.Tracer.__mro_entries__(()), {})()", "torch.fx.Tracer is used"),
        ("1 + torch.zzzz", "torch.zzzz is used"),
        ("list(torch.zzzz)", "torch.zzzz is used"),
        ("bool(torch.zzzz)", "torch.zzzz is used"),
        ("torch.zzzz.__enter__()", "torch.zzzz is used"),
    ],
)
def test_absent_names_say_so_when_they_are_used(use, message):
    printed = run(f"""
        import torch
        try:
            {use}
        except NotImplementedError as error:
            print(error)
    """)
    assert message in printed[0]


def test_errors_about_arguments_show_absent_names():
    printed = run("""
        import torch
        try:
            torch.ones(2, dtype=torch.float8_e4m3fn)
        except TypeError as error:
            print(error)
    """)
    assert "must be wengert.dtype, not float8_e4m3fn (absent)" in printed[0]


def test_names_that_change_no_number():
    printed = run("""
        import torch
        @torch.jit.script
        def double(x: torch.Tensor) -> torch.Tensor: return 2 * x
        @torch.jit.ignore(drop=True)
        def same(x): return x
        @torch.compile(dynamic=True)
        def same(x): return x
        class Model(torch.jit.ScriptModule):
            size: torch.jit.Final[int] = 3
            @torch.jit.export
            def forward(self, x): return x
        torch.backends.cudnn.benchmark = torch.backends.cuda.matmul.allow_tf32 = True
        torch.use_deterministic_algorithms(True)
        scaler = torch.amp.GradScaler("cuda")
        model = torch.compile(torch.nn.Linear(1, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with torch.autocast("cuda"), torch.cuda.amp.autocast(), torch.backends.cudnn.flags(enabled=False):
            scaler.scale(model(torch.ones(1, 1)).sum()).backward()
        scaler.step(optimizer)
        print(double(torch.ones(1)).item(), same(3), Model()(4))
        print(torch.jit.is_scripting(), torch.compiler.is_compiling())
        print(torch.backends.mps.is_available(), torch.distributed.is_initialized(), torch.xpu.is_available())
        print(torch.get_default_device(), torch.is_autocast_enabled())
        print(torch.norm(torch.ones(4), out=torch.ones(())).item())
    """)
    assert printed == ["2.0 3 4", "False False", "False False False", "cpu False", "2.0"]


def test_devices():
    printed = run("""
        import torch, torch.accelerator
        torch.set_default_device("meta")
        print(torch.get_default_device(), torch.ones(1).device)
        with torch.device("sim:1"):
            print(torch.ones(1).device)
        torch.set_default_device(None)
        print(torch.get_default_device(), torch.get_default_device is wengert.get_default_device)
        print(torch.accelerator.current_accelerator(), torch.accelerator.device_count is wengert.sim.device_count)
        print(torch.accelerator.is_available(), hasattr(torch.accelerator, "manual_seed"))
    """)
    assert printed == ["meta meta", "sim:1", "cpu True", "sim True", "True False"]


def test_functions_of_numpy_give_arrays_while_installed():
    printed = run("""
        import numpy, torch
        print(type(numpy.stack([torch.ones(2)])).__name__, type(numpy.exp(torch.ones(2))).__name__)
        wengert.as_torch.uninstall()
        print(type(numpy.stack([wengert.ones(2)])).__name__)
    """)
    assert printed == ["ndarray Tensor", "Tensor"]


def test_installed_twice_and_not_any_more():
    printed = run("""
        import sys
        wengert.as_torch.install()
        import torch
        wengert.as_torch.uninstall()
        wengert.as_torch.uninstall()
        print(torch.ones(1).item(), [name for name in sys.modules if name.partition(".")[0] == "torch"])
        sys.modules["torch"] = sys  # stands for PyTorch
        try:
            wengert.as_torch.install()
        except ImportError as error:
            print(error)
    """)
    assert printed[0] == "1.0 []"
    assert "PyTorch is already imported" in printed[1]


def test_looking_up_in_long_code():
    printed = run("""
        import torch
        lines = [f"torch.absent_{i}" for i in range(600)]
        exec(compile("\\n".join(lines), "long", "exec"))
        print(hasattr(torch, "absent_599"))
    """)
    assert printed == ["False"]


def test_several_processes():
    printed = run("""
        import torch.distributed as dist
        from torch.distributed.optim import ZeroRedundancyOptimizer
        from torch.nn.parallel import DistributedDataParallel as DDP
        from torch.utils.data.distributed import DistributedSampler
        print(dist.all_reduce is wengert.distributed.all_reduce, DDP is wengert.nn.parallel.DistributedDataParallel)
        print(dist.is_initialized(), dist.is_nccl_available(), dist.ReduceOp.SUM, hasattr(dist, "rpc"))
        try:
            dist.init_process_group("nccl")
        except ValueError as error:
            print(error)
    """)
    assert printed == [
        "True True",
        "False False ReduceOp.SUM False",
        "[init_process_group] the one backend is 'mpi', got 'nccl'",
    ]
