"""Interpreters that can do without the GIL: importing the package turns it on and says so, or says why it cannot."""

import os
import subprocess
import sys
import sysconfig

import pytest

pytestmark = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter always has the GIL"
)


def run(program, **environment):
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    return subprocess.run([sys.executable, "-c", program], env=inherited | environment, capture_output=True, text=True)


def test_import_turns_the_gil_on_and_warns():
    done = run("import sys, wengert; print(sys._is_gil_enabled())")
    assert done.stdout == "True\n", done.stderr
    assert (
        "RuntimeWarning: The global interpreter lock (GIL) has been enabled to load module 'wengert._C'" in done.stderr
    )


def test_nothing_is_said_where_it_is_on():
    done = run("import sys, wengert; print(sys._is_gil_enabled())", PYTHON_GIL="1")
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_import_is_refused_where_it_is_kept_off():
    done = run("import wengert", PYTHON_GIL="0")
    assert done.returncode == 1
    assert "ImportError: wengert needs the GIL: do not set PYTHON_GIL=0 or -X gil=0, which keep it off" in done.stderr
