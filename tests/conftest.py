"""What all tests share."""

from importlib.util import find_spec

# The differential tests compare with PyTorch, which no other test needs: `nox -s differential` installs it.
collect_ignore = [] if find_spec("torch") else ["differential"]
