"""Special functions. Generated from the operations' table."""

from wengert._C._special import *  # noqa: F403
