"""Running one program text on two packages and comparing what it shows.

A *program* is a function of the package, ``def G3_is_leaf(tc): ...``, named by the row of the semantics it belongs to.
It returns plain data, tensors and nodes included; the harness runs it once with ``torch`` and once with ``wengert`` and
compares what it returned, what it printed, the type of the exception that ended it and the warnings it left behind.

Misuse is data too: ``raised(action, fragment)`` returns the type of the exception and the fragment if the message
holds it, else the whole message, so that a wording on which people rely cannot drift on either side.

A program that ends in ``better(torch=..., wengert=..., why=...)`` states an intended difference, and both sides of it.

What the programs showed on PyTorch is recorded (``python -m tests.differential``), so that tests/python can check it
where there is no PyTorch.
"""

import contextlib
import io
import warnings
from ast import literal_eval
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest

import wengert


@dataclass
class Difference:
    """What `better` returns: the expectation of both sides, in the place of a common value."""

    torch: object
    wengert: object


@dataclass
class Observation:
    """What one run showed."""

    value: object = None
    error: object = None
    printed: str = ""
    warned: list = field(default_factory=list)


def better(shown, *, torch, wengert, why):
    """State that the packages differ on purpose: `shown` has to equal the expectation of the package that ran."""
    assert why
    return (Difference(plain(torch), plain(wengert)), shown)


def raised(action, fragment=""):
    """Return the exception that `action` raises, as (type name, fragment or message); None if it raises nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            action()
    except Exception as error:
        return (type(error).__name__, fragment if fragment in str(error) else neutral(str(error)))
    return None


def warned(action, fragment=""):
    """Return the warnings that `action` gives, as a list of (category name, fragment or message)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [
        (warning.category.__name__, fragment if fragment in str(warning.message) else neutral(str(warning.message)))
        for warning in caught
    ]


def quietly(action):
    """Return the result of an action that warns only the first time in a process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return action()


def neutral(text):
    """Return `text` without the name of the package."""
    return text.replace("wengert", "tc").replace("torch", "tc")


def plain(value):
    """Return tensors, nodes, dtypes and containers of them as Python data."""
    if not isinstance(value, type):
        if hasattr(value, "is_leaf"):
            return ("tensor", neutral(str(value.dtype)), value.detach().tolist())
        if hasattr(value, "next_functions"):
            return ("node", neutral(value.name()))
        if type(value).__name__ in ("dtype", "device"):
            return neutral(str(value))
    if isinstance(value, Difference):
        return value
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, (list, set, frozenset)):
        return [plain(item) for item in value]
    return neutral(value) if isinstance(value, str) else value


def observe(program, package):
    """Run `program` on `package`."""
    seen = Observation()
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            seen.value = plain(program(package))
        except Exception as error:
            seen.error = (type(error).__name__, neutral(str(error)))
    seen.printed = neutral(printed.getvalue())
    seen.warned = sorted({warning.category.__name__ for warning in caught})
    return seen


def same(a, b):
    """Compare plain data; numbers with the tolerance of float32."""
    if isinstance(a, float) and isinstance(b, (int, float)):
        return a == pytest.approx(b, rel=1e-5, abs=1e-6, nan_ok=True)
    if isinstance(a, complex) or isinstance(b, complex):
        return same(complex(a).real, complex(b).real) and same(complex(a).imag, complex(b).imag)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return a == b


def require_same(ours, expected, name):
    """Fail unless the run on Wengert shows the expected value."""
    if isinstance(ours.value, tuple) and ours.value and isinstance(ours.value[0], Difference):
        ours.value = ours.value[1]
    assert ours.error is None, f"a program catches its errors: {ours}"
    assert same(ours.value, expected), f"\nwengert: {ours.value}\n{name}: {expected}"


def require_agreement(program, torch):
    """Fail unless both packages show the same, or what `better` states."""
    ours, theirs = observe(program, wengert), observe(program, torch)
    assert theirs.error is None, f"a program catches its errors: {theirs}"
    if isinstance(theirs.value, tuple) and theirs.value and isinstance(theirs.value[0], Difference):
        stated, shown = theirs.value
        assert same(shown, stated.torch), f"\ntorch:  {shown}\nstated: {stated.torch}"
        require_same(ours, stated.wengert, "stated")
        return
    require_same(ours, theirs.value, "torch")
    assert ours.printed == theirs.printed
    assert ours.warned == theirs.warned


def programs_of(namespace):
    """Return the programs of a module: its own public functions of one argument ``tc``."""
    return [
        value
        for name, value in namespace.items()
        if name[0] != "_"
        and getattr(value, "__module__", None) == namespace["__name__"]
        and getattr(getattr(value, "__code__", None), "co_varnames", ())[:1] == ("tc",)
    ]


def differential(namespace):
    """Return the test of all programs in a module."""

    @pytest.mark.parametrize("program", programs_of(namespace), ids=lambda program: program.__name__)
    def test_program(program):
        require_agreement(program, pytest.importorskip("torch"))

    return test_program


# --- What the programs show is recorded, so that it is tested where there is no PyTorch: one literal a line.
HERE = Path(__file__).parent
RECORD = HERE / "recorded.txt"


def all_programs():
    """Return the programs of every module, by name."""
    modules = [import_module(f"tests.differential.{path.stem}") for path in sorted(HERE.glob("test_programs_*.py"))]
    return {program.__name__: program for module in modules for program in programs_of(vars(module))}


def recorded():
    """Return what every program showed when the record was made."""
    lines = RECORD.read_text().splitlines()
    return {name: literal_eval(value) for name, value in (line.split(": ", 1) for line in lines)}


def record(torch):
    """Write the record: what PyTorch shows, or what `better` states for Wengert."""
    lines = []
    for name, program in sorted(all_programs().items()):
        seen = observe(program, torch)
        assert seen.error is None, f"{name} catches its errors: {seen}"
        value = seen.value
        if isinstance(value, tuple) and value and isinstance(value[0], Difference):
            value = value[0].wengert
        lines.append(f"{name}: {value!r}\n")
    RECORD.write_text("".join(lines))
