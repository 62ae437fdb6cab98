"""Fixtures that several test modules share."""

import gc

import pytest

import wengert as wg


@pytest.fixture
def no_automatic_collection():
    """Objects die by counting alone, or when the test collects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def threads():
    """Set the number of threads for one test."""
    before = wg.get_num_threads()
    yield wg.set_num_threads
    wg.set_num_threads(before)
