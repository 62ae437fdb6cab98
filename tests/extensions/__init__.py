"""Extensions that tests build, each once for all tests and workers of a user, and only when something has changed."""

import tempfile
from getpass import getuser
from pathlib import Path

from wengert.utils import cpp_extension

BUILDS = Path(tempfile.gettempdir()) / f"wengert_test_extensions_{getuser()}"


def built(name, text, functions=None, **options):
    return cpp_extension.load_inline(name, text, functions, build_directory=BUILDS, **options)
