"""Every example in a public docstring runs, whether the function is Python, C++ or generated from the table."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import wengert

# Need MPI, and a process of their own: tests/python/distributed/test_examples.py runs them.
ELSEWHERE = ("wengert.distributed", "wengert.nn.parallel")

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_modules():
    yield wengert
    for info in pkgutil.walk_packages(wengert.__path__, "wengert."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield importlib.import_module(info.name)


def public_objects():
    """(qualified name, object) of each module, each name in its __all__, and each public member of its classes."""
    for module in public_modules():
        yield module.__name__, module
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                for member, attribute in vars(value).items():
                    if not member.startswith("_"):
                        yield f"{module.__name__}.{name}.{member}", attribute


def examples():
    """One doctest for each distinct docstring that has examples, under the first name that shows it."""
    parser = doctest.DocTestParser()
    seen = set()
    for name, value in public_objects():
        text = getattr(value, "__doc__", None)
        if isinstance(text, str) and ">>>" in text and text not in seen and not name.startswith(ELSEWHERE):
            seen.add(text)
            names = {"wg": wengert, "wengert": wengert, "np": np}
            yield pytest.param(parser.get_doctest(text, names, name, None, None), id=name)


@pytest.mark.parametrize("test", list(examples()))
def test_docstring_examples(test):
    report = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)
