"""Fixtures that several test modules share."""

import gc

import pytest


@pytest.fixture
def no_automatic_collection():
    """Objects die by counting alone, or when the test collects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
