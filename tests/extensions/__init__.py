"""Extensions that tests build, each once for all tests and workers of a user, and only when something has changed."""

import tempfile
from getpass import getuser
from pathlib import Path

import pytest

from wengert import _C
from wengert.utils import cpp_extension

SANITIZED = "WENGERT_SANITIZE" in _C._abi  # then extensions would have to be, too
BUILDS = Path(tempfile.gettempdir()) / f"wengert_test_extensions_{getuser()}"


def built(name, text, functions=None, **options):
    if SANITIZED:
        pytest.skip("the library is built with a sanitizer, and extensions are not")
    return cpp_extension.load_inline(name, text, functions, build_directory=BUILDS, **options)
