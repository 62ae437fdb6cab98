"""Other packages' names for what is here."""

from __future__ import annotations

from . import autograd as autograd
